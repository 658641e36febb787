/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The process of a case: set up, run, clean up, and check for leftovers.
 */
#include <dlock/backend.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "conform/cases.h"
#include "conform/worker.h"

static struct conform the_case;

static void *nothing(void *arg)
{
	return arg;
}

/* A sanitizer may start a thread together with the first thread. */
static void start_sanitizer_threads(void)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, nothing, NULL) == 0)
		pthread_join(thread, NULL);
}

static const char *environment(const char *variable)
{
	const char *text = getenv(variable);

	if (!text)
		FAIL("$%s is not set", variable);
	return text;
}

static void begin_case(struct conform *t, const struct conform_case *c)
{
	const char *uri = environment("CONFORM_URI");
	char params[64];

	/* The name shows the case; the prefix makes the name unique. */
	snprintf(t->name, sizeof(t->name), "conform/%s", c->name);
	snprintf(params, sizeof(params), "prefix=t%ld-%llx", (long)getpid(),
		 (unsigned long long)now_ms());
	t->uri = uri_with(uri, params);
	releases_are_as_in(t->uri);
	t->dir = environment("CONFORM_DIR");
	t->local = strncmp(uri, "mem:", 4) == 0;
	start_sanitizer_threads();
	census_take(&t->before);
	t->client = another_client(t, NULL, NULL);
	t->caps = dlock_caps(t->client);
	t->ttl_ms = dlock_ttl_ms(t->client);
}

static void skip_unless(const struct conform *t, uint32_t needs)
{
	char why[64];

	for (uint32_t bit = 1; bit; bit <<= 1) {
		if (!(needs & ~t->caps & bit))
			continue;
		snprintf(why, sizeof(why), "the store does not promise %s",
			 dlock_cap_name(bit));
		check_skip(why);
	}
}

static void end_case(struct conform *t)
{
	leave_all(t);
	while (t->n_locks > 0)
		dlock_lock_free(t->locks[--t->n_locks]);
	while (t->n_clients > 0)
		close_face(t->clients[--t->n_clients]);
	if (t->arena)
		arena_unmap(t->arena);
	census_same(&t->before);
	free((char *)(uintptr_t)t->uri);
}

static int run_case(const char *name)
{
	struct conform *t = &the_case;

	for (size_t i = 0; i < n_conform_cases; i++) {
		const struct conform_case *c = &conform_cases[i];

		if (strcmp(c->name, name) != 0)
			continue;
		if (face_excepts(name))
			check_skip(face_excepts(name));
		begin_case(t, c);
		skip_unless(t, c->needs);
		c->run(t);
		end_case(t);
		return 0;
	}
	FAIL("there is no case %s", name);
}

/* Load the shared objects of $DLOCK_TEST_BACKENDS, separated by ':'. */
static int load_backends(void)
{
	const char *at = getenv("DLOCK_TEST_BACKENDS");

	while (at && *at) {
		size_t n = strcspn(at, ":");
		char file[PATH_MAX];

		snprintf(file, sizeof(file), "%.*s", (int)n, at);
		if (dlock_backend_load(file) != DLOCK_OK) {
			fprintf(stderr, "%s\n", dlock_errmsg());
			return 2;
		}
		at += n + (at[n] == ':');
	}
	return 0;
}

int conform_main(int argc, char *argv[])
{
	if (load_backends() != 0)
		return 2;
	if (argc == 3 && strcmp(argv[1], "--case") == 0)
		return run_case(argv[2]);
	if (argc == 6 && strcmp(argv[1], "--worker") == 0)
		return worker_main(argv);
	return -1;
}
