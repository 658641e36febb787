/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Subjects of a comparison: stores by URI, private servers with a fault proxy
 * before them, foreign commands.  A kind of server is one struct in
 * lab/subjects.c.
 */
#ifndef DLOCK_LAB_SUBJECT_H
#define DLOCK_LAB_SUBJECT_H

#include "lab/proxy.h"
#include "lab/server.h"

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LAB_MOST_NODES 3
#define LAB_MOST_USED 4

struct lab_subject;

/* What can be done with a server of ours.  Members may be NULL: it cannot. */
struct lab_subject_kind {
	const char *name;   /* "redis" */
	const char *scheme;
	int (*start)(struct lab_subject *s);
	/* What is not in nodes[].  NULL: nothing. */
	void (*stop)(struct lab_subject *s);
	/* After a restart: until all of it serves.  NULL: it does at once. */
	int (*wait)(struct lab_subject *s);
	/* Is it as it was started: nothing fills it, its settings are those?
	 * -1: lab_errmsg() says what is not.  NULL: nobody can tell. */
	int (*settled)(struct lab_subject *s);
	int (*flush)(struct lab_subject *s);  /* forget everything */
	int (*fill)(struct lab_subject *s);   /* until memory is full */
	/* Things that it keeps, and how many bytes they take; -1: it does not
	 * say. */
	int64_t (*left)(struct lab_subject *s, int64_t *bytes);
	int stays;          /* of them for each name that was locked once */
	const char *what_stays;
	/* Where granting takes its time: how many times the usual lease, and
	 * how long past its timeout a request may take.  0: as others. */
	int lease_times;
	int ask_ms;
	int rounding_ms;    /* a lease may last so much longer in the server */
	/* The floor: what is sent and how many bytes are answered, once at the
	 * beginning of a connection and then for each round trip. */
	struct lab_exchange {
		const char *send;
		size_t len;
		size_t reply;
	} hello, ping;
};

struct lab_subject {
	const struct lab_subject_kind *kind; /* NULL: no server of ours */
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
	 * names; in the order of all subjects, in which they are claimed. */
	struct lab_subject *uses[LAB_MOST_USED];
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
extern const struct lab_subject_kind *const lab_subject_kinds[];

/* Start the servers of s->kind and the proxies before them, and fill in the
 * rest. */
int lab_subject_start(struct lab_subject *s);
void lab_subject_stop(struct lab_subject *s);

/* `s` is tried with the servers of `other`, too. */
int lab_subject_use(struct lab_subject *s, struct lab_subject *other);

/* No other trial has to do with the servers that it uses, from the one to the
 * other. */
void lab_subject_claim(struct lab_subject *s);
void lab_subject_disclaim(struct lab_subject *s);

/*
 * Whatever trials before did, and however they ended: what it uses runs, on
 * time, through proxies without faults, and is as it was started.  What is not
 * is started again, without its data.  -1: it cannot be had, and lab_errmsg()
 * says why.
 */
int lab_subject_settle(struct lab_subject *s);

/* To all nodes. */
int lab_subject_kill(struct lab_subject *s);
int lab_subject_restart(struct lab_subject *s);
int lab_subject_pause(struct lab_subject *s);
int lab_subject_resume(struct lab_subject *s);
int lab_subject_step_wall(struct lab_subject *s, int64_t ms);

/* Is there room on the disk that holds `dir`?  -1: lab_errmsg(). */
int lab_room(const char *dir);

/* The median of bare round trips to the first node in microseconds; < 0: it
 * cannot be had. */
double lab_subject_floor_us(struct lab_subject *s);

#endif
