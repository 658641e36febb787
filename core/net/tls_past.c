/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <string.h>

#include "core/net/tls_openssl.h"

static size_t place(const struct dlki_tls_past *t, const char *key)
{
	size_t i = 0;

	while (i < DLKI_TLS_PAST &&
	       (!t->v[i].session || strcmp(t->v[i].key, key) != 0))
		i++;
	return i;
}

SSL_SESSION *dlki_tls_past_find(const struct dlki_tls_past *t, const char *key)
{
	size_t i = place(t, key);

	return i < DLKI_TLS_PAST ? t->v[i].session : NULL;
}

void dlki_tls_past_keep(struct dlki_tls_past *t, const char *key,
			SSL_SESSION *session)
{
	size_t i = place(t, key);

	if (i == DLKI_TLS_PAST) {
		i = t->next;
		t->next = (i + 1) % DLKI_TLS_PAST;
	}
	SSL_SESSION_free(t->v[i].session);
	t->v[i].session = session;
	snprintf(t->v[i].key, sizeof(t->v[i].key), "%s", key);
}

void dlki_tls_past_drop(struct dlki_tls_past *t, const char *key)
{
	size_t i = place(t, key);

	if (i == DLKI_TLS_PAST)
		return;
	SSL_SESSION_free(t->v[i].session);
	t->v[i].session = NULL;
}

void dlki_tls_past_free(struct dlki_tls_past *t)
{
	for (size_t i = 0; i < DLKI_TLS_PAST; i++)
		SSL_SESSION_free(t->v[i].session);
}
