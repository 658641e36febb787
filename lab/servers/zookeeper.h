/* SPDX-License-Identifier: Apache-2.0 */
/* Private ZooKeeper servers: see server.h.  Ensembles: ensemble.h. */
#ifndef DLOCK_LAB_ZOOKEEPER_H
#define DLOCK_LAB_ZOOKEEPER_H

#include "lab/servers/server.h"

/* Zeroed: a server by itself, a tick of 100 ms, sessions of 200 ms to 60 s,
 * writes not synced to the disk. */
struct lab_zk_options {
	int tick_ms;
	int min_session_ms, max_session_ms;
	bool sync;          /* each write to the disk before it is answered */
	const char *config; /* more lines of zoo.cfg */
	const char *java;   /* another argument of the JVM, "-Dname=value" */
	int max_session_of_first_ms; /* of an ensemble's first node */
	/* The rest is for lab/servers/ensemble.c. */
	int id;             /* the node's number, from 1; 0: by itself */
};

/*
 * Start a server.  NULL: all zeroes.  Pointers in the options must live until
 * the server is freed.  A node of an ensemble counts as started when it
 * answers, other servers when they serve.
 */
struct lab_server *lab_zk_start(const struct lab_zk_options *options);

/*
 * Send a four-letter word ("srvr", "wchs") and read the answer, in at most two
 * seconds.
 */
int lab_zk_word(struct lab_server *s, const char *word, char *reply,
		size_t size);

/* The number behind "name:", or a tab, in the answer to a word; or -1. */
int64_t lab_zk_number(struct lab_server *s, const char *word, const char *name);

/* Return "standalone", "leader", "follower"; "" if the server does not
 * serve. */
const char *lab_zk_mode(struct lab_server *s);

#endif
