/* SPDX-License-Identifier: Apache-2.0 */
/* The functions of fake.h, for the tests. */
#include "fake.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fake/store.h"

static int registered;

static void register_all(void)
{
	pthread_condattr_t attr;

	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&fakei_changed, &attr);
	pthread_condattr_destroy(&attr);
	fakei_home = getpid();
	fakei_in_child = mmap(NULL, sizeof(*fakei_in_child),
			      PROT_READ | PROT_WRITE,
			      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (fakei_in_child == MAP_FAILED)
		abort();
	registered = fakei_register_schemes();
}

int fake_register(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, register_all);
	return registered;
}

struct fake *fake_store(const char *name)
{
	struct fake *f = fakei_stores;

	pthread_mutex_lock(&fakei_mu);
	while (f->taken && strcmp(f->name, name) != 0) {
		if (++f == fakei_stores + STORES)
			abort();
	}
	f->taken = 1;
	snprintf(f->name, sizeof(f->name), "%s", name);
	pthread_mutex_unlock(&fakei_mu);
	return f;
}

void fake_script(struct fake *f, enum fake_verb verb, struct fake_step step)
{
	pthread_mutex_lock(&fakei_mu);
	if (f->n_steps[verb] == STEPS)
		abort();
	if (step.times == 0)
		step.times = 1;
	f->step[verb][f->n_steps[verb]++] = step;
	pthread_mutex_unlock(&fakei_mu);
}

void fake_once(struct fake *f, enum fake_verb verb, enum fake_fault fault)
{
	FAKE_SCRIPT(f, verb, .fault = fault);
}

void fake_always(struct fake *f, enum fake_verb verb, enum fake_fault fault)
{
	FAKE_SCRIPT(f, verb, .fault = fault, .times = FAKE_ALWAYS);
}

void fake_clear(struct fake *f)
{
	pthread_mutex_lock(&fakei_mu);
	memset(f->n_steps, 0, sizeof(f->n_steps));
	f->gate++;
	f->cleared++;
	pthread_cond_broadcast(&fakei_changed);
	pthread_mutex_unlock(&fakei_mu);
}

void fake_open_gate(struct fake *f)
{
	pthread_mutex_lock(&fakei_mu);
	f->gate++;
	pthread_cond_broadcast(&fakei_changed);
	pthread_mutex_unlock(&fakei_mu);
}

void fake_wake_nobody(struct fake *f)
{
	pthread_mutex_lock(&fakei_mu);
	f->wakes_nobody = 1;
	pthread_mutex_unlock(&fakei_mu);
}

void fake_tell_no_wants(struct fake *f)
{
	pthread_mutex_lock(&fakei_mu);
	f->tells_no_wants = 1;
	pthread_mutex_unlock(&fakei_mu);
}

void fake_want(struct fake *f, uint64_t id)
{
	pthread_mutex_lock(&fakei_mu);
	for (struct session *s = f->sessions; s; s = s->next)
		dlk_wanted(&s->base, id);
	pthread_mutex_unlock(&fakei_mu);
}

void fake_wake(struct fake *f, uint64_t id)
{
	pthread_mutex_lock(&fakei_mu);
	for (struct session *s = f->sessions; s; s = s->next)
		dlk_wake(&s->base, id);
	pthread_mutex_unlock(&fakei_mu);
}

void fake_lose_saying(struct fake *f, uint64_t id, const char *why)
{
	pthread_mutex_lock(&fakei_mu);
	for (struct session *s = f->sessions; s; s = s->next)
		dlk_lost(&s->base, id, why);
	pthread_mutex_unlock(&fakei_mu);
}

void fake_log(struct fake *f, const char *line)
{
	pthread_mutex_lock(&fakei_mu);
	for (struct session *s = f->sessions; s; s = s->next)
		dlk_log(&s->base, 1, "%s", line);
	pthread_mutex_unlock(&fakei_mu);
}

void fake_lose(struct fake *f, uint64_t id)
{
	fake_lose_saying(f, id, "the store says so");
}

void fake_lose_all(struct fake *f)
{
	pthread_mutex_lock(&fakei_mu);
	for (struct session *s = f->sessions; s; s = s->next)
		dlk_lost_all(&s->base, "the store says so of all");
	pthread_mutex_unlock(&fakei_mu);
}

void fake_move(struct fake *f)
{
	pthread_mutex_lock(&fakei_mu);
	for (struct session *s = f->sessions; s; s = s->next)
		dlk_verify_all(&s->base);
	pthread_mutex_unlock(&fakei_mu);
}

void fake_answer(struct fake *f)
{
	pthread_mutex_lock(&fakei_mu);
	for (struct session *s = f->sessions; s; s = s->next)
		fakei_answer(s);
	pthread_mutex_unlock(&fakei_mu);
}

void fake_say_released(struct fake *f, uint64_t id, int rc)
{
	pthread_mutex_lock(&fakei_mu);
	for (struct session *s = f->sessions; s; s = s->next)
		dlk_released(&s->base, id, rc);
	pthread_mutex_unlock(&fakei_mu);
}

void fake_forget(struct fake *f)
{
	pthread_mutex_lock(&fakei_mu);
	for (size_t i = 0; i < BUCKETS; i++) {
		for (struct entry **p = &fakei_table[i]; *p;) {
			if ((*p)->fake == f)
				fakei_drop(p);
			else
				p = &(*p)->next;
		}
	}
	f->n_late = 0;
	pthread_mutex_unlock(&fakei_mu);
}

static const char stranger[] = "00000000000000000000000000000000";

void fake_occupy(struct fake *f, enum dlk_kind kind, const char *name,
		 int64_t ttl_ms)
{
	struct entry e = { .fake = f, .kind = kind, .granted = 1 };

	dlki_name_key(kind, name, e.key);
	e.mode = kind == DLK_SEMAPHORE ? DLK_SHARED : DLK_EXCLUSIVE;
	e.limit = kind == DLK_SEMAPHORE;
	memcpy(e.owner, stranger, sizeof(stranger));
	pthread_mutex_lock(&fakei_mu);
	e.until = fakei_end_of(ttl_ms);
	e.token = fakei_next_token();
	if (!fakei_append(&e, name))
		abort();
	pthread_mutex_unlock(&fakei_mu);
}

void fake_vacate(struct fake *f, enum dlk_kind kind, const char *name)
{
	char key[DLKI_KEY_SIZE];

	dlki_name_key(kind, name, key);
	pthread_mutex_lock(&fakei_mu);
	fakei_give_up(f, key, stranger);
	pthread_mutex_unlock(&fakei_mu);
}

static size_t known(struct fake *f, int granted)
{
	dlk_time now = dlk_now();
	size_t n = 0;

	pthread_mutex_lock(&fakei_mu);
	fakei_catch_up(f);
	for (size_t i = 0; i < BUCKETS; i++) {
		for (struct entry *e = fakei_table[i]; e; e = e->next)
			n += e->fake == f && e->granted == granted &&
			     e->until > now;
	}
	pthread_mutex_unlock(&fakei_mu);
	return n;
}

size_t fake_held(struct fake *f)
{
	return known(f, 1);
}

size_t fake_waiting(struct fake *f)
{
	return known(f, 0);
}

size_t fake_waiting_anywhere(void)
{
	size_t n = 0;

	for (size_t i = 0; i < STORES; i++)
		n += known(&fakei_stores[i], 0);
	return n;
}

size_t fake_count(struct fake *f, enum fake_verb verb)
{
	size_t n;

	pthread_mutex_lock(&fakei_mu);
	n = f->count[verb];
	pthread_mutex_unlock(&fakei_mu);
	return n;
}

struct fake_call fake_nth(struct fake *f, enum fake_verb verb, size_t i)
{
	struct fake_call found = { 0 };
	size_t n = f->n_calls;

	pthread_mutex_lock(&fakei_mu);
	n = f->n_calls;
	for (size_t k = n > CALLS ? n - CALLS : 0; k < n; k++) {
		const struct fake_call *c = &f->call[k % CALLS];

		if (c->verb == verb && i-- == 0) {
			found = *c;
			break;
		}
	}
	pthread_mutex_unlock(&fakei_mu);
	return found;
}

struct fake_call fake_first(struct fake *f, enum fake_verb verb, uint64_t id)
{
	struct fake_call c;
	size_t i = 0;

	do
		c = fake_nth(f, verb, i++);
	while (c.begin != 0 && c.id != id);
	return c;
}

struct fake_call fake_last(struct fake *f, enum fake_verb verb)
{
	struct fake_call found = { 0 };

	pthread_mutex_lock(&fakei_mu);
	for (size_t k = f->n_calls; k > 0 && f->n_calls - k < CALLS; k--) {
		if (f->call[(k - 1) % CALLS].verb == verb) {
			found = f->call[(k - 1) % CALLS];
			break;
		}
	}
	pthread_mutex_unlock(&fakei_mu);
	return found;
}

const char *fake_complaint(void)
{
	static char seen[sizeof(fakei_complaint)];

	pthread_mutex_lock(&fakei_mu);
	if (fakei_in_child &&
	    __atomic_load_n(fakei_in_child, __ATOMIC_RELAXED) > 0)
		fakei_complain("the backend was called in a forked child");
	memcpy(seen, fakei_complaint, sizeof(seen));
	pthread_mutex_unlock(&fakei_mu);
	return seen[0] ? seen : NULL;
}
