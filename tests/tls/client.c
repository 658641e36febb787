/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/tls/client.h"

#include <string.h>

#include "support/check.h"

struct client client;

void client_open(const struct dlki_tls_options *o,
		 const struct peer_options *peer)
{
	struct dlki_tls_options options = { 0 };

	memset(&client, 0, sizeof(client));
	if (o)
		options = *o;
	if (!options.ca && options.verify != DLKI_TLS_OFF)
		options.ca = certs_path("ca.pem");
	client.context = dlki_tls_context_new(&options, &client.err);
	if (!client.context)
		FAIL("%s", client.err.text);
	peer_init(peer);
}

void client_close(void)
{
	if (client.t)
		client.t->type->end(client.t);
	dlki_tls_context_free(client.context);
	peer_free();
	memset(&client, 0, sizeof(client));
}

void client_end(void)
{
	client_close();
	certs_end();
}

void client_begins(void)
{
	client.t = client.context->type->begin(client.context, "localhost",
					       "127.0.0.1:6380", &client.err);
}

/* The session's ciphertext to the peer; returns how many bytes. */
static size_t carry_there(size_t piece)
{
	struct dlki_bytes b = { 0 };
	size_t all = 0;

	CHECK(client.t->type->take(client.t, &b, &client.err) == 0);
	while (dlki_bytes_len(&b) > 0) {
		size_t n = dlki_bytes_len(&b);

		n = n < piece ? n : piece;
		peer_hears(dlki_bytes_at(&b), n);
		dlki_bytes_take(&b, n);
		all += n;
	}
	dlki_bytes_free(&b);
	return all;
}

static int carry_here(size_t piece, size_t *moved)
{
	char cipher[65536], plain[4096];
	ssize_t n = 0;
	size_t len;

	CHECK(piece <= sizeof(cipher));
	len = peer_take(cipher, piece);
	*moved += len;
	n = client_hears(cipher, len);
	while (n == 0 && client.t->up &&
	       (n = client.t->type->read(client.t, plain, sizeof(plain) - 1,
					 &client.err)) > 0) {
		plain[n] = '\0';
		CHECK(strlen(client.got) + (size_t)n < sizeof(client.got));
		strncat(client.got, plain, (size_t)n);
		n = 0;
	}
	return (int)n;
}

int client_exchange_by(size_t piece)
{
	size_t moved;
	int rc;

	do {
		moved = carry_there(piece);
		rc = carry_here(piece, &moved);
	} while (moved > 0 && rc == 0);
	return rc;
}

int client_exchange(void)
{
	return client_exchange_by(65536);
}

int client_meets(const char *host)
{
	client.t = client.context->type->begin(client.context, host,
					       "127.0.0.1:6380", &client.err);
	return client.t ? client_exchange() : client.err.code;
}

void client_leaves(void)
{
	client.t->type->end(client.t);
	client.t = NULL;
	client.got[0] = '\0';
	peer_again();
}

void client_says(const char *text)
{
	if (client.t->type->write(client.t, text, strlen(text), &client.err) !=
	    0)
		FAIL("%s", client.err.text);
}

int client_hears(const void *bytes, size_t n)
{
	return client.t->type->feed(client.t, bytes, n, &client.err);
}
