/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Chaos: processes use locks of a store as programs would, while the store, the
 * network and the processes fail at random.  All operations go to a history
 * (lab/history/history.h), which is judged afterwards.
 *
 * The controller is this program's first process.  The main thread calls all
 * functions of this header; workers are this program again, see worker.h.
 *
 * Faults are dealt in lanes that know little of each other, so faults of
 * several lanes can meet.  Each lane has another seed, which follows from
 * --seed: the schedule is the same again, but for the machine's pace.
 */
#ifndef DLOCK_CHAOS_CHAOS_H
#define DLOCK_CHAOS_CHAOS_H

#include <limits.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "chaos/breaker.h"
#include "chaos/random.h"
#include "chaos/worker.h"
#include "lab/history/check.h"
#include "lab/history/history.h"
#include "lab/proxy/proxy.h"
#include "lab/servers/server.h"

#define CHAOS_WORKERS 32
#define CHAOS_PROXIES 3
#define CHAOS_TABLES 8  /* of faults, of a store */
#define CHAOS_FAULTS 32 /* of a lane */
#define CHAOS_DECK 96   /* weights of a lane, in all */

enum chaos_lane {
	CHAOS_NET,    /* between the workers and the store */
	CHAOS_SERVER, /* the store itself */
	CHAOS_VICTIMS,   /* the workers */
	CHAOS_LINKS,  /* between the servers of the store */
	CHAOS_LANES
};

struct chaos;

/*
 * A fault.  `begin` and `end` answer 0, or -1 after lab_fail(), which ends the
 * run: the lab is broken, not the store.  `end` may be NULL.  The time between
 * them is drawn, in percent of the ttl; `middle`, if not NULL, is called after
 * this time, and as much time again comes before the end.  `begin` draws random
 * numbers from c->random.
 */
struct chaos_fault {
	const char *name;
	enum chaos_lane lane;
	int weight; /* cards in the lane's deck */
	int min_pc;
	int max_pc;
	int (*begin)(struct chaos *c);
	int (*middle)(struct chaos *c);
	int (*end)(struct chaos *c);
};

/* A row of a table of faults; other members follow, as .begin = ...  The last
 * row has no name. */
#define CHAOS_FAULT(its_name, its_lane, cards, min, max, ...)                  \
	{                                                                      \
		.name = its_name, .lane = its_lane, .weight = cards,           \
		.min_pc = min, .max_pc = max, __VA_ARGS__                      \
	}
#define CHAOS_NO_FAULT { .name = NULL }

/* A store, and how to run and break it.  A file each. */
struct chaos_store {
	const char *name;
	bool leases;       /* holds have a ttl, and can be lost */
	const char *match; /* in each request, for the proxy */
	int try_asks;      /* the most ask times of a try; 0: 1 */
	int64_t ttl_ms;    /* 0: as others */
	int64_t ask_ms;    /* the same */

	/* Start the servers, and set c->uri[], each with `query` added. */
	int (*start)(struct chaos *c, const char *query);
	/* Free all but c->server and c->proxies[].  May be NULL. */
	void (*stop)(struct chaos *c);

	/* Count dlock's keys in the store; < 0: lab_fail(). */
	int64_t (*left)(struct chaos *c);

	/* Tables of faults, in the order in which they are dealt from. */
	const struct chaos_fault *faults[CHAOS_TABLES];
};

extern const struct chaos_store chaos_file, chaos_zk, chaos_zk3;

struct chaos_options {
	const struct chaos_store *store;
	int64_t seconds;
	uint64_t seed;
	int processes;
	int threads;
	int64_t ttl_ms;
	int64_t ask_ms;
	int64_t slack_ms;
	const char *keep; /* or NULL */
	bool verbose;
	enum chaos_mix { /* the uses of the workers */
		CHAOS_MIX_DEFAULT,
		CHAOS_MIX_LOCKS,
		CHAOS_MIX_ALL
	} mix;
};

struct chaos_victim { /* a worker, as the controller sees it */
	pid_t pid;   /* 0: no process */
	int stop_fd; /* the worker goes on while this is open */
	int number;
	int lives;
	bool paused;
};

struct chaos_deck { /* the state of a lane */
	struct chaos_random random;
	const struct chaos_fault *faults[CHAOS_FAULTS];
	size_t nfaults;
	uint64_t dealt[CHAOS_FAULTS]; /* how often each was */
	uint8_t cards[CHAOS_DECK];
	size_t ncards;
	size_t top;
	const struct chaos_fault *now; /* NULL: all is quiet */
	int64_t next;                  /* the next begin or end */
	int64_t half;  /* from the middle to the end; 0: it is over */
	int64_t quiet_until; /* no fault begins before */
};

struct chaos {
	struct chaos_options o;
	char dir[PATH_MAX]; /* of histories and resources */
	struct lab_history *history;
	struct chaos_counters *counters;
	char uri[2][320]; /* through the proxy; directly */
	struct lab_server *server;
	struct lab_proxy *proxies[CHAOS_PROXIES];
	int nproxies;
	struct lab_proxy *proxy;     /* the net lane's victim */
	struct chaos_random *random; /* of the lane with the fault */
	void *store; /* the store's own */
	struct chaos_deck deck[CHAOS_LANES];
	struct chaos_victim victims[CHAOS_WORKERS];
	struct chaos_victim *target; /* of the victims lane's fault */
	int64_t begun;
	int64_t stall_ns; /* the longest this process was kept waiting */
	dlock_client *client; /* of a mix, straight to the store */
	uint32_t caps;        /* of the store */
	struct chaos_breaker breaker;
	bool worker_failed; /* it ended by itself, or not with 0 */
	int64_t leftover;
	char left[80]; /* a key, if the store tells */
};

/* schedule.c: deal faults until `until`; then end the present faults. */
void chaos_schedule_init(struct chaos *c);
int chaos_schedule_run(struct chaos *c, int64_t until);
int chaos_schedule_end(struct chaos *c);

/* proxies.c: start a proxy to each of `n` servers, and set c->uri[]: through
 * them, and directly. */
int chaos_start_proxies(struct chaos *c, const char *scheme,
			struct lab_server *const server[], int n,
			const char *query);

/* mixed.c: the controller's part of a mix. */
int chaos_mix_start(struct chaos *c);
void chaos_mix_turn(struct chaos *c);
void chaos_mix_end(struct chaos *c);
/* A worker's argument for the mix, and the URI of worker `number`. */
const char *chaos_mix_word(const struct chaos *c);
void chaos_mix_uri(const struct chaos *c, int number, char *out, size_t size);
/* Count the store's features without a use. */
int chaos_mix_unused(const struct chaos *c);
/* Print how often each feature was used. */
void chaos_mix_print(const struct chaos *c);

/* victims.c */
int chaos_victim_start(struct chaos *c, struct chaos_victim *v);
int chaos_victims_watch(struct chaos *c); /* note ended workers */
int chaos_victims_end(struct chaos *c);   /* let all finish */
void chaos_victims_kill(struct chaos *c);
extern const struct chaos_fault chaos_process_faults[];

/* net.c: faults of the proxy; server.c: faults of any lab_server. */
extern const struct chaos_fault chaos_net_faults[], chaos_server_pauses[],
	chaos_server_kill[];

/* verdict.c: have there been enough operations for a verdict? */
bool chaos_enough(const struct chaos *c);
/* Judge and print.  True if all is well. */
bool chaos_verdict(struct chaos *c);

/* deadline.c: print and count overdue calls; -1: lab_fail(). */
int64_t chaos_overruns(struct chaos *c, int64_t *longest_ns);

/* say.c: print events, with --verbose. */
__attribute__((format(printf, 2, 3))) void chaos_say(const struct chaos *c,
						     const char *format, ...);

#endif
