/* SPDX-License-Identifier: Apache-2.0 */
/* The state machine: bytes in, bytes out. */
#include <criterion/criterion.h>
#include <openssl/err.h>
#include <stdlib.h>
#include <string.h>

#include "tests/tls/client.h"

TestSuite(session, .init = certs_begin, .fini = client_end);

static const struct peer_options tls12 = { .version = TLS1_2_VERSION };

static void meet(void)
{
	cr_assert_eq(client_meets("localhost"), 0, "%s", client.err.text);
	cr_assert(client.t->up);
}

static ssize_t client_reads(char plain[8])
{
	return client.t->type->read(client.t, plain, 8, &client.err);
}

static void echo(void)
{
	client_says("ping");
	cr_assert_eq(client_exchange(), 0, "%s", client.err.text);
	cr_assert_str_eq(client.peer.said, "ping");
	peer_says("pong", 4);
	cr_assert_eq(client_exchange(), 0, "%s", client.err.text);
	cr_assert_str_eq(client.got, "pong");
}

Test(session, plaintext_goes_both_ways)
{
	for (int old = 0; old < 2; old++) {
		client_open(NULL, old ? &tls12 : NULL);
		meet();
		cr_assert_eq(SSL_version(client.peer.ssl),
			     old ? TLS1_2_VERSION : TLS1_3_VERSION);
		cr_assert_str_eq(SSL_get_servername(client.peer.ssl,
						    TLSEXT_NAMETYPE_host_name),
				 "localhost");
		echo();
		client_close();
	}
}

static unsigned char pattern(size_t i)
{
	return (unsigned char)(i * 31 + i / 4096);
}

/* Read all plaintext there is, which continues the pattern from `at`. */
static size_t read_on(size_t at)
{
	static unsigned char bytes[5000];
	ssize_t n;

	while ((n = client.t->type->read(client.t, bytes, sizeof(bytes),
					 &client.err)) > 0) {
		for (ssize_t i = 0; i < n; i++, at++)
			cr_assert_eq(bytes[i], pattern(at));
	}
	cr_assert_eq(n, 0, "%s", client.err.text);
	return at;
}

Test(session, sixteen_mebibytes_come_whole)
{
	static unsigned char plain[100000], cipher[50000];
	const size_t all = 16 << 20;
	size_t said = 0, came = 0, n;

	client_open(NULL, NULL);
	meet();
	while (came < all) {
		for (size_t i = 0; i < sizeof(plain); i++)
			plain[i] = pattern(said + i);
		n = all - said < sizeof(plain) ? all - said : sizeof(plain);
		peer_says(plain, n);
		said += n;
		while ((n = peer_take(cipher, sizeof(cipher))) > 0) {
			cr_assert_eq(client_hears(cipher, n), 0);
			came = read_on(came);
		}
		cr_assert_eq(came, said, "no plaintext stays behind");
	}
}

Test(session, a_record_has_what_one_write_has)
{
	static char bytes[DLKI_TLS_RECORD];
	struct dlki_bytes out = { 0 };
	struct dlk_error err;

	client_open(NULL, NULL);
	meet();
	cr_assert_eq(client.t->type->pending(client.t), 0);
	cr_assert_eq(
		client.t->type->write(client.t, bytes, sizeof(bytes), &err), 0);
	cr_assert_eq(client.t->type->take(client.t, &out, &err), 0);
	cr_assert_eq(client.t->type->pending(client.t), 0);
	cr_assert_eq((unsigned char)dlki_bytes_at(&out)[0], 0x17);
	cr_assert_eq(dlki_bytes_len(&out),
		     5 + 256 * (unsigned char)dlki_bytes_at(&out)[3] +
			     (unsigned char)dlki_bytes_at(&out)[4],
		     "one record");
	dlki_bytes_free(&out);
}

/* ---- Keys ---------------------------------------------------------------- */

static void ask_for_keys(void)
{
	cr_assert_eq(SSL_key_update(client.peer.ssl, SSL_KEY_UPDATE_REQUESTED),
		     1);
	peer_says("+", 1);
}

Test(session, new_keys_may_come_byte_by_byte)
{
	client_open(NULL, NULL);
	meet();
	for (int i = 0; i < 3; i++) {
		ask_for_keys();
		peer_says("abc", 3);
		cr_assert_eq(client_exchange_by(1), 0, "%s", client.err.text);
		cr_assert_str_eq(client.got, "+abc");
		client.got[0] = '\0';
		client.peer.said_len = 0;
		echo();
		client.got[0] = '\0';
	}
}

/* The record of requests does not begin with the answer about keys. */
Test(session, new_keys_are_answered_before_the_next_record)
{
	char cipher[4096], plain[8];
	size_t n;

	client_open(NULL, NULL);
	meet();
	ask_for_keys();
	n = peer_take(cipher, sizeof(cipher));
	cr_assert_eq(client_hears(cipher, n), 0);
	cr_assert_eq(client_reads(plain), 1);
	cr_assert_eq(client_reads(plain), 0);
	cr_assert_gt(client.t->type->pending(client.t), 0);
}

/* The peer's request is refused with a warning; requests go on. */
Test(session, a_renegotiation_is_refused)
{
	char cipher[4096], plain[8];
	struct dlki_bytes b = { 0 };
	size_t n;

	client_open(NULL, &tls12);
	meet();
	echo();
	cr_assert_eq(SSL_renegotiate(client.peer.ssl), 1);
	cr_assert_eq(SSL_do_handshake(client.peer.ssl), 1);
	n = peer_take(cipher, sizeof(cipher));
	cr_assert_gt(n, 0);
	cr_assert_eq(client_hears(cipher, n), 0);
	cr_assert_eq(client_reads(plain), 0);
	cr_assert_eq(client.t->type->take(client.t, &b, &client.err), 0);
	cr_assert_gt(dlki_bytes_len(&b), 0, "a warning");
	cr_assert_eq(dlki_bytes_at(&b)[0], SSL3_RT_ALERT);
	client_says("more");
	dlki_bytes_free(&b);
}

/* ---- The end ------------------------------------------------------------- */

Test(session, a_byte_that_changed_on_the_way_is_found)
{
	char cipher[4096], plain[8];
	size_t n, first;

	client_open(NULL, NULL);
	meet();
	peer_says("good", 4);
	first = BIO_ctrl_pending(client.peer.out);
	peer_says("bad", 3);
	n = peer_take(cipher, sizeof(cipher));
	cipher[first + 10] ^= 1;
	cr_assert_eq(client_hears(cipher, n), 0);
	cr_assert_eq(client_reads(plain), 4);
	cr_assert_eq(client_reads(plain), DLOCK_EUNREACHABLE);
	cr_assert_not_null(strstr(client.err.text, "makes no sense: "), "%s",
			   client.err.text);
	cr_assert_eq(client.t->type->write(client.t, "x", 1, &client.err),
		     DLOCK_EUNREACHABLE, "for good");
	cr_assert_eq(client_hears("x", 1), DLOCK_EUNREACHABLE);
}

Test(session, a_server_without_tls_is_named_so)
{
	static const char *const greetings[] = { "-ERR unknown command\r\n",
						 "HTTP/1.1 400 Bad Request\r\n",
						 "ERROR\r\n", "SSH-2.0-x\r\n",
						 "\n" };

	client_open(NULL, NULL);
	for (size_t i = 0; i < 5; i++) {
		client_begins();
		cr_assert_eq(client_hears(greetings[i], 1), DLOCK_EPROTO);
		cr_assert_str_eq(client.err.text,
				 "the server answers without TLS; is this its "
				 "port for TLS?");
		client_leaves();
	}
}

Test(session, nonsense_in_the_handshake_is_refused)
{
	unsigned char record[5 + 300] = { 0x16, 3, 3, 1, 44, 2, 0, 1, 40 };

	client_open(NULL, NULL);
	client_begins();
	cr_assert_eq(client_hears(record, sizeof(record)), DLOCK_EPROTO);
	cr_assert_not_null(strstr(client.err.text, "makes no sense: "), "%s",
			   client.err.text);
}

Test(session, tls_1_1_is_too_old)
{
	const struct peer_options old = { .version = TLS1_1_VERSION };

	client_open(NULL, &old);
	cr_assert_eq(client_meets("localhost"), DLOCK_EPROTO);
	cr_assert_str_eq(client.err.text,
			 "the server has neither TLS 1.2 nor 1.3");
}

/* ---- The process --------------------------------------------------------- */

/* SSL_get_error() believes the oldest error of the thread. */
Test(session, errors_of_the_program_do_not_mislead)
{
	client_open(NULL, NULL);
	ERR_raise(ERR_LIB_USER, 77);
	meet();
	ERR_raise(ERR_LIB_USER, 77);
	cr_assert_eq(client_exchange(), 0, "%s", client.err.text);
	ERR_raise(ERR_LIB_USER, 77);
	echo();
	cr_assert_eq(client_hears("nonsense", 8), 0);
	cr_assert_eq(client.t->type->read(client.t, client.got, 8, &client.err),
		     DLOCK_EUNREACHABLE);
	cr_assert_eq(ERR_get_error(), 0);
}
