/* SPDX-License-Identifier: Apache-2.0 */
#include "memcached/fleet/three.h"

#include <stdio.h>
#include <string.h>

#include "memcached/fleet/pools.h"
#include "memcached/support.h"

static void end_pool(void *pool)
{
	dlki_memc_pool_free(pool);
}

/* Opening waits for a server that is young.  The prefix keeps the pool of this
 * client apart. */
static void await_grants(const struct fleet *f, size_t i)
{
	dlock_client *c = NULL;
	char uri[100];

	snprintf(uri, sizeof(uri), "memcached://127.0.0.1:%d/?prefix=await",
		 f->servers[i]->port);
	CHECK_OK(dlock_open(&c, uri, NULL));
	dlock_close(c);
}

void fleet_begin(struct fleet *f, const struct lab_memcached_options *o)
{
	memset(f, 0, sizeof(*f));
	for (size_t i = 0; i < FLEET; i++)
		f->servers[i] = server_of_case(lab_memcached_start(o));
	snprintf(
		f->uri, sizeof(f->uri),
		"memcached://127.0.0.1:%d,127.0.0.1:%d,127.0.0.1:%d/?ask=500ms",
		f->servers[0]->port, f->servers[1]->port, f->servers[2]->port);
	f->pool = pool_of(f->uri);
	at_end(end_pool, f->pool);
	for (size_t i = 0; i < FLEET; i++)
		await_grants(f, i);
}

dlock_client *client(const struct fleet *f, const char *query)
{
	char uri[400];

	snprintf(uri, sizeof(uri), "%s%s%s", f->uri, query[0] ? "&" : "",
		 query);
	return client_of_case(uri, NULL);
}

const char *name_on(const struct fleet *f, size_t i)
{
	static char name[16];
	int n = 0;

	do
		snprintf(name, sizeof(name), "job%d", n++);
	while (dlki_memc_pool_place(f->pool, name) != i);
	return name;
}

int has_item(struct lab_server *s, const char *key)
{
	char line[200], reply[4096];

	snprintf(line, sizeof(line), "get %s", key);
	CHECK_INT(lab_memcached_do(s, reply, sizeof(reply), line), ==, 0);
	return strstr(reply, "VALUE ") != NULL;
}

int has_lock(struct lab_server *s, const char *name)
{
	const struct scene scene = { .server = s };
	char key[40];

	snprintf(key, sizeof(key), "ln%s", name);
	return has_item(s, key_of(&scene, key));
}
