/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Systems under test (SUT): stores by URI, private servers with a fault proxy
 * before them, foreign commands.  A kind of server is a struct in
 * lab/scenarios/suts.c.
 */
#ifndef DLOCK_LAB_SUT_H
#define DLOCK_LAB_SUT_H

#include "lab/proxy/proxy.h"
#include "lab/servers/server.h"

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LAB_MOST_NODES 3
#define LAB_MOST_USED 4

struct lab_sut;

/* The faults and questions for a private server.  NULL: not possible. */
struct lab_sut_kind {
	const char *name;   /* "redis" */
	const char *scheme;
	int (*start)(struct lab_sut *s);
	/* Stop servers outside of nodes[].  NULL: there are none. */
	void (*stop)(struct lab_sut *s);
	/* Wait until all nodes serve, after a restart.  NULL: they serve at
	 * once. */
	int (*wait)(struct lab_sut *s);
	/* Whether the server is as at the start: not full, with the same
	 * settings.  -1: lab_errmsg() says why not.  NULL: cannot be told. */
	int (*as_started)(struct lab_sut *s);
	int (*flush)(struct lab_sut *s);  /* forget everything */
	int (*fill)(struct lab_sut *s);   /* until memory is full */
	/* Count the server's entries and their bytes; -1: unknown. */
	int64_t (*left)(struct lab_sut *s, int64_t *bytes);
	int stays;          /* entries that stay for each name ever locked */
	const char *what_stays;
	const char *params; /* for the kind's URIs; or NULL */
	/* Where a grant takes time: how many times the usual lease, and how
	 * long past the timeout a request may take.  0: as others. */
	int lease_times;
	int ask_ms;
	/* The floor: the bytes to send and the length of the answer, at the
	 * beginning of a connection and then for each round trip. */
	struct lab_exchange {
		const char *send;
		size_t len;
		size_t reply;
	} hello, ping;
};

struct lab_sut {
	const struct lab_sut_kind *kind; /* NULL: no server of ours */
	char name[40];
	char uri[1024];     /* "" of a foreign lock */
	char proxied[1024]; /* the same through the proxies, or "" */
	char shown[256];    /* for people: no password */
	char command[1024]; /* of a foreign lock */
	char server_text[80];
	char settings[160];
	struct lab_server *nodes[LAB_MOST_NODES];
	struct lab_proxy *proxies[LAB_MOST_NODES];
	size_t n_nodes;
	void *whole;        /* the kind's, for nodes that form a whole */
	/* The systems with servers for this system's trials: this system
	 * itself, and those named in the command; in the order of all systems,
	 * in which trials claim them. */
	struct lab_sut *uses[LAB_MOST_USED];
	size_t n_uses;
	pthread_mutex_t claim; /* one trial at a time has the servers */
	struct lab_process *tidy; /* removes a directory of a file: store */
	char files[512];    /* the directory, or "" */
	bool foreign;
	bool wall;          /* the server's clock can be stepped */
	bool local;         /* excludes threads of one process only */
	char trouble[400];  /* why no trial is possible, or "" */
	uint32_t caps;
	int64_t ttl_ms;     /* 0: no leases */
};

/* The kinds there are, ending in NULL. */
extern const struct lab_sut_kind *const lab_sut_kinds[];

/* For kinds: make `server` the only node, -1 if it is NULL; fill in the
 * version, which stands in `answer` behind `before` and up to a byte of
 * `end`. */
int lab_sut_alone(struct lab_sut *s, struct lab_server *server);
void lab_sut_version(struct lab_sut *s, const char *name, const char *answer,
		     const char *before, const char *end);

/* For kinds: check that the server is not full.  A trial takes a fraction of
 * the `most` bytes; a filled server is not far from them.  A number < 0 is
 * unknown.  0, or -1 and lab_errmsg(). */
int lab_sut_has_room(const struct lab_sut *s, int64_t used, int64_t most);

/* Start the servers of s->kind and the proxies before them, and fill in the
 * rest. */
int lab_sut_start(struct lab_sut *s);
void lab_sut_stop(struct lab_sut *s);

/* `s` is tried with the servers of `other`, too. */
int lab_sut_use(struct lab_sut *s, struct lab_sut *other);

/* Keep other trials from the servers that `s` uses, from claim to disclaim. */
void lab_sut_claim(struct lab_sut *s);
void lab_sut_disclaim(struct lab_sut *s);

/*
 * Undo the effects of earlier trials, however they ended: the servers in use
 * run, on time, through proxies without faults, and as at the start.  A server
 * that does not is started again, without data.  -1: the system cannot be had,
 * and lab_errmsg() says why.
 */
int lab_sut_reset(struct lab_sut *s);

/* To all nodes. */
int lab_sut_kill(struct lab_sut *s);
int lab_sut_restart(struct lab_sut *s);
int lab_sut_pause(struct lab_sut *s);
int lab_sut_resume(struct lab_sut *s);
int lab_sut_step_wall(struct lab_sut *s, int64_t ms);

/* Whether the disk of `dir` has room.  -1: lab_errmsg(). */
int lab_room(const char *dir);

/* Return the median of bare round trips to the first node in microseconds; < 0:
 * cannot be measured. */
double lab_sut_floor_us(struct lab_sut *s);

#endif
