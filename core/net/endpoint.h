/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The server of a client: where the server is, and which server it is.
 *
 * A lock on a server is no lock on another, so all connections of a client must
 * lead to the same server.  An address does not show that.  The identity does:
 * a text that no other server has, nor the same server after a restart.  A
 * server without an identity is known by the address.
 *
 * The first server found is the client's home.  The client looks for home where
 * home was last, then at the addresses that the name has now.  If only another
 * server answers, there was a fail-over: home is the other server from then on,
 * and a new epoch begins.
 *
 * All addresses of a name must lead to the same server before the server
 * becomes home.  So each address is tried: a survey.  Two servers are refused.
 * While an address does not answer or refuses connections, no server becomes
 * home, as other clients may reach another server there.  A name like localhost
 * is the exception, ::1 and 127.0.0.1: an address that refuses there does not
 * count.  An address to which this host has no route is left out, with a
 * warning.
 *
 * Pure: the endpoint says where the main link connects next, and is told how
 * that went.  The owner locks.
 */
#ifndef DLOCK_CORE_NET_ENDPOINT_H
#define DLOCK_CORE_NET_ENDPOINT_H

#include <dlock/backend.h>

#include "core/net/address.h"
#include "core/net/resolver.h"

enum { DLKI_IDENTITY = 128 }; /* with its NUL */

/* The server at the other end of a connection. */
struct dlki_met {
	struct dlki_address at;
	char identity[DLKI_IDENTITY]; /* "": not told */
	int refused_by; /* errno of the connect() that failed; 0 */
	int is_judged;  /* dlki_endpoint_met() has seen it */
	uint64_t epoch; /* of a link that is up */
};

enum dlki_phase {
	DLKI_AT_HOME, /* connect where home was last */
	DLKI_NAMED,   /* have the name looked up ... */
	DLKI_LOOKING, /* ... by now */
	DLKI_SURVEY,  /* connect to each address in turn */
	DLKI_CHOSEN,  /* connect to the server of all addresses */
	DLKI_OVER     /* in vain: begin anew after a pause */
};

struct dlki_endpoint {
	/* Constant. */
	const char *told_by; /* see struct dlki_protocol */
	char *host;          /* to be looked up; NULL: `list` is constant */
	uint16_t port;
	char who[DLKI_ADDRESS_TEXT]; /* for messages */

	struct dlki_address list[DLKI_ADDRESSES]; /* of the last look-up */
	size_t n;
	enum dlki_phase phase;
	char home[DLKI_IDENTITY]; /* "": no home yet */
	struct dlki_address home_at;
	int left;            /* home was left: see dlki_endpoint_leave() */
	uint64_t epoch;      /* how many fail-overs there were */
	struct dlk_error why; /* OVER */
	char warning[448];   /* for the owner to tell and to clear */

	/* Of a survey. */
	size_t at;           /* in `list` */
	struct dlki_met met; /* the first that answered, if is_judged */
	char other[DLKI_ADDRESS_TEXT];    /* where another server is, or "" */
	char silent[DLKI_ADDRESS_TEXT];   /* does not answer */
	char refusing[DLKI_ADDRESS_TEXT]; /* refuses connections */
	char no_way[DLKI_ADDRESS_TEXT];   /* this host has no route there */
};

/* The place of the server: the first of these that is given. */
struct dlki_place {
	const char *path; /* of a unix socket */
	const char *host; /* a name, or an address, IPv6 without brackets */
	uint16_t port;
	const struct dlki_address *addresses; /* as of a name */
	size_t n_addresses;
};

/* Set the place.  0; EINVAL; or ENOMEM.  Without any place the store has no
 * server. */
int dlki_endpoint_init(struct dlki_endpoint *p, const struct dlki_place *place,
		       const char *told_by, struct dlk_error *err);
void dlki_endpoint_free(struct dlki_endpoint *p);

/* Is there a server at all? */
int dlki_endpoint_is_given(const struct dlki_endpoint *p);

/* ---- The next step ------------------------------------------------------- */

/* Return the next step of the main link, which is down.  After OVER the pause
 * is over. */
enum dlki_step { DLKI_CONNECT, DLKI_LOOK_UP };
enum dlki_step dlki_endpoint_next(struct dlki_endpoint *p,
				  struct dlki_address *to);

/* Return among how many connections the time to connect is shared. */
int dlki_endpoint_shares(const struct dlki_endpoint *p);

/* ---- The outcome -------------------------------------------------------- */

/* Take the answer of a look-up, whenever it comes. */
void dlki_endpoint_found(struct dlki_endpoint *p,
			 const struct dlki_found *found);

/* The answer is late: the last addresses have to do. */
void dlki_endpoint_late(struct dlki_endpoint *p);

/* The connection to m->at ended before the server was known. */
void dlki_endpoint_missed(struct dlki_endpoint *p, const struct dlki_met *m,
			  const struct dlk_error *why);

/* The server at m->at is known.  STAY and MOVED: the server is home, and
 * m->epoch the current epoch; GO_ON: disconnect, and look at the next step. */
enum dlki_verdict { DLKI_STAY, DLKI_MOVED, DLKI_GO_ON };
enum dlki_verdict dlki_endpoint_met(struct dlki_endpoint *p,
				    struct dlki_met *m);

/* The connection to home is lost. */
void dlki_endpoint_lost(struct dlki_endpoint *p);

/* ---- Other links --------------------------------------------------------- */

/* Is home at m->at?  Sets m->epoch then. */
int dlki_endpoint_is_home(const struct dlki_endpoint *p, struct dlki_met *m);

/* Home of the epoch is of no more use, as a primary that has become a replica:
 * the next connection goes where the name leads now. */
void dlki_endpoint_leave(struct dlki_endpoint *p, uint64_t epoch);

/* ---- Messages ------------------------------------------------------------ */

enum { DLKI_ENDPOINT_TEXT = 168 };
void dlki_endpoint_text(const struct dlki_endpoint *p,
			const struct dlki_address *at,
			char out[DLKI_ENDPOINT_TEXT]);

/* ---- The findings of a survey of all addresses: seen.c ------------------- */

/* Take in that the server at m->at could not be reached. */
void dlki_seen_missed(struct dlki_endpoint *p, const struct dlki_met *m,
		      const struct dlk_error *why);

/* Take in that the server at m->at is known, and is not home. */
void dlki_seen_met(struct dlki_endpoint *p, const struct dlki_met *m);

/* Judge, after every address was tried.  0: p->met may become home; EINVAL:
 * there are two servers, and no home yet; or EUNREACHABLE. */
int dlki_seen_judge(struct dlki_endpoint *p, struct dlk_error *err);

#endif
