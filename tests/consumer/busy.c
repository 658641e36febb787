/* SPDX-License-Identifier: Apache-2.0 */
/*
 * busy MODULE FILE - while another connection writes to the FILE of the SQLite
 * store in MODULE, a waiter can be cancelled, and the process can fork.
 */
#include <dlock/backend.h>
#include <pthread.h>
#include <sched.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#define WAIT_MS 60000 /* of the store, for a request */

static void must(int ok, const char *what)
{
	if (ok)
		return;
	fprintf(stderr, "busy: %s: %s\n", what, dlock_errmsg());
	exit(1);
}

static void *wait_for(void *lock)
{
	dlock_hold *hold;
	int rc = dlock_acquire(lock, DLOCK_FOREVER, &hold);

	must(rc == DLOCK_ECANCELED, dlock_errname(rc));
	return NULL;
}

/* Wait until the thread asks the store. */
static void await_asking(dlock_client *client)
{
	struct dlock_stats stats = { .size = sizeof(stats) };
	dlk_time until = dlk_now() + WAIT_MS * DLK_MS;

	while (stats.asked == 0) {
		must(dlk_now() < until, "asking");
		must(dlock_get_stats(client, &stats) == 0, "stats");
		sched_yield();
	}
}

int main(int argc, char **argv)
{
	char uri[4096];
	dlock_client *client;
	dlock_lock *lock;
	pthread_t thread;
	sqlite3 *other;
	dlk_time begun;
	pid_t pid;

	must(argc == 3 && dlock_backend_load(argv[1]) == 0, "load");
	snprintf(uri, sizeof(uri), "sqlite://%s?connect=%dms&close=%dms",
		 argv[2], WAIT_MS, WAIT_MS);
	must(dlock_open(&client, uri, NULL) == 0, "open");
	must(dlock_mutex_new(&lock, client, "a") == 0, "mutex");
	must(sqlite3_open(argv[2], &other) == SQLITE_OK &&
		     sqlite3_exec(other, "BEGIN IMMEDIATE", NULL, NULL, NULL) ==
			     SQLITE_OK,
	     "another connection");
	must(pthread_create(&thread, NULL, wait_for, lock) == 0, "thread");
	await_asking(client);
	begun = dlk_now();
	pid = fork();
	if (pid == 0)
		_exit(0);
	must(waitpid(pid, NULL, 0) == pid, "fork");
	dlock_cancel(lock);
	must(pthread_join(thread, NULL) == 0, "join");
	must(dlk_now() - begun < WAIT_MS / 4 * DLK_MS, "in time");
	sqlite3_close(other);
	dlock_lock_free(lock);
	dlock_close(client);
	return 0;
}
