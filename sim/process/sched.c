/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/process/sched.h"

#include <errno.h>
#include <stdio.h>
#include <sys/eventfd.h>

#include "sim/process/clock.h"
#include "sim/process/real.h"

enum { THREADS = 1024, ALARMS = 8 };

/* A run of this length has stuck threads. */
#define LONGEST (INT64_C(3600) * 1000 * SIM_MS)

/* A thread that makes more calls in a millisecond spins. */
enum { BUSIEST = 10000 };

struct thread {
	pthread_t real;
	pthread_cond_t turn;
	enum sim_wait wait;
	const void *on;
	struct pollfd *fds;
	size_t n_fds;
	int64_t until;
	int timed_out, ended;
	int64_t ms; /* the latest, and the calls since */
	int calls;
	void *(*run)(void *arg);
	void *arg;
};

static struct {
	pthread_mutex_t mu; /* orders the handing over only */
	struct thread threads[THREADS], *v[THREADS];
	size_t n;
	struct thread *runs;
	struct {
		int fd;
		int64_t at;
	} alarms[ALARMS];
	size_t n_alarms;
	int look;
	int64_t stalled;
	uint64_t hash;
	struct sim_chance *chance;
	struct sim_sched_weather weather;
} s = { .mu = PTHREAD_MUTEX_INITIALIZER };

static _Thread_local struct thread *me;

/* ---- Time ---------------------------------------------------------------- */

static void ring(void)
{
	for (size_t i = 0; i < s.n_alarms; i++) {
		if (s.alarms[i].at > sim_sched_now())
			continue;
		s.alarms[i].at = SIM_FOREVER;
		real_eventfd_write(s.alarms[i].fd, 1);
		s.look = 1;
	}
	for (size_t i = 0; i < s.n; i++) {
		struct thread *t = s.v[i];

		if (t->wait == SIM_READY || t->ended ||
		    t->until > sim_sched_now())
			continue;
		t->wait = SIM_READY;
		t->timed_out = 1;
	}
}

static int64_t next_end(void)
{
	int64_t at = SIM_FOREVER;

	for (size_t i = 0; i < s.n_alarms; i++) {
		if (s.alarms[i].at < at)
			at = s.alarms[i].at;
	}
	for (size_t i = 0; i < s.n; i++) {
		if (!s.v[i]->ended && s.v[i]->until < at)
			at = s.v[i]->until;
	}
	return at;
}

static const char *const wait_names[] = { "ready", "mutex", "cond",
					  "sleep", "poll",  "join" };

static void all_wait(const char *what)
{
	for (size_t i = 0; i < s.n; i++) {
		if (!s.v[i]->ended)
			fprintf(stderr, "thread %zu: %s %p\n", i,
				wait_names[s.v[i]->wait], s.v[i]->on);
	}
	sim_sched_fail("%s", what);
}

static void jump(void)
{
	int64_t at = next_end();

	if (at == SIM_FOREVER)
		all_wait("deadlock: all threads wait, and for no time");
	if (at > LONGEST)
		all_wait("the process does not come to an end");
	if (at > sim_sched_now())
		sim_clock_set(at);
}

/* ---- Whose turn it is ---------------------------------------------------- */

static void look(void)
{
	if (!s.look)
		return;
	s.look = 0;
	for (size_t i = 0; i < s.n; i++) {
		struct thread *t = s.v[i];

		if (!t->ended && t->wait == SIM_POLL &&
		    real_poll(t->fds, t->n_fds, 0) > 0)
			t->wait = SIM_READY;
	}
}

static struct thread *choose(void)
{
	struct thread *ready[THREADS];
	size_t n = 0, pick;

	for (;;) {
		ring();
		look();
		for (size_t i = 0; i < s.n; i++) {
			if (!s.v[i]->ended && s.v[i]->wait == SIM_READY)
				ready[n++] = s.v[i];
		}
		if (n > 0)
			break;
		jump();
	}
	pick = n == 1 ? 0 : (size_t)sim_draw(s.chance, "thread", n);
	sim_sched_mix(pick * THREADS + n);
	return ready[pick];
}

/* The thread that runs hands over, and runs again when it is chosen. */
static void hand_over(void)
{
	struct thread *next = choose(), *mine = me;

	if (next == mine)
		return;
	real_mutex_lock(&s.mu);
	s.runs = next;
	real_cond_signal(&next->turn);
	while (s.runs != mine && !mine->ended)
		real_cond_wait(&mine->turn, &s.mu);
	real_mutex_unlock(&s.mu);
}

/* The thread that runs does not for a while, and others do.  A call that begins
 * meanwhile is excused as well. */
static void stop(void)
{
	int64_t ns = 1 + (int64_t)sim_draw(s.chance, "stopped",
					   (uint64_t)s.weather.stop_ns);

	s.stalled += ns;
	sim_sched_wait(SIM_SLEEP, NULL, sim_sched_now() + ns);
	s.stalled += ns;
}

static void count_call(void)
{
	int64_t ms = sim_sched_now() / SIM_MS;

	me->calls = ms == me->ms ? me->calls + 1 : 0;
	me->ms = ms;
	if (me->calls > BUSIEST)
		sim_sched_fail("a thread spins");
}

void sim_sched_point(const char *site)
{
	count_call();
	if (sim_happens(s.chance, "stall", s.weather.stall_rate)) {
		int64_t ns = 1 +
			     (int64_t)sim_draw(s.chance, "stalled",
					       (uint64_t)s.weather.stall_ns);

		sim_clock_set(sim_sched_now() + ns);
		s.stalled += ns;
	}
	if (sim_happens(s.chance, "stop", s.weather.stop_rate))
		stop();
	else if (s.weather.switch_rate <= 1 ||
		 sim_happens(s.chance, site, s.weather.switch_rate))
		hand_over();
}

int sim_sched_wait(enum sim_wait what, const void *on, int64_t until)
{
	me->on = on;
	me->until = until;
	me->timed_out = 0;
	me->wait = what;
	if (until <= sim_sched_now()) {
		me->wait = SIM_READY;
		me->timed_out = 1;
	} else if (what == SIM_COND &&
		   sim_happens(s.chance, "spurious", s.weather.spurious_rate)) {
		me->wait = SIM_READY;
	}
	hand_over();
	me->until = SIM_FOREVER;
	return me->timed_out ? ETIMEDOUT : 0;
}

void sim_sched_poll(struct pollfd *fds, size_t n, int64_t until)
{
	me->fds = fds;
	me->n_fds = n;
	s.look = 1;
	sim_sched_wait(SIM_POLL, NULL, until);
}

void sim_sched_wake(enum sim_wait what, const void *on, size_t most)
{
	struct thread *found[THREADS];
	size_t n = 0;

	for (size_t i = 0; i < s.n; i++) {
		if (!s.v[i]->ended && s.v[i]->wait == what && s.v[i]->on == on)
			found[n++] = s.v[i];
	}
	for (; n > 0 && most > 0; most--) {
		size_t pick = n <= most ?
				      n - 1 :
				      (size_t)sim_draw(s.chance, "woken", n);

		found[pick]->wait = SIM_READY;
		found[pick] = found[--n];
	}
}

void sim_sched_look(void)
{
	s.look = 1;
}

void sim_sched_alarm(int fd, int64_t at)
{
	size_t i = 0;

	while (i < s.n_alarms && s.alarms[i].fd != fd)
		i++;
	if (i == ALARMS)
		sim_sched_fail("more than %d timers", ALARMS);
	s.n_alarms += i == s.n_alarms;
	s.alarms[i].fd = fd;
	s.alarms[i].at = at;
}

void sim_sched_closed(int fd)
{
	s.look = 1;
	for (size_t i = 0; i < s.n_alarms; i++) {
		if (s.alarms[i].fd == fd) {
			s.alarms[i] = s.alarms[--s.n_alarms];
			return;
		}
	}
}

/* ---- Threads ------------------------------------------------------------- */

static struct thread *add(void)
{
	struct thread *t;

	if (s.n == THREADS)
		sim_sched_fail("more than %d threads", THREADS);
	t = &s.threads[s.n];
	*t = (struct thread){ .until = SIM_FOREVER };
	pthread_cond_init(&t->turn, NULL);
	s.v[s.n++] = t;
	return t;
}

static void *run_thread(void *arg)
{
	struct thread *t = arg, *next;
	void *result;

	real_mutex_lock(&s.mu);
	while (s.runs != t)
		real_cond_wait(&t->turn, &s.mu);
	real_mutex_unlock(&s.mu);
	me = t;
	result = t->run(t->arg);
	me = NULL;
	t->ended = 1;
	sim_sched_wake(SIM_JOIN, t, SIZE_MAX);
	next = choose();
	real_mutex_lock(&s.mu);
	s.runs = next;
	real_cond_signal(&next->turn);
	real_mutex_unlock(&s.mu);
	return result;
}

int sim_sched_create(pthread_t *out, void *(*run)(void *), void *arg)
{
	struct thread *t = add();
	int rc;

	t->run = run;
	t->arg = arg;
	rc = real_create(&t->real, NULL, run_thread, t);
	if (rc != 0)
		sim_sched_fail("no thread: error %d", rc);
	*out = t->real;
	sim_sched_point("create");
	return 0;
}

int sim_sched_join(pthread_t thread, void **result)
{
	for (size_t i = s.n; i-- > 0;) {
		struct thread *t = s.v[i];

		if (t == s.v[0] || !pthread_equal(t->real, thread))
			continue;
		while (!t->ended)
			sim_sched_wait(SIM_JOIN, t, SIM_FOREVER);
		break;
	}
	return real_join(thread, result);
}

void sim_sched_begin(struct sim_chance *chance,
		     const struct sim_sched_weather *weather)
{
	s.chance = chance;
	s.weather = *weather;
	me = s.runs = add();
}

void sim_sched_weather(const struct sim_sched_weather *weather)
{
	s.weather = *weather;
}

int sim_sched_is_on(void)
{
	return me != NULL;
}

int64_t sim_sched_stalled(void)
{
	return s.stalled;
}

size_t sim_sched_threads(void)
{
	size_t n = 0;

	for (size_t i = 0; i < s.n; i++)
		n += !s.v[i]->ended;
	return n;
}

uint64_t sim_sched_hash(void)
{
	return s.hash;
}

uint64_t sim_sched_random(void)
{
	return sim_next(s.chance);
}

void sim_sched_mix(uint64_t value)
{
	s.hash = (s.hash ^ value) * UINT64_C(0x100000001b3);
	s.hash ^= s.hash >> 29;
}
