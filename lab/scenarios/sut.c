/* SPDX-License-Identifier: Apache-2.0 */
#include "lab/scenarios/sut.h"
#include "lab/base/fail.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

int lab_sut_alone(struct lab_sut *s, struct lab_server *server)
{
	s->nodes[0] = server;
	s->n_nodes = server ? 1 : 0;
	return server ? 0 : -1;
}

void lab_sut_version(struct lab_sut *s, const char *name, const char *answer,
		     const char *before, const char *end)
{
	const char *at = strstr(answer, before);

	if (!at)
		return;
	at += strlen(before);
	snprintf(s->server_text, sizeof(s->server_text), "%s %.*s", name,
		 (int)strcspn(at, end), at);
}

int lab_sut_has_room(const struct lab_sut *s, int64_t used, int64_t most)
{
	if (used < 0 || most < 0)
		return lab_fail("%s does not say how full it is",
				s->kind->name);
	if (used > most / 2)
		return lab_fail("%s is full: %" PRId64 " bytes", s->kind->name,
				used);
	return 0;
}

/* "scheme://127.0.0.1:p1,127.0.0.1:p2" */
static void make_uri(struct lab_sut *s, bool proxied, char *out, size_t size)
{
	size_t used = (size_t)snprintf(out, size, "%s://", s->kind->scheme);

	for (size_t i = 0; i < s->n_nodes && used < size; i++)
		used += (size_t)snprintf(out + used, size - used,
					 "%s" LAB_LOOPBACK ":%d", i ? "," : "",
					 proxied ?
						 lab_proxy_port(s->proxies[i]) :
						 s->nodes[i]->port);
}

int lab_sut_use(struct lab_sut *s, struct lab_sut *other)
{
	for (size_t i = 0; i < s->n_uses; i++)
		if (s->uses[i] == other)
			return 0;
	if (s->n_uses == LAB_MOST_USED)
		return lab_fail("more than %d servers", LAB_MOST_USED);
	s->uses[s->n_uses++] = other;
	return 0;
}

void lab_sut_claim(struct lab_sut *s)
{
	for (size_t i = 0; i < s->n_uses; i++)
		pthread_mutex_lock(&s->uses[i]->claim);
}

void lab_sut_disclaim(struct lab_sut *s)
{
	for (size_t i = s->n_uses; i > 0; i--)
		pthread_mutex_unlock(&s->uses[i - 1]->claim);
}

int lab_sut_start(struct lab_sut *s)
{
	if (s->kind->start(s) < 0)
		return -1;
	for (size_t i = 0; i < s->n_nodes; i++) {
		struct lab_proxy_options o = { .to = lab_server_address(
						       s->nodes[i]) };

		s->proxies[i] = lab_proxy_new(&o);
		if (!s->proxies[i])
			return -1;
	}
	s->n_uses = 0;
	lab_sut_use(s, s);
	make_uri(s, false, s->uri, sizeof(s->uri));
	make_uri(s, true, s->proxied, sizeof(s->proxied));
	snprintf(s->shown, sizeof(s->shown), "%.255s", s->uri);
	return 0;
}

void lab_sut_stop(struct lab_sut *s)
{
	for (size_t i = 0; i < s->n_nodes; i++) {
		lab_proxy_free(s->proxies[i]);
		if (!s->whole)
			lab_server_free(s->nodes[i]);
		s->proxies[i] = NULL;
		s->nodes[i] = NULL;
	}
	s->n_nodes = 0;
	if (s->whole)
		s->kind->stop(s);
	s->whole = NULL;
	lab_process_free(s->tidy);
	s->tidy = NULL;
}

static int each_node(struct lab_sut *s, int (*call)(struct lab_server *))
{
	for (size_t i = 0; i < s->n_nodes; i++)
		if (call(s->nodes[i]) < 0)
			return -1;
	return 0;
}

int lab_sut_kill(struct lab_sut *s)
{
	return each_node(s, lab_server_kill);
}

static int restart(struct lab_server *server)
{
	return lab_server_restart(server, true);
}

int lab_sut_restart(struct lab_sut *s)
{
	if (each_node(s, restart) < 0)
		return -1;
	return s->kind->wait ? s->kind->wait(s) : 0;
}

int lab_sut_pause(struct lab_sut *s)
{
	return each_node(s, lab_server_pause);
}

int lab_sut_resume(struct lab_sut *s)
{
	return each_node(s, lab_server_resume);
}

int lab_sut_step_wall(struct lab_sut *s, int64_t ms)
{
	for (size_t i = 0; i < s->n_nodes; i++)
		if (lab_server_step_wall(s->nodes[i], ms) < 0)
			return -1;
	return 0;
}
