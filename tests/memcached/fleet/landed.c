/* SPDX-License-Identifier: Apache-2.0 */
/* Applications store keys; the lock of a key's name is on the same server. */
#include <libmemcached/memcached.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "memcached/fleet/three.h"

#define NAMES 60

TestSuite(memcached_landed, .timeout = 240);

static struct fleet f;

/* Each name is a key on a single server: the lock of the name must be there,
 * and on no other server. */
static void expect_beside(const struct fleet *f, const char *query)
{
	dlock_client *c = client(f, query);

	for (int n = 0; n < NAMES; n++) {
		int keys = 0;
		dlock_hold *h;
		char name[20];

		snprintf(name, sizeof(name), "app%d", n);
		h = take(mutex(c, name));
		for (size_t i = 0; i < FLEET; i++) {
			int key = has_item(f->servers[i], name);

			keys += key;
			if (has_lock(f->servers[i], name) != key)
				FAIL("%s: %s: server %zu", query, name, i);
		}
		CHECK_INT(keys, ==, 1);
		give(h);
	}
}

static void store_all(memcached_st *app)
{
	for (int n = 0; n < NAMES; n++) {
		memcached_return_t rc;
		char name[20];

		snprintf(name, sizeof(name), "app%d", n);
		rc = memcached_set(app, name, strlen(name), "v", 1, 0, 0);
		if (rc != MEMCACHED_SUCCESS)
			FAIL("%s", memcached_last_error_message(app));
	}
	memcached_free(app);
}

static memcached_st *application(const struct fleet *f)
{
	memcached_st *app = memcached_create(NULL);

	for (size_t i = 0; i < FLEET; i++)
		CHECK_INT(memcached_server_add(app, "127.0.0.1",
					       (in_port_t)f->servers[i]->port),
			  ==, MEMCACHED_SUCCESS);
	return app;
}

CASE(memcached_landed, of_libmemcached_by_modula)
{
	fleet_begin(&f, NULL);
	store_all(application(&f));
	expect_beside(&f, "");
}

/* ---- Other languages ----------------------------------------------------- */

TestSuite(memcached_languages, .timeout = 240);

/* Run a program with the ports and NAMES as arguments; 77: the language has no
 * client of memcached here. */
static void run(const struct fleet *f, const char *program)
{
	char command[2048];
	int rc;

	snprintf(command, sizeof(command), "%s %d %d %d %d 2>&1", program,
		 f->servers[0]->port, f->servers[1]->port, f->servers[2]->port,
		 NAMES);
	rc = system(command);
	if (rc == 77 << 8 || rc == 127 << 8)
		FAIL("no client of memcached: apt-get install php-cli "
		     "php-memcached python3-pylibmc");
	CHECK_INT(rc, ==, 0);
}

#define PHP_STORE(options)                                                     \
	"php -r 'if (!class_exists(\"Memcached\")) exit(77);"                  \
	"$m = new Memcached(); " options "for ($i = 1; $i < 4; $i++) "         \
	"$m->addServer(\"127.0.0.1\", (int)$argv[$i]);"                        \
	"for ($i = 0; $i < (int)$argv[4]; $i++) "                              \
	"if (!$m->set(\"app$i\", \"v\")) exit(1);' --"

CASE(memcached_languages, of_php)
{
	fleet_begin(&f, NULL);
	run(&f, PHP_STORE(""));
	expect_beside(&f, "");
}

CASE(memcached_languages, of_php_that_is_compatible_with_libketama)
{
	fleet_begin(&f, NULL);
	run(&f, PHP_STORE("$m->setOption(Memcached::OPT_LIBKETAMA_COMPATIBLE,"
			  " true);"));
	expect_beside(&f, "distribution=ketama_weighted");
}

#define PYTHON_STORE(behaviors)                                                \
	"/usr/bin/python3 -c 'import sys\n"                                    \
	"try:\n import pylibmc\n"                                              \
	"except ImportError:\n sys.exit(77)\n"                                 \
	"m = pylibmc.Client([\"127.0.0.1:\" + p for p in sys.argv[1:4]],"      \
	" behaviors={" behaviors "})\n"                                        \
	"for i in range(int(sys.argv[4])):\n m.set(\"app%d\" % i, \"v\")'"

CASE(memcached_languages, of_pylibmc)
{
	fleet_begin(&f, NULL);
	run(&f, PYTHON_STORE(""));
	expect_beside(&f, "");
}

CASE(memcached_languages, of_pylibmc_by_ketama)
{
	fleet_begin(&f, NULL);
	run(&f, PYTHON_STORE("\"hash\": \"md5\", \"ketama\": True"));
	expect_beside(&f, "distribution=ketama&hash=md5");
}
