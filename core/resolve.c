/* SPDX-License-Identifier: Apache-2.0 */
#include "core/resolve.h"

#include <errno.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "core/clock.h"
#include "core/cond.h"
#include "core/error.h"

struct answer {
	struct addrinfo *list;
	int rc, errnum; /* EAI_ and, for EAI_SYSTEM, errno */
};

/* Freed by its thread once that was left behind, else by who asked. */
struct lookup {
	/* mu protects done and left_behind; it is a leaf. */
	pthread_mutex_t mu;
	pthread_cond_t finished;
	int done, left_behind;

	struct answer answer; /* the thread's until done */
	char port[6];
	char host[];
};

static struct answer ask(const char *host, const char *port, int flags)
{
	const struct addrinfo hints = {
		.ai_flags = flags | AI_NUMERICSERV,
		.ai_socktype = SOCK_STREAM,
	};
	struct answer a = { NULL, 0, 0 };

	a.rc = getaddrinfo(host, port, &hints, &a.list);
	a.errnum = errno;
	return a;
}

static void lookup_free(struct lookup *l)
{
	pthread_cond_destroy(&l->finished);
	pthread_mutex_destroy(&l->mu);
	free(l);
}

static void *run(void *arg)
{
	struct lookup *l = arg;
	int left_behind;

	l->answer = ask(l->host, l->port, 0);
	pthread_mutex_lock(&l->mu);
	l->done = 1;
	left_behind = l->left_behind;
	pthread_cond_signal(&l->finished);
	pthread_mutex_unlock(&l->mu);
	if (left_behind) {
		if (l->answer.rc == 0)
			freeaddrinfo(l->answer.list);
		lookup_free(l);
	}
	return NULL;
}

static struct lookup *lookup_new(const char *host, const char *port)
{
	size_t len = strlen(host) + 1;
	struct lookup *l = calloc(1, sizeof(*l) + len);

	if (!l)
		return NULL;
	memcpy(l->host, host, len);
	memcpy(l->port, port, sizeof(l->port));
	pthread_mutex_init(&l->mu, NULL);
	dlki_cond_init(&l->finished);
	return l;
}

/* Is there an answer by the deadline?  If not the thread has it all. */
static int await(struct lookup *l, const atomic_int *stop, dlk_time deadline)
{
	dlk_time now;
	int done;

	pthread_mutex_lock(&l->mu);
	for (now = dlk_now();
	     !l->done && now < deadline && !(stop && atomic_load(stop));
	     now = dlk_now()) {
		dlk_time slice = now + DLKI_STOP_SLICE_NS;

		dlki_wait(&l->finished, &l->mu,
			  stop && slice < deadline ? slice : deadline);
	}
	done = l->done;
	l->left_behind = !done;
	pthread_mutex_unlock(&l->mu);
	return done;
}

static int ask_in_thread(struct answer *out, const char *host, const char *port,
			 const atomic_int *stop, dlk_time deadline,
			 struct dlk_error *err)
{
	struct lookup *l = lookup_new(host, port);
	pthread_t thread;
	int rc;

	if (!l)
		return dlki_nomem(err);
	rc = dlk_thread(&thread, "dlock-resolve", run, l);
	if (rc != 0) {
		lookup_free(l);
		return dlki_system(err, rc, "thread to resolve a name");
	}
	if (!await(l, stop, deadline)) {
		pthread_detach(thread);
		return dlk_fail(err, DLOCK_EUNREACHABLE,
				"%s: the name was not resolved in time", host);
	}
	pthread_join(thread, NULL);
	*out = l->answer;
	lookup_free(l);
	return 0;
}

/* Not gai_strerror(), which speaks the language of the program. */
static int failed(const struct answer *a, const char *host,
		  struct dlk_error *err)
{
	const char *why = "the name could not be resolved";

	switch (a->rc) {
	case EAI_MEMORY:
		return dlki_nomem(err);
	case EAI_SYSTEM:
		if (a->errnum == EMFILE || a->errnum == ENFILE ||
		    a->errnum == ENOMEM)
			return dlki_system(err, a->errnum, host);
		why = dlki_errno_text(a->errnum);
		break;
	case EAI_NONAME:
	case EAI_NODATA:
		why = "no host has this name";
		break;
	case EAI_AGAIN:
		why = "the name service does not answer";
		break;
	default:
		break;
	}
	return dlk_fail(err, DLOCK_EUNREACHABLE, "%s: %s", host, why);
}

int dlki_resolve(struct addrinfo **out, const char *host, uint16_t port,
		 const atomic_int *stop, dlk_time deadline,
		 struct dlk_error *err)
{
	struct answer a;
	char text[6];
	int rc;

	snprintf(text, sizeof(text), "%u", (unsigned int)port);
	a = ask(host, text, AI_NUMERICHOST);
	if (a.rc == EAI_NONAME) {
		rc = ask_in_thread(&a, host, text, stop, deadline, err);
		if (rc != 0)
			return rc;
	}
	if (a.rc != 0)
		return failed(&a, host, err);
	*out = a.list;
	return 0;
}
