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
	peer_init(&client.peer, peer);
}

void client_close(void)
{
	if (client.t)
		client.t->type->end(client.t);
	dlki_tls_context_free(client.context);
	peer_free(&client.peer);
	memset(&client, 0, sizeof(client));
}

int client_exchange(void)
{
	return exchange(client.t, &client.peer, 65536, client.got, &client.err);
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
	peer_again(&client.peer);
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
