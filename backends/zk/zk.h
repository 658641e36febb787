/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Locks in ZooKeeper.  A request is an ephemeral sequential node
 *
 *     <chroot>/<prefix>/<key>/<owner>-<x|s><limit>-<sequence>
 *
 * and those of one key, in order of their sequence, are the lock's line.
 *
 * The hub is what a client has in the store: one ZooKeeper session, another
 * after it has expired, and the thread that makes it.  It outlives the client's
 * session where closing takes longer than it may.
 *
 * Locking: hub->mu guards all that a hub owns.  It is held while requests are
 * sent, which does not block, and while the core's services are called but for
 * the log; never while handles are made or closed, since that waits for
 * callbacks that take it.  What callers of the functions below hold is said
 * there.
 */
#ifndef DLOCK_BACKENDS_ZK_ZK_H
#define DLOCK_BACKENDS_ZK_ZK_H

#include <dlock/backend.h>
#include <pthread.h>
#include <zookeeper/zookeeper.h>

#define ZK_MS INT64_C(1000000)
#define ZK_NODE_SIZE 64  /* owner, mode, limit, sequence, NUL */
#define ZK_ROOT_MAX 255  /* the chroot */
#define ZK_PATH_SIZE 512 /* any path of ours */
#define ZK_LAST_SEQUENCE INT32_MAX /* sequences stick there */
#define ZK_KEY_SIZE 65   /* a claim's key, NUL */
#define ZK_NEWS 8        /* lines kept for the log */
#define ZK_ALONE 128     /* locks that a hub remembers */

struct zk_session {
	struct dlk_session base;
	struct zk_hub *hub;
};

struct zk_ticket {
	struct dlk_ticket base;
	char node[ZK_NODE_SIZE]; /* ours, "" while it is not known */
	int64_t czxid;
	uint64_t life;           /* the hub's, when we asked for the node */
	int asked;               /* a node may be there that we do not know */
	int granted;             /* and no release was asked for since */
	int missing;             /* our node was gone when we came for it */
	struct zk_watcher *own;  /* for the going of our node; or NULL */
	struct zk_watcher *ahead; /* for the going of those in the way */
	struct zk_watcher *sole; /* of these, the only one ahead; or NULL */
};

/* ---- The session: hub.c, link.c, news.c ---------------------------------- */

enum zk_state { ZK_DOWN, ZK_UP, ZK_EXPIRED, ZK_DENIED };

/* A handle of the client library, and its session. */
struct zk_link {
	struct zk_hub *hub;
	zhandle_t *zh;
	enum zk_state state;
	int64_t id;             /* the session's */
	int64_t timeout_ms;     /* as negotiated */
	dlk_time down_at;       /* when it was disconnected */
	uint64_t life;          /* which session of the hub this is, from 1 */
	struct zk_call *calls;  /* not yet answered */
};

/* A line in which we were alone. */
struct zk_alone {
	char key[ZK_KEY_SIZE];  /* "": none */
	char left;              /* our node in it has been deleted */
	char trusted;           /* nobody came between our last two nodes */
	int32_t sequence;       /* of our last node */
	int64_t czxid;          /* ... likewise */
	uint64_t connects;      /* the hub's, when it was made */
};

/* A line for the log. */
struct zk_news {
	int level;
	char text[280];
};

struct zk_hub {
	pthread_mutex_t mu;
	pthread_cond_t changed; /* for those who wait for a state */
	pthread_cond_t work;    /* for the hub's thread */
	pthread_t thread;
	int refs;
	struct dlk_session *session; /* NULL: closed, no more services */
	struct zk_link *link;   /* NULL: there is none */
	struct zk_flight *flights; /* not used, to be used again */
	uint64_t lives;
	uint64_t connects;      /* rises with each connection, and session */
	dlk_time proved;        /* when the last write that this session had
				 * answered was sent; 0: none was */
	void *watches;          /* tsearch(3) by path */
	struct zk_watcher *all; /* every watcher */
	struct zk_watcher *young, **young_end; /* own ones, not set yet */
	struct zk_debris *debris; /* nodes that are to be deleted */
	dlk_time sweep_at;
	struct zk_news news[ZK_NEWS];
	size_t n_news;
	uint64_t untold;        /* that found no room there */
	int telling;            /* the thread does, with the hub open */
	int napping;            /* the thread looks at these by itself */
	int came;               /* one was added since it began to nap */
	struct zk_alone alone[ZK_ALONE]; /* by key */
	int stop, closed;
	char *hosts;
	char *auth;             /* "user:password" or NULL */
	int ask_ms;
	char base[ZK_ROOT_MAX + 80]; /* chroot and prefix */
	char root[ZK_ROOT_MAX + 1];  /* chroot, "" for none */
};

/* Start a hub for `s` and wait until its session stands. */
int dlki_zk_hub_open(struct zk_hub **out, struct dlk_session *s,
		     dlk_time deadline, struct dlk_error *err);
void dlki_zk_hub_close(struct zk_hub *h, dlk_time deadline);

/* Lock the hub and wait for a session that is connected.  After a failure the
 * hub is not locked. */
int dlki_zk_enter(struct zk_hub *h, dlk_time deadline, struct dlk_error *err);
void dlki_zk_leave(struct zk_hub *h);

/* Make a handle: NULL if the library cannot, `err` says why.  Close one and
 * answer whatever it left unanswered.  The hub is not locked. */
struct zk_link *dlki_zk_link_open(struct zk_hub *h, struct dlk_error *err);
void dlki_zk_link_close(struct zk_link *l);
/* With the hub locked: no hold of this session stands any more. */
void dlki_zk_link_over(struct zk_link *l, enum zk_state state, const char *why);

/* With the hub locked: have a line logged by the hub's thread, in case the sink
 * waits for who is about to enter.  A burst is cut short. */
void dlki_zk_news(struct zk_hub *h, int level, const char *fmt, ...)
	DLOCK_PRINTF(3, 4);
/* With the hub locked, which is given up meanwhile.  0: there was nothing. */
int dlki_zk_news_tell(struct zk_hub *h);
/* With the hub locked: the core's session is not used from here on.  Waits,
 * however long, for a line that is being told. */
void dlki_zk_news_end(struct zk_hub *h);

/* Sleep until `until`, with the hub locked.  0: it has come. */
int dlki_zk_sleep(pthread_cond_t *cond, struct zk_hub *h, dlk_time until);
void dlki_zk_cond_init(pthread_cond_t *cond);

/* Descriptors of the client library are left open over exec: those that appear
 * between the two calls and are pipes are closed there, and so are sockets
 * connected to `peer`. */
struct zk_fds {
	uint64_t *pipes; /* that were there */
	size_t n, room;
	int failed;
};
/* -1: out of memory, and there is nothing to end. */
int dlki_zk_fds_before(struct zk_fds *fds);
void dlki_zk_fds_pipes(struct zk_fds *before);
void dlki_zk_fds_sockets(const struct sockaddr *peer, socklen_t len);

/* ---- Requests: call.c ---------------------------------------------------- */

/*
 * One request.  Its results are there once `done` is set; a reply that comes
 * when nobody waits any more is thrown away.
 */
struct zk_call {
	struct zk_link *link;
	struct zk_call *next, **prev; /* in link->calls */
	struct zk_flight *flight;     /* who waits for it, or NULL */
	void (*then)(struct zk_hub *h, struct zk_call *call); /* or NULL */
	int refs;
	int done;
	int rc;                 /* the client library's; as long as !done,
				 * ZOPERATIONTIMEOUT */
	int nomem;              /* for what it answered */
	int write;
	dlk_time sent;
	struct Stat stat;
	char **names;           /* children */
	size_t n;
	char *data;             /* ended by a NUL; may be NULL */
	zoo_op_t op;
	zoo_op_result_t result;
	char node[ZK_NODE_SIZE]; /* what was made */
	char path[ZK_PATH_SIZE];
};

/* Send a request, with the hub locked and a link there.  NULL: out of memory;
 * one that could not be sent is done already.  Each is to be dropped. */
struct zk_call *dlki_zk_create(struct zk_hub *h, const char *path,
			       const char *data, int flags);
struct zk_call *dlki_zk_delete(struct zk_hub *h, const char *path);
struct zk_call *dlki_zk_get(struct zk_hub *h, const char *path);
struct zk_call *dlki_zk_children(struct zk_hub *h, const char *path);
struct zk_call *dlki_zk_sync(struct zk_hub *h, const char *path);
/* A write that changes nothing: answered, it proves that the session stands. */
struct zk_call *dlki_zk_proof(struct zk_hub *h);
/* What the answer to it says: 0, the session stands. */
int dlki_zk_proven(const struct zk_call *proof, struct dlk_error *err);
/* Get, and leave a watch if there is such a node; `then` as in the struct.  0,
 * ENOMEM, EUNREACHABLE. */
int dlki_zk_watch_path(struct zk_hub *h, const char *path,
		       void (*then)(struct zk_hub *h, struct zk_call *call));
void dlki_zk_unwatch_path(struct zk_hub *h, const char *path);
/* Only the client library forgets the watch: there is no connection. */
void dlki_zk_forget_path(struct zk_hub *h, const char *path);

/* Give up what is known of them; NULLs are skipped. */
void dlki_zk_drop(struct zk_call *const calls[], size_t n);

/* Nobody will answer it: with the hub locked. */
void dlki_zk_abandon(struct zk_hub *h, struct zk_call *call);

/* What a call came to, in the core's words; 0 for ZOK.  NULL is ENOMEM. */
int dlki_zk_reason_of(const struct zk_call *call, const char *what,
		      struct dlk_error *err);

static inline int dlki_zk_reason(const struct zk_call *call, const char *what,
				 struct dlk_error *err)
{
	if (!call)
		return dlk_fail(err, DLOCK_ENOMEM, "out of memory");
	return dlki_zk_reason_of(call, what, err);
}

/* ---- Who waits for requests: flight.c ------------------------------------ */

/* Of one thread that waits.  They are used again and again, and live as long as
 * the hub: who signals one has unlocked the hub before, since who is woken will
 * lock it, so that it may be another thread's by then. */
struct zk_flight {
	struct zk_flight *next; /* in hub->flights, while it is not used */
	pthread_cond_t landed;
	size_t left;
};

/* Wait until all are done, or `deadline`; with the hub locked, which is given
 * up meanwhile.  NULLs are skipped. */
void dlki_zk_wait(struct zk_hub *h, struct zk_call *const calls[], size_t n,
		  dlk_time deadline);
void dlki_zk_flights_free(struct zk_hub *h);

/* ---- Watches: watch.c, with the hub locked ------------------------------- */

enum zk_fired { ZK_NOT_FIRED, ZK_CHANGED, ZK_GONE };

/* A ticket's interest in a node. */
struct zk_watcher {
	struct zk_watcher *all_next, **all_prev; /* in hub->all */
	struct zk_watcher *next, **prev; /* of the same watch, or young */
	struct zk_watch *watch;          /* NULL: not set, or fired */
	struct zk_watcher *more;         /* of the same ticket */
	enum zk_fired fired;
	uint64_t connects;               /* the hub's, when it fired */
	int own;
	dlk_time due;                    /* of a young one */
	uint64_t id;
	char path[];
};

/* Wake ticket `id` when the node at `path` goes. */
struct zk_watcher *dlki_zk_watch(struct zk_hub *h, uint64_t id,
				 const char *path, struct dlk_error *err);
/* Declare ticket `id` lost when its node goes.  Looked for a little later, by
 * the hub's thread: most holds are given up before.  NULL: out of memory. */
struct zk_watcher *dlki_zk_guard(struct zk_hub *h, uint64_t id,
				 const char *path);
/* The same for who waits, at once: it will ask again. */
struct zk_watcher *dlki_zk_guard_now(struct zk_hub *h, uint64_t id,
				     const char *path);
/* Is the watch set, and was the node there ever since? */
int dlki_zk_guarded(const struct zk_watcher *w);
/* NULL is a no-op. */
void dlki_zk_unwatch(struct zk_hub *h, struct zk_watcher *w);
/* All of a ticket's that stand for others' nodes. */
void dlki_zk_unwatch_ahead(struct zk_hub *h, struct zk_ticket *t);

/* Set what is due.  Returns when to look again. */
dlk_time dlki_zk_guard_young(struct zk_hub *h);
/* Has somebody an interest in the node? */
int dlki_zk_watched(struct zk_hub *h, const char *path);
/* The connection has gone; it is there again. */
void dlki_zk_watches_down(struct zk_hub *h);
void dlki_zk_watches_up(struct zk_hub *h);
/* The session is over, and with it every watch. */
void dlki_zk_watches_over(struct zk_hub *h);
void dlki_zk_watches_free(struct zk_hub *h);
void dlki_zk_on_watch(zhandle_t *zh, int type, int state, const char *path,
		      void *hub);

/* ---- What is left behind: debris.c, with the hub locked ------------------ */

/* The ticket's release failed; it succeeded after all. */
void dlki_zk_debris_add(struct zk_hub *h, const struct zk_ticket *t);
void dlki_zk_debris_gone(struct zk_hub *h, const char *owner);
/* Delete some of it, if that is due.  Returns when to go on. */
dlk_time dlki_zk_debris_sweep(struct zk_hub *h);
void dlki_zk_debris_free(struct zk_hub *h);

/* ---- The line: line.c ---------------------------------------------------- */

struct zk_party {
	const char *node; /* of the call's names */
	int32_t sequence;
	int64_t czxid;    /* 0: not known */
	struct dlk_place place;
};

struct zk_line {
	struct zk_party *v; /* in order */
	struct dlk_place *places;
	size_t n;
};

/* Take a node's name apart.  0: it is none of ours.  Negative numbers, which
 * come behind the last one, count as that. */
int dlki_zk_parse(const char *node, struct zk_party *out);

/* The parties among a call's children, in order; the call must outlive them.
 * With the hub locked: where sequences are used up, more must be asked. */
int dlki_zk_line(struct zk_hub *h, struct zk_line *out, const char *dir,
		 const struct zk_call *children, dlk_time deadline,
		 struct dlk_error *err);
void dlki_zk_line_free(struct zk_line *line);

/* The lock's directory; a node in it. */
void dlki_zk_dir(const struct zk_hub *h, const struct dlk_claim *claim,
		 char out[ZK_PATH_SIZE]);
void dlki_zk_path(char out[ZK_PATH_SIZE], const char *dir, const char *node);

/* ---- Alone in the line: alone.c, with the hub locked --------------------- */

/* Nobody else is expected, so that the line need not be asked for. */
int dlki_zk_alone_likely(struct zk_hub *h, const char *key);
/* The ticket's node has been made.  1: for certain nobody else is there. */
int dlki_zk_alone_still(struct zk_hub *h, const struct zk_ticket *t);
/* A listing on this connection showed nobody else; the ticket's node has been
 * deleted. */
void dlki_zk_alone_seen(struct zk_hub *h, const struct zk_ticket *t);
void dlki_zk_alone_left(struct zk_hub *h, const struct zk_ticket *t);

/* ---- The verbs ----------------------------------------------------------- */

/* With the hub locked: find the ticket's node by its owner, after a reply was
 * lost.  0: t->node is set, or "" for certain. */
int dlki_zk_recover(struct zk_hub *h, struct zk_ticket *t, const char *dir,
		    dlk_time deadline, struct dlk_error *err);

/* With the hub locked: delete the ticket's node, wherever it is. */
int dlki_zk_give_up(struct zk_hub *h, struct zk_ticket *t, dlk_time deadline,
		    struct dlk_error *err);

enum dlk_verdict dlki_zk_attempt(struct dlk_ticket *t, dlk_time deadline,
				 struct dlk_error *err);
int dlki_zk_release(struct dlk_ticket *t, dlk_time deadline,
		    struct dlk_error *err);
void dlki_zk_renew(struct dlk_session *s, struct dlk_ticket *const t[],
		   enum dlk_lease verdict[], size_t n, dlk_time deadline,
		   struct dlk_error *err);
int dlki_zk_inspect(struct dlk_session *s, const struct dlk_claim *claim,
		    void (*each)(const struct dlock_party *p, void *arg),
		    void *arg, dlk_time deadline, struct dlk_error *err);
int dlki_zk_list(struct dlk_session *s,
		 void (*each)(const struct dlock_entry *e, void *arg),
		 void *arg, dlk_time deadline, struct dlk_error *err);
int dlki_zk_break(struct dlk_session *s, const struct dlk_claim *claim,
		  dlk_time deadline, struct dlk_error *err);

#endif
