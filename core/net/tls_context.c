/* SPDX-License-Identifier: Apache-2.0 */
/* A context of TLS, by OpenSSL. */
#include <openssl/err.h>
#include <openssl/pem.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/contents.h"
#include "core/base/error.h"
#include "core/net/tls_openssl.h"

/* ---- Past sessions ------------------------------------------------------- */

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

/* ---- Callbacks ----------------------------------------------------------- */

static int on_verify(int good, X509_STORE_CTX *store)
{
	SSL *ssl = X509_STORE_CTX_get_ex_data(
		store, SSL_get_ex_data_X509_STORE_CTX_idx());

	if (!good)
		dlki_tls_flaw(SSL_get_app_data(ssl), store);
	return good;
}

/* Keep the session.  1: the reference is ours. */
static int on_session(SSL *ssl, SSL_SESSION *session)
{
	struct dlki_tls_session *s = SSL_get_app_data(ssl);

	dlki_tls_past_keep(&s->client->past, s->key, session);
	return 1;
}

/* Refuse, as OpenSSL would ask on the terminal. */
static int no_passphrase(char *out, int size, int writing, void *arg)
{
	(void)out;
	(void)size;
	(void)writing;
	(void)arg;
	return -1;
}

/* ---- Files --------------------------------------------------------------- */

/* Has OpenSSL failed for want of memory, and not for a flaw of the file?
 * Empties the queue of errors. */
static int ran_out(void)
{
	unsigned long error;
	int out = 0;

	while ((error = ERR_get_error()) != 0)
		out |= ERR_GET_REASON(error) == ERR_R_MALLOC_FAILURE;
	return out;
}

/* Call each() with every certificate of a PEM file; each() gets the reference,
 * and returns 1 for success. */
static int read_certs(const struct dlki_file *file,
		      int (*each)(SSL_CTX *ssl, X509 *cert, int i),
		      SSL_CTX *ssl, struct dlk_error *err)
{
	int taken = 1, n = 0;
	X509 *cert = NULL;
	char *text;
	size_t len;
	BIO *bio;
	int rc;

	rc = dlki_contents_read(&text, &len, file, err);
	if (rc < 0)
		return rc;
	bio = BIO_new_mem_buf(text, (int)len);
	while (bio && taken &&
	       (cert = PEM_read_bio_X509_AUX(bio, NULL, no_passphrase, NULL)))
		taken = each(ssl, cert, n++);
	if (!bio)
		rc = dlki_nomem(err);
	else if (!taken)
		rc = dlki_contents_refuse(file, "cannot be used", err);
	else if (n == 0)
		rc = dlki_contents_refuse(
			file, "has no certificate in PEM format", err);
	else if (ERR_GET_REASON(ERR_peek_last_error()) != PEM_R_NO_START_LINE)
		rc = dlki_contents_refuse(
			file, "has a certificate that makes no sense", err);
	if (rc != 0 && ran_out())
		rc = dlki_nomem(err);
	BIO_free(bio);
	dlki_contents_free(text, len);
	return rc;
}

static int trust(SSL_CTX *ssl, X509 *cert, int i)
{
	int taken = X509_STORE_add_cert(SSL_CTX_get_cert_store(ssl), cert);

	(void)i;
	X509_free(cert);
	return taken;
}

static int present(SSL_CTX *ssl, X509 *cert, int i)
{
	long taken = i == 0 ? SSL_CTX_use_certificate(ssl, cert) :
			      SSL_CTX_add1_chain_cert(ssl, cert);

	X509_free(cert);
	return taken == 1;
}

static int load_authorities(struct dlki_tls_client *c, struct dlk_error *err)
{
	const struct dlki_file file = { .param = "tls_ca",
					.path = c->ca,
					.max_bytes = 4 << 20 };

	if (c->ca)
		return read_certs(&file, trust, c->ssl, err);
	if (SSL_CTX_set_default_verify_paths(c->ssl) != 1)
		return dlki_tls_error(err, DLOCK_ESYSTEM,
				      "TLS: the system's authorities");
	return 0;
}

static int load_key(struct dlki_tls_client *c, const char *path,
		    struct dlk_error *err)
{
	const struct dlki_file file = { .param = "tls_key",
					.path = path,
					.max_bytes = 1 << 16,
					.secret = 1 };
	EVP_PKEY *key = NULL;
	size_t len;
	char *text;
	BIO *bio;
	int rc;

	rc = dlki_contents_read(&text, &len, &file, err);
	if (rc < 0)
		return rc;
	bio = BIO_new_mem_buf(text, (int)len);
	if (bio)
		key = PEM_read_bio_PrivateKey(bio, NULL, no_passphrase, NULL);
	if (!bio)
		rc = dlki_nomem(err);
	else if (!key)
		rc = dlki_contents_refuse(
			&file,
			strstr(text, "ENCRYPTED") ?
				"needs a passphrase; dlock takes a key "
				"without" :
				"has no private key in PEM format",
			err);
	else if (SSL_CTX_use_PrivateKey(c->ssl, key) != 1 ||
		 SSL_CTX_check_private_key(c->ssl) != 1)
		rc = dlki_contents_refuse(
			&file, "does not belong to the certificate in tls_cert",
			err);
	if (rc != 0 && ran_out())
		rc = dlki_nomem(err);
	EVP_PKEY_free(key);
	BIO_free(bio);
	dlki_contents_free(text, len);
	return rc;
}

static int load_certificate(struct dlki_tls_client *c, const char *path,
			    struct dlk_error *err)
{
	const struct dlki_file file = { .param = "tls_cert",
					.path = path,
					.max_bytes = 1 << 20 };

	c->has_cert = 1;
	return read_certs(&file, present, c->ssl, err);
}

static int load(struct dlki_tls_client *c, const struct dlki_tls_options *o,
		struct dlk_error *err)
{
	int rc = 0;

	if (c->verify != DLKI_TLS_OFF)
		rc = load_authorities(c, err);
	if (rc == 0 && o->cert)
		rc = load_certificate(c, o->cert, err);
	if (rc == 0 && o->key)
		rc = load_key(c, o->key, err);
	return rc;
}

/* ---- The context --------------------------------------------------------- */

/* Configure OpenSSL.  The system's configuration may ask for more than TLS
 * 1.2. */
static void configure(SSL_CTX *ssl, enum dlki_tls_verify verify)
{
	if (SSL_CTX_get_min_proto_version(ssl) < TLS1_2_VERSION)
		SSL_CTX_set_min_proto_version(ssl, TLS1_2_VERSION);
	SSL_CTX_set_options(ssl, SSL_OP_NO_RENEGOTIATION);
	if (verify != DLKI_TLS_OFF)
		SSL_CTX_set_verify(ssl, SSL_VERIFY_PEER, on_verify);
	SSL_CTX_set_session_cache_mode(ssl, SSL_SESS_CACHE_CLIENT |
						    SSL_SESS_CACHE_NO_INTERNAL);
	SSL_CTX_sess_set_new_cb(ssl, on_session);
}

static int fill(struct dlki_tls_client *c, const struct dlki_tls_options *o,
		struct dlk_error *err)
{
	c->base.type = &dlki_tls_openssl;
	c->verify = o->verify;
	c->name = o->name ? strdup(o->name) : NULL;
	c->ca = o->ca ? strdup(o->ca) : NULL;
	if ((o->name && !c->name) || (o->ca && !c->ca))
		return dlki_nomem(err);
	/* Threads of the library may outlive main(), and so OpenSSL must. */
	if (OPENSSL_init_ssl(OPENSSL_INIT_NO_ATEXIT, NULL) == 1)
		c->ssl = SSL_CTX_new(TLS_client_method());
	if (!c->ssl)
		return dlki_tls_error(err, DLOCK_ESYSTEM, "OpenSSL");
	configure(c->ssl, c->verify);
	return load(c, o, err);
}

struct dlki_tls_context *dlki_tls_context_new(
	const struct dlki_tls_options *options, struct dlk_error *err)
{
	struct dlki_tls_client *c = calloc(1, sizeof(*c));
	int rc;

	if (!c) {
		dlki_nomem(err);
		return NULL;
	}
	ERR_clear_error();
	rc = fill(c, options, err);
	ERR_clear_error();
	if (rc == 0)
		return &c->base;
	dlki_tls_context_free(&c->base);
	return NULL;
}

void dlki_tls_context_free(struct dlki_tls_context *context)
{
	struct dlki_tls_client *c = (struct dlki_tls_client *)context;

	if (!c)
		return;
	dlki_tls_past_free(&c->past);
	SSL_CTX_free(c->ssl);
	free(c->name);
	free(c->ca);
	free(c);
}
