/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The scheduler of a simulated process.  The threads are threads of the system,
 * but a single thread runs at a time, picked by chance.
 *
 * A thread may hand over where the thread locks, unlocks, waits, signals or
 * ends: the linker leads these calls here (wraps.c).  The clock all but stands
 * while a thread is ready to run.  If all threads wait, the clock jumps to the
 * earliest end of a wait.  So a run of a seed repeats, and a wait without the
 * signal shows as virtual time.
 */
#ifndef DLOCK_SIM_PROCESS_SCHED_H
#define DLOCK_SIM_PROCESS_SCHED_H

#include <poll.h>
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/base/chance.h"

#define SIM_FOREVER INT64_MAX
#define SIM_MS INT64_C(1000000)

/* Reasons to wait. */
enum sim_wait { SIM_READY, SIM_MUTEX, SIM_COND, SIM_SLEEP, SIM_POLL, SIM_JOIN };

struct sim_sched_weather {
	uint64_t switch_rate;   /* hand over in 1 of so many calls */
	uint64_t stall_rate;    /* stall in 1 of so many calls; 0: never */
	uint64_t stop_rate;     /* ... or only the thread; 0: never */
	int64_t stall_ns;       /* at most */
	int64_t stop_ns;        /* of a thread, at most */
	uint64_t spurious_rate; /* wake a waiter without a signal; 0: never */
};

/* Make the caller the only thread of the process. */
void sim_sched_begin(struct sim_chance *chance,
		     const struct sim_sched_weather *weather);

/* Go on in another weather. */
void sim_sched_weather(const struct sim_sched_weather *weather);

/* Is the caller a thread of the process? */
int sim_sched_is_on(void);

/* Return the nanoseconds since the process began, and the sum of stalls, also
 * of single threads. */
int64_t sim_sched_now(void);
int64_t sim_sched_stalled(void);

/* Count the threads before their end. */
size_t sim_sched_threads(void);

/* Return, and change, the hash of the run. */
uint64_t sim_sched_hash(void);
void sim_sched_mix(uint64_t value);

/* ---- For the wraps ------------------------------------------------------- */

/* Hand over, or stall, if chance says so. */
void sim_sched_point(const char *site);

/* Wait until sim_sched_wake() or `until`: 0, or ETIMEDOUT. */
int sim_sched_wait(enum sim_wait what, const void *on, int64_t until);

/* Wait until a descriptor is ready, or `until`. */
void sim_sched_poll(struct pollfd *fds, size_t n, int64_t until);

/* End the waits for `on`, of `most` threads at most. */
void sim_sched_wake(enum sim_wait what, const void *on, size_t most);

/* Look at the descriptors again: another may be ready. */
void sim_sched_look(void);

/* Return the time, and move the clock on a little: a thread may read the clock
 * until the clock shows another time. */
int64_t sim_sched_tick(void);

/* Have `fd`, an eventfd, be readable at `at`; SIM_FOREVER: no longer. */
void sim_sched_alarm(int fd, int64_t at);

/* The descriptor is about to be closed: an alarm of it is gone. */
void sim_sched_closed(int fd);

int sim_sched_create(pthread_t *out, void *(*run)(void *), void *arg);
int sim_sched_join(pthread_t thread, void **result);

uint64_t sim_sched_random(void);

/* Print an event, if the run is traced. */
void sim_sched_trace(int on);
__attribute__((format(printf, 1, 2))) void sim_sched_tell(const char *format,
							  ...);

/* Report a flaw, and end the process with code 1. */
__attribute__((format(printf, 1, 2), noreturn)) void sim_sched_fail(
	const char *format, ...);

#endif
