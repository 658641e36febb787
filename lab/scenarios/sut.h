/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Systems under test (SUT): stores by URI, private servers with a fault proxy
 * before them, foreign commands.  A kind of server is one struct in
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

/* What can be done with a server of ours.  Members may be NULL: it cannot. */
struct lab_sut_kind {
	const char *name;   /* "redis" */
	const char *scheme;
	int (*start)(struct lab_sut *s);
	/* What is not in nodes[].  NULL: nothing. */
	void (*stop)(struct lab_sut *s);
	/* After a restart: until all of it serves.  NULL: it does at once. */
	int (*wait)(struct lab_sut *s);
	/* Is it as it was started: nothing fills it, its settings are those?
	 * -1: lab_errmsg() says what is not.  NULL: nobody can tell. */
	int (*as_started)(struct lab_sut *s);
	int (*flush)(struct lab_sut *s);  /* forget everything */
	int (*fill)(struct lab_sut *s);   /* until memory is full */
	/* Things that it keeps, and how many bytes they take; -1: it does not
	 * say. */
	int64_t (*left)(struct lab_sut *s, int64_t *bytes);
	int stays;          /* of them for each name that was locked once */
	const char *what_stays;
	const char *params; /* for its URIs; NULL: none */
	/* Where granting takes its time: how many times the usual lease, and
	 * how long past its timeout a request may take.  0: as others. */
	int lease_times;
	int ask_ms;
	/* The floor: what is sent and how many bytes are answered, once at the
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
	char uri[1024];     /* "" of a foreign one */
	char proxied[1024]; /* the same through the proxies; "" without */
	char shown[256];    /* for people: no password */
	char command[1024]; /* of a foreign one */
	char server_text[80];
	char settings[160];
	struct lab_server *nodes[LAB_MOST_NODES];
	struct lab_proxy *proxies[LAB_MOST_NODES];
	size_t n_nodes;
	void *whole;        /* the kind's, where nodes make up one thing */
	/* Whose servers it is tried with: its own, those that its command
	 * names; in the order of all systems, in which they are claimed. */
	struct lab_sut *uses[LAB_MOST_USED];
	size_t n_uses;
	pthread_mutex_t claim; /* its servers are one trial's at a time */
	struct lab_process *tidy; /* removes a directory of a file: store */
	char files[512];    /* that directory, or "" */
	bool foreign;
	bool wall;          /* the clock of its server can be stepped */
	bool local;         /* excludes threads of one process only */
	char trouble[400];  /* why it cannot be tried at all; "" */
	uint32_t caps;
	int64_t ttl_ms;     /* 0: nothing expires */
};

/* The kinds there are, ending in NULL. */
extern const struct lab_sut_kind *const lab_sut_kinds[];

/* For kinds: a server alone, or NULL, and then -1; its version, as an answer of
 * it has it behind `before` and up to one of `end`. */
int lab_sut_alone(struct lab_sut *s, struct lab_server *server);
void lab_sut_version(struct lab_sut *s, const char *name, const char *answer,
		     const char *before, const char *end);

/* For kinds: is it not full?  A trial takes a fraction of the `most` bytes that
 * it may use; filled, it is not far from them.  One is < 0: it does not say.
 * 0, or -1 and lab_errmsg(). */
int lab_sut_has_room(const struct lab_sut *s, int64_t used, int64_t most);

/* Start the servers of s->kind and the proxies before them, and fill in the
 * rest. */
int lab_sut_start(struct lab_sut *s);
void lab_sut_stop(struct lab_sut *s);

/* `s` is tried with the servers of `other`, too. */
int lab_sut_use(struct lab_sut *s, struct lab_sut *other);

/* No other trial has to do with the servers that it uses, from the one to the
 * other. */
void lab_sut_claim(struct lab_sut *s);
void lab_sut_disclaim(struct lab_sut *s);

/*
 * Undo what earlier trials did, however they ended: what it uses runs, on
 * time, through proxies without faults, and is as it was started.  What is not
 * is started again, without its data.  -1: it cannot be had, and lab_errmsg()
 * says why.
 */
int lab_sut_reset(struct lab_sut *s);

/* To all nodes. */
int lab_sut_kill(struct lab_sut *s);
int lab_sut_restart(struct lab_sut *s);
int lab_sut_pause(struct lab_sut *s);
int lab_sut_resume(struct lab_sut *s);
int lab_sut_step_wall(struct lab_sut *s, int64_t ms);

/* Is there room on the disk that holds `dir`?  -1: lab_errmsg(). */
int lab_room(const char *dir);

/* The median of bare round trips to the first node in microseconds; < 0: it
 * cannot be had. */
double lab_sut_floor_us(struct lab_sut *s);

#endif
