/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/tls/client.h"

#include <openssl/err.h>
#include <stdio.h>
#include <string.h>

#include "support/check.h"

static struct peer *const p = &client.peer;

static const char *pem(const char *name, const char *suffix)
{
	char file[80];

	snprintf(file, sizeof(file), "%s.%s", name, suffix);
	return certs_path(file);
}

void peer_init(const struct peer_options *o)
{
	static const struct peer_options preset;
	const char *cert;

	o = o ? o : &preset;
	cert = o->cert ? o->cert : "server";
	memset(p, 0, sizeof(*p));
	p->ctx = SSL_CTX_new(TLS_server_method());
	CHECK(p->ctx);
	CHECK(SSL_CTX_use_certificate_chain_file(p->ctx, pem(cert, "pem")) ==
	      1);
	CHECK(SSL_CTX_use_PrivateKey_file(p->ctx, pem(cert, "key"),
					  SSL_FILETYPE_PEM) == 1);
	SSL_CTX_set_session_id_context(p->ctx, (const unsigned char *)"t", 1);
	if (o->version) {
		SSL_CTX_set_min_proto_version(p->ctx, o->version);
		SSL_CTX_set_max_proto_version(p->ctx, o->version);
	}
	if (o->version && o->version < TLS1_2_VERSION)
		CHECK(SSL_CTX_set_cipher_list(p->ctx, "ALL:@SECLEVEL=0") == 1);
	if (o->client_ca) {
		CHECK(SSL_CTX_load_verify_file(p->ctx,
					       pem(o->client_ca, "pem")) == 1);
		SSL_CTX_set_verify(p->ctx,
				   SSL_VERIFY_PEER |
					   SSL_VERIFY_FAIL_IF_NO_PEER_CERT,
				   NULL);
	}
	peer_again();
}

static void end(void)
{
	if (p->ssl)
		SSL_set_shutdown(p->ssl,
				 SSL_SENT_SHUTDOWN | SSL_RECEIVED_SHUTDOWN);
	SSL_free(p->ssl);
}

void peer_again(void)
{
	end();
	p->ssl = SSL_new(p->ctx);
	p->in = BIO_new(BIO_s_mem());
	p->out = BIO_new(BIO_s_mem());
	CHECK(p->ssl && p->in && p->out);
	BIO_set_mem_eof_return(p->in, -1);
	SSL_set_bio(p->ssl, p->in, p->out);
	SSL_set_accept_state(p->ssl);
	p->said_len = 0;
}

void peer_free(void)
{
	end();
	SSL_CTX_free(p->ctx);
}

void peer_hears(const void *bytes, size_t n)
{
	size_t got;

	ERR_set_mark();
	if (n > 0)
		CHECK(BIO_write(p->in, bytes, (int)n) == (int)n);
	for (;;) {
		CHECK(p->said_len < sizeof(p->said));
		if (SSL_read_ex(p->ssl, p->said + p->said_len,
				sizeof(p->said) - 1 - p->said_len, &got) != 1)
			break;
		p->said_len += got;
	}
	p->said[p->said_len] = '\0';
	ERR_pop_to_mark();
}

void peer_says(const void *bytes, size_t n)
{
	size_t done;

	if (n > 0)
		CHECK(SSL_write_ex(p->ssl, bytes, n, &done) == 1);
}

size_t peer_take(void *out, size_t size)
{
	int n = BIO_read(p->out, out, (int)size);

	return n > 0 ? (size_t)n : 0;
}
