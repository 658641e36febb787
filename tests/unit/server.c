/* SPDX-License-Identifier: Apache-2.0 */
#include <dlock/backend_net.h>

#include <criterion/criterion.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "support/census.h"
#include "support/wait.h"
#include "unit/peer.h"

TestSuite(server, .timeout = 60);

/* ---- Servers that say who they are --------------------------------------- */

struct speaker {
	const char *_Atomic says; /* NULL: nothing; "": that it does not tell */
	uint16_t port;
	int listener;
	pthread_t thread;
};

static void *speak(void *arg)
{
	struct speaker *s = arg;
	char byte;
	int fd;

	while ((fd = accept(s->listener, NULL, NULL)) >= 0) {
		const char *text = s->says;

		if (text) {
			dprintf(fd, "%s\n", text);
			shutdown(fd, SHUT_WR);
		}
		/* Until the client closes. */
		while (read(fd, &byte, 1) > 0)
			continue;
		close(fd);
	}
	return NULL;
}

static void begin(struct speaker *s, const char *says)
{
	s->says = says;
	s->listener = peer_listen("127.0.0.1", &s->port, 16);
	CHECK(s->listener >= 0);
	CHECK(pthread_create(&s->thread, NULL, speak, s) == 0);
}

/* Nobody listens there from now on; the port stays noted.  A second call does
 * nothing. */
static void finish(struct speaker *s)
{
	if (s->listener < 0)
		return;
	shutdown(s->listener, SHUT_RDWR);
	CHECK(pthread_join(s->thread, NULL) == 0);
	close(s->listener);
	s->listener = -1;
}

/* ---- What a backend has -------------------------------------------------- */

static int moves, warnings;
static char told[256];

struct connection {
	struct dlk_net net;
	char identity[DLK_IDENTITY_SIZE];
};

static void close_it(void *arg)
{
	struct connection *c = arg;

	dlk_net_close(&c->net);
	free(c);
}

static void *greet(void *arg, const struct dlk_net *net,
		   char identity[DLK_IDENTITY_SIZE], dlk_time deadline,
		   struct dlk_error *err)
{
	struct connection *c = calloc(1, sizeof(*c));
	size_t n = 0, got;

	(void)arg;
	c->net = *net;
	while (!memchr(c->identity, '\n', n)) {
		if (dlk_net_recv(&c->net, c->identity + n, 16, &got, deadline,
				 err) != 0) {
			close_it(c);
			return NULL;
		}
		n += got;
	}
	c->identity[strcspn(c->identity, "\n")] = '\0';
	strcpy(identity, c->identity);
	return c;
}

static void moved(void *arg, const char *text)
{
	(void)arg;
	moves++;
	snprintf(told, sizeof(told), "%s", text);
}

static void warn(void *arg, const char *text)
{
	(void)arg;
	warnings++;
	snprintf(told, sizeof(told), "%s", text);
}

static const struct dlk_server_type type = { .told_by = "WHO",
					     .greet = greet,
					     .close = close_it,
					     .moved = moved,
					     .warn = warn };

static struct dlk_server *new_server(const char *host, uint16_t port)
{
	struct dlk_server *s = dlk_server_new(&type, NULL, NULL, host, port);

	CHECK(s != NULL);
	return s;
}

static struct dlk_error err;

/* The server that answers a new connection; "": none, see err. */
static const char *asked(struct dlk_server *s, int64_t ms)
{
	static char who[DLK_IDENTITY_SIZE];
	uint64_t epoch = 99;
	struct connection *c = dlk_server_connect(s, NULL, &epoch,
						  peer_deadline(ms), &err);

	who[0] = '\0';
	if (c) {
		strcpy(who, c->identity);
		CHECK_INT(epoch, ==, dlk_server_epoch(s));
		close_it(c);
	}
	return who;
}

#define ASK(s) asked((s), patience_ms())
#define IS(text, wanted) CHECK(strcmp((text), (wanted)) == 0)

/* ---- A name of two speakers ---------------------------------------------- */

static struct speaker first, second;
static struct dlk_server *many;
static uint16_t ports[3]; /* where many.test leads to; the last is 0 */

/* many.test leads to the first speaker alone, or to both. */
static void set_up(const char *says, const char *second_says, int addresses)
{
	begin(&first, says);
	begin(&second, second_says);
	ports[0] = first.port;
	if (addresses == 2)
		ports[1] = second.port;
	peer_ports(ports);
	many = new_server("many.test", 1);
}

static void tear_down(void)
{
	dlk_server_free(many);
	finish(&first);
	finish(&second);
}

/* ---- When a session opens ------------------------------------------------ */

Test(server, two_addresses_of_one)
{
	struct census before;

	census_take(&before);
	set_up("one", "one", 2);
	IS(ASK(many), "one");
	/* Either is as good. */
	finish(&first);
	IS(ASK(many), "one");
	CHECK_INT(moves, ==, 0);
	tear_down();
	census_same(&before);
}

Test(server, two_servers_of_one_name_are_refused)
{
	char text[80];

	set_up("one", "other", 2);
	IS(ASK(many), "");
	CHECK_INT(err.code, ==, DLOCK_EINVAL);
	snprintf(text, sizeof(text),
		 "127.0.0.1:%u and 127.0.0.1:%u are two servers", first.port,
		 second.port);
	CHECK_TEXT(err.text, text);
	CHECK_TEXT(err.text, "many.test:1");
	CHECK_TEXT(err.text, "give one address");
	tear_down();
}

Test(server, two_that_do_not_tell_are_refused)
{
	set_up("", "", 2);
	IS(ASK(many), "");
	CHECK_INT(err.code, ==, DLOCK_EINVAL);
	CHECK_TEXT(err.text, "do not say whether they are one server");
	CHECK_TEXT(err.text, "permit WHO");
	tear_down();
}

/* Others may reach the silent one, and not the other. */
Test(server, one_of_two_that_is_silent)
{
	char text[80];

	set_up(NULL, "one", 2);
	IS(asked(many, 500), "");
	CHECK_INT(err.code, ==, DLOCK_EUNREACHABLE);
	snprintf(text, sizeof(text), "127.0.0.1:%u does not answer",
		 first.port);
	CHECK_TEXT(err.text, text);
	CHECK_TEXT(err.text, "give one address");
	tear_down();
}

/* It may be another server, that refuses for now: others reach it at another
 * time, when the first one refuses. */
Test(server, one_of_two_that_refuses)
{
	char text[120];

	set_up("one", "other", 2);
	finish(&first);
	IS(ASK(many), "");
	CHECK_INT(err.code, ==, DLOCK_EUNREACHABLE);
	snprintf(text, sizeof(text),
		 "127.0.0.1:%u refuses connections and may be another server",
		 first.port);
	CHECK_TEXT(err.text, text);
	CHECK_TEXT(err.text, "give one address");
	tear_down();
}

/* As localhost is ::1 and 127.0.0.1, and most servers listen at one of them. */
Test(server, one_family_of_this_host_that_refuses_is_nobody)
{
	struct speaker a = { .says = NULL };
	struct dlk_server *s;

	begin(&a, "one");
	s = new_server("loop.test", a.port);
	IS(ASK(s), "one");
	dlk_server_free(s);
	finish(&a);
}

/* 127.0.0.1 and 127.0.0.2 may be two servers: containers map ports so. */
Test(server, two_addresses_of_this_host_in_one_family)
{
	struct speaker a = { .says = NULL };
	struct dlk_server *s;

	begin(&a, "one");
	s = new_server("pair.test", a.port);
	IS(ASK(s), "");
	CHECK_TEXT(err.text, "127.0.0.2:");
	CHECK_TEXT(err.text, "refuses connections");
	dlk_server_free(s);
	finish(&a);
}

/* ---- Later --------------------------------------------------------------- */

/* The name leads elsewhere, and the session's server still answers. */
Test(server, is_kept_while_it_answers)
{
	set_up("one", "other", 1);
	IS(ASK(many), "one");
	ports[0] = second.port;
	IS(ASK(many), "one");
	CHECK_INT(moves, ==, 0);
	CHECK_INT(peer_names_resolved(), ==, 1);
	finish(&first);
	IS(ASK(many), "other");
	CHECK_INT(moves, ==, 1);
	CHECK_TEXT(told, "many.test:1 is another server");
	IS(ASK(many), "other");
	CHECK_INT(moves, ==, 1);
	tear_down();
}

Test(server, that_is_left_is_followed_by_the_name)
{
	set_up("one", "other", 1);
	IS(ASK(many), "one");
	dlk_server_leave(many, 0);
	IS(ASK(many), "one");
	ports[0] = second.port;
	dlk_server_leave(many, 0);
	IS(ASK(many), "other");
	CHECK_INT(moves, ==, 1);
	/* Late news of the one before. */
	ports[0] = first.port;
	dlk_server_leave(many, 0);
	IS(ASK(many), "other");
	tear_down();
}

/* The session's is being started again, and others may go on with it. */
Test(server, is_not_exchanged_while_its_address_refuses)
{
	set_up("one", "other", 1);
	IS(ASK(many), "one");
	finish(&first);
	ports[1] = second.port;
	IS(ASK(many), "");
	CHECK_INT(err.code, ==, DLOCK_EUNREACHABLE);
	CHECK_INT(moves, ==, 0);
	/* The name has it no more. */
	ports[0] = second.port;
	ports[1] = 0;
	IS(ASK(many), "other");
	CHECK_INT(moves, ==, 1);
	tear_down();
}

/* The session's is silent, and others may go on with it. */
Test(server, is_not_exchanged_while_its_address_is_silent)
{
	set_up("one", "other", 1);
	IS(ASK(many), "one");
	first.says = NULL;
	ports[1] = second.port;
	IS(asked(many, 500), "");
	CHECK_INT(err.code, ==, DLOCK_EUNREACHABLE);
	CHECK_INT(moves, ==, 0);
	/* The name has it no more. */
	ports[0] = second.port;
	ports[1] = 0;
	IS(asked(many, 1000 + slack_ms()), "other");
	CHECK_INT(moves, ==, 1);
	tear_down();
}

Test(server, that_was_started_anew_at_its_address)
{
	struct speaker a = { .says = NULL };
	struct dlk_server *s;

	begin(&a, "first run");
	s = new_server("127.0.0.1", a.port);
	IS(ASK(s), "first run");
	a.says = "second run";
	IS(ASK(s), "second run");
	CHECK_INT(moves, ==, 1);
	CHECK_INT(dlk_server_epoch(s), ==, 1);
	CHECK_INT(peer_names_resolved(), ==, 0);
	dlk_server_free(s);
	finish(&a);
}

/* Known by its address alone, a server cannot be seen to start anew. */
Test(server, that_does_not_tell_is_its_address)
{
	uint64_t epoch;
	void *c;

	set_up("", "", 1);
	c = dlk_server_connect(many, NULL, &epoch, peer_deadline(patience_ms()),
			       &err);
	CHECK(c != NULL);
	close_it(c);
	ports[0] = second.port;
	finish(&first);
	c = dlk_server_connect(many, NULL, &epoch, peer_deadline(patience_ms()),
			       &err);
	CHECK(c != NULL);
	close_it(c);
	CHECK_INT(moves, ==, 1);
	CHECK_INT(epoch, ==, 1);
	tear_down();
}

Test(server, failures_are_those_of_the_address)
{
	struct speaker a = { .says = NULL };
	struct dlk_server *s;
	char text[80];

	begin(&a, "one");
	finish(&a);
	s = new_server("localhost", a.port);
	IS(ASK(s), "");
	CHECK_INT(err.code, ==, DLOCK_EUNREACHABLE);
	snprintf(text, sizeof(text), "localhost:%u", a.port);
	CHECK_TEXT(err.text, text);
	dlk_server_free(s);
	s = dlk_server_new(&type, NULL, "/nowhere/at/all", NULL, 0);
	IS(ASK(s), "");
	CHECK_TEXT(err.text, "/nowhere/at/all");
	dlk_server_free(s);
}
