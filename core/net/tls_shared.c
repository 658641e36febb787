/* SPDX-License-Identifier: Apache-2.0 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "core/net/tls_openssl.h"

/* The bytes of a larger file are not kept. */
enum { CA_MAX = 512 * 1024 };

struct shared {
	SSL_CTX *ssl; /* or NULL */
	char *ca;     /* or NULL */
	size_t len;
};

/* Taken by pthread_mutex_trylock() alone: in a forked child a thread of the
 * parent may own the mutex. */
static pthread_mutex_t mu = PTHREAD_MUTEX_INITIALIZER;
static struct shared unverified, verified;

static struct shared *place_of(const char *ca)
{
	return ca ? &verified : &unverified;
}

static int is_of(const struct shared *s, const char *ca, size_t len)
{
	return s->ssl &&
	       (!ca || (s->len == len && memcmp(s->ca, ca, len) == 0));
}

SSL_CTX *dlki_tls_shared_find(const char *ca, size_t len)
{
	const struct shared *s = place_of(ca);
	SSL_CTX *found = NULL;

	if (pthread_mutex_trylock(&mu) != 0)
		return NULL;
	if (is_of(s, ca, len) && SSL_CTX_up_ref(s->ssl) == 1)
		found = s->ssl;
	pthread_mutex_unlock(&mu);
	return found;
}

static void keep(struct shared *s, SSL_CTX *ssl, const char *ca, size_t len)
{
	char *copy = ca ? malloc(len) : NULL;

	if ((ca && !copy) || SSL_CTX_up_ref(ssl) != 1) {
		free(copy);
		return;
	}
	if (ca)
		memcpy(copy, ca, len);
	SSL_CTX_free(s->ssl);
	free(s->ca);
	*s = (struct shared){ ssl, copy, len };
}

void dlki_tls_shared_keep(SSL_CTX *ssl, const char *ca, size_t len)
{
	struct shared *s = place_of(ca);

	if (len > CA_MAX || pthread_mutex_trylock(&mu) != 0)
		return;
	if (!is_of(s, ca, len))
		keep(s, ssl, ca, len);
	pthread_mutex_unlock(&mu);
}
