/* SPDX-License-Identifier: Apache-2.0 */
/* A session of TLS, by OpenSSL. */
#include <openssl/err.h>
#include <openssl/x509v3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/error.h"
#include "core/net/tls_openssl.h"

static struct dlki_tls_session *session_of(struct dlki_tls *t)
{
	return (struct dlki_tls_session *)t;
}

/* ---- Beginning ----------------------------------------------------------- */

/* Choose the name for SNI and for the certificate: an address or a host's name,
 * without a dot at the end. */
static int choose_name(struct dlki_tls_session *s, const char *host,
		       struct dlk_error *err)
{
	const char *name = s->client->name ? s->client->name : host;
	size_t len = name ? strlen(name) : 0;

	if (len > 0 && name[len - 1] == '.')
		len--;
	if (len == 0 && s->client->verify == DLKI_TLS_FULL)
		return dlk_fail(err, DLOCK_EINVAL,
				"TLS: no name to look for in the server's "
				"certificate; tls_name= says it");
	if (len >= sizeof(s->name))
		return dlk_fail(err, DLOCK_EINVAL,
				"TLS: the server's name is longer than %zu "
				"bytes; tls_name= says another name",
				sizeof(s->name) - 1);
	if (len > 0)
		memcpy(s->name, name, len);
	return 0;
}

static int expect_name(struct dlki_tls_session *s)
{
	X509_VERIFY_PARAM *param = SSL_get0_param(s->ssl);
	unsigned char address[16];
	size_t len = dlki_tls_address(s->name, address);

	if (len == 0 && s->name[0] &&
	    SSL_set_tlsext_host_name(s->ssl, s->name) != 1)
		return 0;
	if (s->client->verify != DLKI_TLS_FULL)
		return 1;
	if (len > 0)
		return X509_VERIFY_PARAM_set1_ip(param, address, len);
	X509_VERIFY_PARAM_set_hostflags(
		param, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS |
			       X509_CHECK_FLAG_NEVER_CHECK_SUBJECT);
	return X509_VERIFY_PARAM_set1_host(param, s->name, 0);
}

static int make_ssl(struct dlki_tls_session *s, const char *peer)
{
	SSL_SESSION *session;

	s->ssl = SSL_new(s->client->ssl);
	s->in = BIO_new(BIO_s_mem());
	s->out = BIO_new(BIO_s_mem());
	if (!s->ssl || !s->in || !s->out || !SSL_set_app_data(s->ssl, s)) {
		BIO_free(s->in);
		BIO_free(s->out);
		return 0;
	}
	/* Empty: more will come. */
	BIO_set_mem_eof_return(s->in, -1);
	SSL_set_bio(s->ssl, s->in, s->out);
	SSL_set_connect_state(s->ssl);
	snprintf(s->key, sizeof(s->key), "%s %s", peer, s->name);
	session = dlki_tls_past_find(&s->client->past, s->key);
	if (session && SSL_set_session(s->ssl, session) != 1)
		return 0;
	return expect_name(s);
}

/* ---- The state machine --------------------------------------------------- */

static int fail(struct dlki_tls_session *s, struct dlk_error *err)
{
	if (s->why.code == 0)
		dlki_tls_reason(s);
	ERR_clear_error();
	*err = s->why;
	return s->why.code;
}

/* Judge a call that has returned `rc`: 0, or a failure. */
static int after(struct dlki_tls_session *s, int rc, struct dlk_error *err)
{
	switch (SSL_get_error(s->ssl, rc)) {
	case SSL_ERROR_NONE:
	case SSL_ERROR_WANT_READ:
		return 0;
	case SSL_ERROR_ZERO_RETURN:
		s->closed = 1;
		dlk_fail(&s->why, DLOCK_EUNREACHABLE,
			 "the server closed the connection");
		break;
	default:
		break;
	}
	return fail(s, err);
}

static int go_on(struct dlki_tls_session *s, struct dlk_error *err)
{
	int rc;

	ERR_clear_error();
	rc = SSL_do_handshake(s->ssl);
	s->base.up = rc == 1;
	return after(s, rc, err);
}

static int session_feed(struct dlki_tls *t, const void *bytes, size_t n,
			struct dlk_error *err)
{
	struct dlki_tls_session *s = session_of(t);
	const unsigned char *first = bytes;

	if (s->why.code == 0 && n > 0 && !s->heard) {
		s->heard = 1;
		if (*first != SSL3_RT_HANDSHAKE && *first != SSL3_RT_ALERT)
			dlk_fail(&s->why, DLOCK_EPROTO,
				 "the server answers without TLS; is this its "
				 "port for TLS?");
	}
	if (s->why.code == 0 && n > 0 &&
	    BIO_write(s->in, bytes, (int)n) != (int)n)
		dlki_nomem(&s->why);
	if (s->why.code != 0)
		return fail(s, err);
	return t->up ? 0 : go_on(s, err);
}

/* Answer a request for new keys now.  OpenSSL would send the answer together
 * with the next record of plaintext; but a record must begin with the first
 * byte of `sealed`. */
static int answer_keys(struct dlki_tls_session *s, struct dlk_error *err)
{
	if (SSL_get_key_update_type(s->ssl) == SSL_KEY_UPDATE_NONE)
		return 0;
	if (SSL_key_update(s->ssl, SSL_KEY_UPDATE_NOT_REQUESTED) != 1)
		return fail(s, err);
	return go_on(s, err);
}

static ssize_t session_read(struct dlki_tls *t, void *out, size_t size,
			    struct dlk_error *err)
{
	struct dlki_tls_session *s = session_of(t);
	size_t n = 0;
	int rc;

	if (s->why.code != 0)
		return fail(s, err);
	ERR_clear_error();
	rc = SSL_read_ex(s->ssl, out, size, &n);
	if (rc == 1)
		return (ssize_t)n;
	rc = after(s, rc, err);
	return rc == 0 ? answer_keys(s, err) : rc;
}

static int session_write(struct dlki_tls *t, const void *bytes, size_t n,
			 struct dlk_error *err)
{
	struct dlki_tls_session *s = session_of(t);
	size_t done;

	if (s->why.code != 0)
		return fail(s, err);
	ERR_clear_error();
	return SSL_write_ex(s->ssl, bytes, n, &done) == 1 ? 0 : fail(s, err);
}

static size_t session_pending(const struct dlki_tls *t)
{
	return BIO_ctrl_pending(((const struct dlki_tls_session *)t)->out);
}

static int session_take(struct dlki_tls *t, struct dlki_bytes *to,
			struct dlk_error *err)
{
	size_t n = session_pending(t);
	int done;

	if (n == 0)
		return 0;
	if (dlki_bytes_reserve(to, n) != 0)
		return dlki_nomem(err);
	done = BIO_read(session_of(t)->out, dlki_bytes_end(to), (int)n);
	dlki_bytes_added(to, done > 0 ? (size_t)done : 0);
	return 0;
}

static const char *session_stuck(const struct dlki_tls *t)
{
	const struct dlki_tls_session *s = (const struct dlki_tls_session *)t;

	return s->heard ? "the server stopped in the midst of the TLS "
			  "handshake" :
			  "no answer to the TLS handshake in time; is this a "
			  "port for TLS?";
}

/* ---- The end ------------------------------------------------------------- */

static int is_sound(const struct dlki_tls_session *s)
{
	return s->base.up && (s->why.code == 0 || s->closed);
}

static void session_goodbye(struct dlki_tls *t)
{
	struct dlki_tls_session *s = session_of(t);

	if (is_sound(s))
		(void)SSL_shutdown(s->ssl);
	ERR_clear_error();
}

/* End the session as if both sides had said so: OpenSSL would not resume a
 * session after a lost connection.  A session whose handshake did not end is
 * not resumed: perhaps the server cannot. */
static void session_end(struct dlki_tls *t)
{
	struct dlki_tls_session *s = session_of(t);

	if (s->ssl && is_sound(s))
		SSL_set_shutdown(s->ssl,
				 SSL_SENT_SHUTDOWN | SSL_RECEIVED_SHUTDOWN);
	else
		dlki_tls_past_drop(&s->client->past, s->key);
	SSL_free(s->ssl);
	ERR_clear_error();
	free(s);
}

static struct dlki_tls *session_begin(struct dlki_tls_context *c,
				      const char *host, const char *peer,
				      struct dlk_error *err)
{
	struct dlki_tls_session *s = calloc(1, sizeof(*s));
	int rc;

	if (!s) {
		dlki_nomem(err);
		return NULL;
	}
	s->base.type = &dlki_tls_openssl;
	s->client = (struct dlki_tls_client *)c;
	rc = choose_name(s, host, err);
	if (rc == 0 && !make_ssl(s, peer))
		rc = dlki_tls_error(err, DLOCK_ENOMEM, "TLS cannot begin");
	if (rc == 0)
		rc = go_on(s, err); /* the first message */
	if (rc == 0)
		return &s->base;
	session_end(&s->base);
	return NULL;
}

const struct dlki_tls_type dlki_tls_openssl = {
	.begin = session_begin,
	.end = session_end,
	.feed = session_feed,
	.read = session_read,
	.write = session_write,
	.pending = session_pending,
	.take = session_take,
	.goodbye = session_goodbye,
	.stuck = session_stuck,
};
