/* SPDX-License-Identifier: Apache-2.0 */
/* The session's server from inside, and how a server at an address is met. */
#ifndef DLOCK_CORE_NET_MEET_H
#define DLOCK_CORE_NET_MEET_H

#include <dlock/backend_net.h>

#include <pthread.h>
#include <sys/socket.h>

struct address {
	struct sockaddr_storage at;
	socklen_t len; /* 0: none */
};

/* What a session knows of its server. */
struct home {
	char identity[DLK_IDENTITY_SIZE]; /* "": it has none yet */
	struct address address;           /* where it was found */
	int left;                         /* see dlk_server_leave() */
	uint64_t epoch;
};

struct dlk_server {
	/* Constant. */
	const struct dlk_server_type *type;
	void *arg;
	char *place; /* the host, or the path */
	int is_path;
	uint16_t port;
	int one_address; /* no name, that may lead elsewhere */
	char who[112];

	pthread_mutex_t mu; /* protects home; a leaf */
	struct home home;
	_Atomic uint64_t epoch; /* home's, for reading without mu */
};

/* A server that answered. */
struct met {
	void *connection; /* NULL: none */
	char identity[DLK_IDENTITY_SIZE];
	struct address address;
};

/* Close the connection, if there is one. */
void dlki_meet_close(const struct dlk_server *s, struct met *m);

int dlki_meet_is_home(const struct home *h, const struct met *m);

/* Connect to m->address, or the path, and be greeted.  0, or an error code;
 * *refused_by as in dlock/backend_net.h. */
int dlki_meet(const struct dlk_server *s, struct met *m, int one_of_many,
	      const dlk_flag *stop, dlk_time deadline, int *refused_by,
	      struct dlk_error *err);

#endif
