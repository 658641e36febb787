/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A private Redis with a port for TLS, and as floor the same client on the port
 * without.
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "bench/store.h"
#include "lab/base/clock.h"
#include "lab/base/fail.h"
#include "lab/base/process.h"
#include "lab/servers/redis.h"

#define MAKE_MS 20000 /* openssl(1) has so long */
#define PORTS 5       /* tried */

/* A key and a certificate, the only authority, in s->dir: key.pem and
 * cert.pem. */
static void make_certificate(struct bench_store *s)
{
	static const char *const words[] = { "openssl",
					     "req",
					     "-x509",
					     "-newkey",
					     "ec",
					     "-pkeyopt",
					     "ec_paramgen_curve:P-256",
					     "-nodes",
					     "-days",
					     "2",
					     "-subj",
					     "/CN=bench",
					     "-addext",
					     "subjectAltName=IP:127.0.0.1",
					     "-keyout",
					     "key.pem",
					     "-out",
					     "cert.pem" };
	struct lab_args args = { .count = 0 };
	int status = -1;

	s->dir = store_text("/tmp/dlock-bench-XXXXXX");
	s->supervisor = lab_process_new(s->dir);
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		lab_arg(&args, "%s", words[i]);
	if (!s->supervisor || lab_process_spawn(s->supervisor, &args) < 0)
		bench_skip("openssl(1): %s", lab_errmsg());
	if (lab_process_reap(s->supervisor, lab_after_ms(MAKE_MS), &status) <
		    0 ||
	    status != 0)
		bench_skip("openssl(1) made no certificate");
}

/* Another process may have the port on all addresses. */
static int serve_tls(const struct bench_store *s)
{
	int port = 0, fd, rc = -1;

	for (int i = 0; rc < 0 && i < PORTS; i++) {
		port = lab_reserve_port(&fd);
		rc = lab_redis_do(s->server, NULL, 0,
				  "CONFIG SET tls-cert-file %s/cert.pem "
				  "tls-key-file %s/key.pem "
				  "tls-ca-cert-file %s/cert.pem "
				  "tls-auth-clients no tls-port %d",
				  s->dir, s->dir, s->dir, port);
		close(fd);
	}
	if (rc < 0)
		bench_skip("redis-server without TLS: %s", lab_errmsg());
	return port;
}

void store_rediss_open(struct bench_store *s)
{
	make_certificate(s);
	store_serve(s, lab_redis_start(NULL), "");
	free(s->uri);
	s->uri = store_text("%s://" LAB_LOOPBACK ":%d/?tls_ca=%s/cert.pem",
			    s->desc->name, serve_tls(s), s->dir);
}

/* ---- Without TLS --------------------------------------------------------- */

static void open_plain(struct bench_lock *l)
{
	char uri[64];

	snprintf(uri, sizeof(uri), "redis://" LAB_LOOPBACK ":%d/",
		 l->store->server->port);
	bench_check(dlock_open(&l->client, uri, NULL), "dlock_open");
	bench_check(dlock_mutex_new(&l->lock, l->client, "bench"),
		    "dlock_mutex_new");
}

static void close_plain(struct bench_lock *l)
{
	lock_dlock.close(l);
}

static void pair_plain(void *lock)
{
	lock_dlock.pair(lock);
}

const struct lock_ops floor_dlock_redis = {
	.open = open_plain,
	.close = close_plain,
	.pair = pair_plain,
};
