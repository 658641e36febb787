/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Chaos: processes that use locks of a store as programs would, while the
 * store, the way to it, and the processes themselves are broken at random.
 * Everything is written down (lab/history/history.h) and judged afterwards.
 *
 * The controller is this program's first process.  Its main thread does all
 * that is declared here; workers are this program again, see worker.h.
 *
 * Faults are dealt in lanes that know little of each other, so that a fault of
 * each can be there at the same time.  Each lane has a seed of its own, and so
 * the same schedule again for the same --seed, give or take what the machine's
 * pace changes.
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
 * them is drawn, in percent of the ttl; if there is a `middle`, it is called
 * then, and as much time again comes before the end.  `begin` draws its random
 * numbers from c->random.
 */
struct chaos_fault {
	const char *name;
	enum chaos_lane lane;
	int weight; /* cards in the deck of its lane */
	int min_pc;
	int max_pc;
	int (*begin)(struct chaos *c);
	int (*middle)(struct chaos *c);
	int (*end)(struct chaos *c);
	/* The store forgets what it acknowledged: from the beginning to the
	 * end, which say so by chaos_wipe_begin() and chaos_wipe_end(). */
	bool wipes;
};

/* A row of a table of faults; what else it has follows, as .begin = ...  The
 * last row has no name. */
#define CHAOS_FAULT(its_name, its_lane, cards, min, max, ...)                  \
	{                                                                      \
		.name = its_name, .lane = its_lane, .weight = cards,           \
		.min_pc = min, .max_pc = max, __VA_ARGS__                      \
	}
#define CHAOS_NO_FAULT { .name = NULL }

/* A store, and how to run and break it.  One file each. */
struct chaos_store {
	const char *name;
	bool one_process;  /* it is not shared between processes */
	bool leases;       /* holds have a ttl, and can be lost */
	bool over_tls;
	int64_t ttl_step_ms; /* the store rounds it up to these; 0: as it is */
	const char *match; /* what a request has in it, for the proxy */
	bool in_order;     /* requests of several claims share a connection, and
			    * only their order tells the answers apart: no hole
			    * may be in the stream, and TCP makes none */
	int try_asks;      /* a try may take so many ask times; 0: one */
	int64_t ttl_ms;    /* unless told otherwise; 0: as others */
	int64_t ask_ms;    /* the same */

	/* Start what is needed, and set c->uri[], each with `query` added. */
	int (*start)(struct chaos *c, const char *query);
	/* Free what is not c->server or in c->proxies[].  NULL: nothing. */
	void (*stop)(struct chaos *c);

	/* How many things of ours are in the store; < 0: lab_fail(). */
	int64_t (*left)(struct chaos *c);

	/* Tables of faults, in the order in which they are dealt from. */
	const struct chaos_fault *faults[CHAOS_TABLES];
};

extern const struct chaos_store chaos_redis, chaos_memcached;
extern const struct chaos_store chaos_rediss; /* with CHAOS_TLS */
extern const struct chaos_store chaos_file, chaos_mem, chaos_zk, chaos_zk3;

struct chaos_options {
	const struct chaos_store *store;
	int64_t seconds;
	uint64_t seed;
	int processes;
	int threads;
	int64_t ttl_ms;
	int64_t ask_ms;
	int64_t slack_ms;
	int seldom;        /* see struct chaos_job */
	const char *query; /* more parameters for the URI, or "" */
	const char *keep;  /* or NULL */
	const char *only;  /* names of faults, or NULL for all */
	bool verbose;
	enum chaos_mix { /* what the workers use */
		CHAOS_MIX_DEFAULT,
		CHAOS_MIX_LOCKS,
		CHAOS_MIX_ALL
	} mix;
};

struct chaos_victim { /* a worker, as the controller sees it */
	pid_t pid;   /* 0: none */
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
	int64_t next;                  /* something begins, or ends */
	int64_t half;  /* from the middle to the end; 0: it is over */
	int64_t since; /* when the last one ended */
	int64_t quiet_until; /* nothing begins before */
	bool asked;    /* whether to wait, of the card on top */
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
	struct lab_proxy *proxy;     /* the one that is the net lane's victim */
	struct chaos_random *random; /* the lane's whose fault begins */
	void *store; /* the store's own */
	struct chaos_deck deck[CHAOS_LANES];
	struct chaos_victim victims[CHAOS_WORKERS];
	struct chaos_victim *target; /* of the victims lane's fault */
	int64_t begun;
	int64_t stall_ns; /* the longest this process was kept waiting */
	int64_t wiping;   /* when the wipe that is under way began */
	bool surely;      /* ... and can be found in time */
	int64_t wall_ms;  /* the server's clock is off by this */
	dlock_client *client; /* of a mix, straight to the store */
	uint32_t caps;        /* of the store */
	struct chaos_breaker breaker;
	bool worker_failed; /* it ended by itself, or not with 0 */
	int64_t leftover;
	char left[80]; /* the key of one of them, if the store tells */
};

/* schedule.c: deal faults until `until`; then end those that last. */
void chaos_schedule_init(struct chaos *c);
int chaos_schedule_run(struct chaos *c, int64_t until);
int chaos_schedule_end(struct chaos *c);

/* proxies.c: start a proxy to each of `n` servers, and set c->uri[]: through
 * them, and directly. */
int chaos_start_proxies(struct chaos *c, const char *scheme,
			struct lab_server *const server[], int n,
			const char *query);

/* wipe.c: between these two the store forgets what it holds. */
void chaos_wipe_begin(struct chaos *c);
void chaos_wipe_end(struct chaos *c, bool surely);

/* mixed.c: the controller's part of a mix. */
int chaos_mix_start(struct chaos *c);
void chaos_mix_turn(struct chaos *c);
void chaos_mix_end(struct chaos *c);
/* A worker's argument for the mix, and the URI of worker `number`. */
const char *chaos_mix_word(const struct chaos *c);
void chaos_mix_uri(const struct chaos *c, int number, char *out, size_t size);
/* Count the features of the store that no worker has used. */
int chaos_mix_unused(const struct chaos *c);
/* Print how often each feature was used. */
void chaos_mix_print(const struct chaos *c);

/* victims.c */
int chaos_victim_start(struct chaos *c, struct chaos_victim *v);
int chaos_victims_watch(struct chaos *c); /* note those that have ended */
int chaos_victims_end(struct chaos *c);   /* let all finish */
void chaos_victims_kill(struct chaos *c);
extern const struct chaos_fault chaos_pauses[], chaos_process_faults[];

/* net.c: faults of the proxy; server.c: faults of any lab_server. */
extern const struct chaos_fault chaos_net_faults[], chaos_server_pauses[],
	chaos_server_kill[], chaos_server_empty[];

/* verdict.c: has so much happened that a verdict says something? */
bool chaos_enough(const struct chaos *c);
/* Judge and print.  True if all is well. */
bool chaos_verdict(struct chaos *c);

/* deadline.c: calls that took longer than they may, printed; -1: lab_fail(). */
int64_t chaos_overruns(struct chaos *c, int64_t *longest_ns);

/* say.c: what happens, if that was asked for. */
__attribute__((format(printf, 2, 3))) void chaos_say(const struct chaos *c,
						     const char *format, ...);

#endif
