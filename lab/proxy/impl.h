/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The proxy's structures.  Internal to lab/proxy/.
 *
 * `lock` protects all state.  The proxy's thread holds the lock except in
 * poll(2); other threads take the lock, change faults, and wake the thread.
 */
#ifndef DLOCK_LAB_PROXY_IMPL_H
#define DLOCK_LAB_PROXY_IMPL_H

#include "lab/proxy/proxy.h"

#include <pthread.h>
#include <sys/types.h>

#define LAB_MATCH 64

struct lab_chunk {
	struct lab_chunk *next;
	int64_t due; /* LAB_FOREVER: held */
	size_t len;
	size_t sent;
	char data[];
};

/* One direction of a connection, read from fd[way] and written to fd[!way]. */
struct lab_stream {
	struct lab_chunk *head;
	struct lab_chunk **tail;
	size_t queued;
	int64_t next_byte; /* dripping: not before */
	int64_t passed;    /* bytes since a cut was asked for */
	bool ended;        /* no more to read */
	bool over;         /* lets no more in: the receiver is told after the
			    * rest has gone */
	bool broken;       /* ... by RST, of the whole connection */
	bool shut;         /* the receiver was told */
};

struct lab_link {
	struct lab_link *next;
	int fd[2]; /* the client's, the server's */
	struct lab_stream stream[2];
	bool dialing;
	int64_t redial;  /* if not 0, the server is to be tried again then */
	int64_t give_up; /* ... but not after this */
	bool swallow;   /* the server's next chunk */
	bool stranded;
	int64_t linger; /* if not 0, being closed: reads are thrown away, until
			 * then; LAB_FOREVER: not all were told yet */
	bool dead;      /* to be freed by the loop */
	int slot[2];    /* in the poll set, -1: not there */
};

struct lab_fault {
	int64_t delay_ns;
	int64_t drip_ns;
	int64_t cut; /* or -1 */
	bool hole;
};

struct lab_once { /* swallow or hold, while armed */
	bool armed;
	char match[LAB_MATCH]; /* "": any */
};

struct lab_proxy {
	pthread_mutex_t lock;
	pthread_cond_t counted; /* signalled after each turn of the loop */
	pthread_t thread;
	bool stop;      /* the loop should end */
	bool over;      /* ... and has ended */
	uint64_t turns; /* of the loop */
	int wake;       /* eventfd */
	int listener;
	int reserved; /* keeps a TCP port ours while connections are refused */
	int port;
	struct lab_address to;
	int64_t patience_ms;
	struct lab_fault fault[2];
	struct lab_once swallow;
	enum lab_then then;
	struct lab_once hold;
	struct lab_link *links;
	uint64_t stats[LAB_PROXY_NSTATS];
};

/* state.c; unlocking waits until the loop has seen the change. */
void lab_proxy_lock(struct lab_proxy *p);
void lab_proxy_unlock(struct lab_proxy *p);
int lab_proxy_listen(struct lab_proxy *p);

/* link.c; all with the lock held.  Links are never freed but by the
 * loop, which sees `dead`. */
void lab_link_new(struct lab_proxy *p, int client);
void lab_link_free(struct lab_proxy *p, struct lab_link *l);
void lab_link_reset(struct lab_proxy *p, struct lab_link *l);
void lab_link_dialed(struct lab_proxy *p, struct lab_link *l);
void lab_link_redial(struct lab_proxy *p, struct lab_link *l);
void lab_link_read(struct lab_proxy *p, struct lab_link *l, enum lab_way way);
void lab_link_flush(struct lab_proxy *p, struct lab_link *l, enum lab_way way);
/* Whether to read this side; and when to write to it (LAB_FOREVER: not before
 * another event). */
bool lab_link_wants(const struct lab_proxy *p, const struct lab_link *l,
		    enum lab_way way);
int64_t lab_link_due(const struct lab_proxy *p, const struct lab_link *l,
		     enum lab_way way);

/* loop.c */
void *lab_proxy_loop(void *proxy);

#endif
