/* SPDX-License-Identifier: Apache-2.0 */
#include "lab/servers/server.h"
#include "lab/base/clock.h"
#include "lab/base/fail.h"
#include "lab/servers/wall.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define READY_MS 10000
#define STOP_MS 3000
#define PROBE_MS 500
#define PORTS 5 /* how many are tried */

static _Atomic(const atomic_bool *) stop_waiting;

void lab_server_stop_waiting(const atomic_bool *stop)
{
	atomic_store(&stop_waiting, stop);
}

bool lab_server_waits(void)
{
	const atomic_bool *stop = atomic_load(&stop_waiting);

	return !stop || !atomic_load(stop);
}

static int make_server_dir(struct lab_server *s)
{
	const char *tmp = getenv("TMPDIR");
	int n;

	n = snprintf(s->dir, sizeof(s->dir), "%s/dlock-lab.XXXXXX",
		     tmp && *tmp ? tmp : "/tmp");
	if (n < 0 || (size_t)n >= sizeof(s->dir))
		return lab_fail("TMPDIR is too long: %s", tmp);
	s->process = lab_process_new(s->dir);
	if (!s->process)
		return -1;
	snprintf(s->log, sizeof(s->log), "%s/" LAB_LOG, s->dir);
	return 0;
}

/* Ended, and if so how. */
static bool has_ended(struct lab_server *s, int *status)
{
	return lab_process_reap(s->process, 0, status) == 0;
}

/* 1: the server serves; 0: not yet; -1: it has ended. */
static int serves(void *arg)
{
	struct lab_server *s = arg;
	int status;

	if (!lab_server_waits())
		return lab_fail("interrupted");
	if (has_ended(s, &status))
		return lab_fail("%s ended at once, status 0x%x", s->kind->name,
				(unsigned)status);
	return s->kind->probe(s, lab_after_ms(PROBE_MS));
}

static int spawn_server(struct lab_server *s)
{
	const char *shim = s->wall_ns ? lab_wall_shim() : NULL;
	struct lab_args *args = calloc(1, sizeof(*args));
	int rc;

	if (!args)
		return lab_fail("out of memory");
	if (shim) {
		lab_arg(args, "env");
		lab_arg(args, LAB_WALL_VARIABLE "=%s/" LAB_WALL_FILE, s->dir);
		lab_arg(args, "LD_PRELOAD=%s", shim);
	}
	rc = s->kind->command(s, args);
	if (!rc)
		rc = lab_process_spawn(s->process, args);
	free(args);
	return rc;
}

/* Start the process, on the server's port. */
static int start_process(struct lab_server *s)
{
	int64_t ready_ms = s->kind->ready_ms ? s->kind->ready_ms : READY_MS;
	int answer;

	if (spawn_server(s) < 0)
		return -1;
	s->starts++;
	answer = lab_wait_until(lab_after_ms(ready_ms), serves, s);
	if (answer > 0)
		return 0;
	if (answer == 0) {
		lab_server_kill(s);
		lab_fail("%s does not answer after %" PRId64 " ms",
			 s->kind->name, ready_ms);
	}
	lab_fail_tail(s->log);
	return -1;
}

static void drop_port(struct lab_server *s)
{
	if (s->reserved >= 0)
		close(s->reserved);
	s->reserved = -1;
	s->port = 0;
}

/* The port is reserved on the loopback address alone: a process that binds the
 * same port on all addresses can be in the way. */
static int start_on_free_port(struct lab_server *s)
{
	for (int i = 1;; i++) {
		s->port = lab_reserve_port(&s->reserved);
		if (s->port < 0)
			return -1;
		if (start_process(s) == 0)
			return 0;
		if (i == PORTS || !strcasestr(lab_errmsg(), "in use"))
			return -1;
		drop_port(s);
	}
}

static int bring_up_server(struct lab_server *s, bool wall)
{
	if (make_server_dir(s) < 0)
		return -1;
	if (wall) {
		s->wall_ns = lab_wall_shim() ? lab_wall_map(s->dir) : NULL;
		if (!s->wall_ns)
			return -1;
	}
	return start_on_free_port(s);
}

struct lab_server *lab_server_start(const struct lab_server_kind *kind,
				    const void *options, size_t size, bool wall)
{
	struct lab_server *s = calloc(1, sizeof(*s));

	if (s)
		s->options = calloc(1, size + 1);
	if (!s || !s->options) {
		lab_fail("out of memory");
		free(s);
		return NULL;
	}
	if (options)
		memcpy(s->options, options, size);
	s->kind = kind;
	s->reserved = -1;
	if (bring_up_server(s, wall) < 0) {
		lab_server_free(s);
		return NULL;
	}
	return s;
}

struct lab_address lab_server_address(const struct lab_server *s)
{
	return (struct lab_address){ s->port };
}

static int end_process(struct lab_server *s, int sig, int64_t ms)
{
	int status;

	if (lab_process_signal(s->process, sig) < 0)
		return has_ended(s, &status) ? 0 : -1;
	/* A paused process does not see SIGTERM. */
	if (sig != SIGKILL)
		lab_process_signal(s->process, SIGCONT);
	return lab_process_reap(s->process, lab_after_ms(ms), &status);
}

int lab_server_kill(struct lab_server *s)
{
	return end_process(s, SIGKILL, STOP_MS);
}

int lab_server_stop(struct lab_server *s)
{
	return end_process(s, SIGTERM, STOP_MS) == 0 ? 0 : lab_server_kill(s);
}

int lab_server_restart(struct lab_server *s, bool keep_data)
{
	if (lab_server_stop(s) < 0)
		return -1;
	if (!keep_data && s->kind->wipe && s->kind->wipe(s) < 0)
		return -1;
	return start_process(s);
}

int lab_server_pause(struct lab_server *s)
{
	return lab_process_signal(s->process, 0) < 0 ?
		       -1 :
		       lab_pause(lab_process_pid(s->process));
}

int lab_server_resume(struct lab_server *s)
{
	return lab_process_signal(s->process, 0) < 0 ?
		       -1 :
		       lab_resume(lab_process_pid(s->process));
}

bool lab_server_alive(struct lab_server *s)
{
	int status;

	return !has_ended(s, &status);
}

pid_t lab_server_pid(const struct lab_server *s)
{
	return lab_process_pid(s->process);
}

static void set_wall(struct lab_server *s, int which, int64_t to)
{
	__atomic_store_n(&s->wall_ns[which], to, __ATOMIC_SEQ_CST);
}

int lab_server_step_wall(struct lab_server *s, int64_t ms)
{
	if (!s->wall_ns)
		return lab_fail("%s was not started with a clock to step",
				s->kind->name);
	set_wall(s, LAB_WALL_LEFT, 0);
	set_wall(s, LAB_WALL_SHIFT, ms * LAB_MS);
	return 0;
}

int lab_server_step_wall_at(struct lab_server *s, int64_t n, int64_t ms)
{
	if (!s->wall_ns)
		return lab_server_step_wall(s, ms);
	set_wall(s, LAB_WALL_THEN, ms * LAB_MS);
	set_wall(s, LAB_WALL_LEFT, n);
	return 0;
}

void lab_server_free(struct lab_server *s)
{
	if (!s)
		return;
	lab_process_free(s->process);
	drop_port(s);
	lab_wall_unmap(s->wall_ns);
	free(s->options);
	free(s);
}
