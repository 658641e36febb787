/* SPDX-License-Identifier: Apache-2.0 */
#include "backends/memcached/pool/options.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "backends/memcached/pool/pool.h"

#define DIGITS "0123456789"
#define MEMC_PORT 11211 /* libmemcached's default */

/* ---- Numbers ------------------------------------------------------------- */

/* Parse the number at the beginning of the text, of at most 5 digits; -1:
 * none. */
static long number_at(const char *text, const char **end)
{
	size_t n = strspn(text, DIGITS);

	*end = text + n;
	return n > 0 && n <= 5 ? strtol(text, NULL, 10) : -1;
}

static int weight_flaw(long weight, struct dlk_error *err)
{
	if (weight >= 1 && weight <= MEMC_WEIGHT_MAX)
		return 0;
	return dlk_fail(err, DLOCK_EINVAL,
			"memcached: a server's weight must be a number from 1 "
			"to %d",
			MEMC_WEIGHT_MAX);
}

int dlki_memc_weights_parse(const char *text, uint32_t *weights, size_t n,
			    struct dlk_error *err)
{
	size_t i = 0;

	for (;;) {
		long weight = number_at(text, &text);
		int rc = weight_flaw(weight, err);

		if (rc != 0)
			return rc;
		if (i < n)
			weights[i] = (uint32_t)weight;
		i++;
		if (*text != ',')
			break;
		text++;
	}
	if (*text)
		return weight_flaw(-1, err);
	if (i != n)
		return dlk_fail(err, DLOCK_EINVAL,
				"memcached: %zu weights for %zu servers", i, n);
	return 0;
}

/* ---- Options of libmemcached --------------------------------------------- */

/* Check "host" or "host:port", either with "/?weight" behind.  libmemcached's
 * parser takes any five digits, and wraps them around. */
static int check_server(const char *server, struct dlk_error *err)
{
	const char *weight = strstr(server, "/?");
	const char *port = strchr(server, ':');
	long value = 1;

	if (port && (!weight || port < weight)) {
		value = number_at(port + 1, &port);
		if (value < 1 || value > 65535 || (*port && port != weight))
			return dlk_fail(err, DLOCK_EINVAL,
					"memcached: pool: '%.80s': the port "
					"must be a number from 1 to 65535",
					server);
	}
	if (!weight)
		return 0;
	value = number_at(weight + 2, &weight);
	return weight_flaw(*weight ? -1 : value, err);
}

enum fate { TAKEN, TAKEN_SERVER, TAKEN_SOCKET, MOVES, UNPLACED };

static const struct option {
	const char *name; /* ends in '=': a value follows */
	enum fate fate;
} known[] = {
	{ "--SERVER=", TAKEN_SERVER },
	{ "--SOCKET=", TAKEN_SOCKET },
	{ "--DISTRIBUTION=", TAKEN },
	{ "--HASH=", TAKEN },
	{ "--NAMESPACE=", TAKEN },
	{ "--HASH-WITH-NAMESPACE", TAKEN },
	{ "--SORT-HOSTS", TAKEN },
	{ "--BINARY-PROTOCOL", TAKEN },
	{ "--BUFFER-REQUESTS", TAKEN },
	{ "--CONNECT-TIMEOUT=", TAKEN },
	{ "--FETCH-VERSION", TAKEN },
	{ "--IO-BYTES-WATERMARK=", TAKEN },
	{ "--IO-KEY-PREFETCH=", TAKEN },
	{ "--IO-MSG-WATERMARK=", TAKEN },
	{ "--NOREPLY", TAKEN },
	{ "--POLL-TIMEOUT=", TAKEN },
	{ "--POOL-MAX=", TAKEN },
	{ "--POOL-MIN=", TAKEN },
	{ "--RCV-TIMEOUT=", TAKEN },
	{ "--RETRY-TIMEOUT=", TAKEN },
	{ "--SND-TIMEOUT=", TAKEN },
	{ "--SOCKET-RECV-SIZE=", TAKEN },
	{ "--SOCKET-SEND-SIZE=", TAKEN },
	{ "--SUPPORT-CAS", TAKEN },
	{ "--TCP-KEEPALIVE", TAKEN },
	{ "--TCP-KEEPIDLE", TAKEN },
	{ "--TCP-NODELAY", TAKEN },
	{ "--USE-UDP", TAKEN },
	{ "--VERIFY-KEY", TAKEN },
	{ "--REMOVE-FAILED-SERVERS=", MOVES },
	{ "--NUMBER-OF-REPLICAS=", UNPLACED },
	{ "--RANDOMIZE-REPLICA-READ", UNPLACED },
};

static const struct option *find(const char *word)
{
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		size_t n = strlen(known[i].name);

		if (strncasecmp(known[i].name, word, n) == 0 &&
		    (known[i].name[n - 1] == '=' || word[n] == '\0'))
			return &known[i];
	}
	return NULL;
}

static int check_word(const char *word, struct dlk_error *err)
{
	const struct option *o = find(word);
	const char *random = "--DISTRIBUTION=RANDOM";

	if (!o)
		return dlk_fail(err, DLOCK_EINVAL,
				"memcached: pool: '%.80s' is no option that "
				"says where a key is; options stand between "
				"single spaces, as in --SERVER=host:port",
				word);
	if (o->fate == MOVES)
		return dlk_fail(err, DLOCK_EINVAL,
				"memcached: pool: leave out '%.40s': a lock "
				"never moves to another server, as two clients "
				"would hold it",
				o->name);
	if (o->fate == UNPLACED)
		return dlk_fail(err, DLOCK_EINVAL,
				"memcached: pool: leave out '%.40s': a lock is "
				"on one server",
				o->name);
	if (strncasecmp(word, random, strlen(random)) == 0)
		return dlk_fail(err, DLOCK_EINVAL,
				"memcached: pool: the distribution 'random' "
				"keeps no name in one place");
	return o->fate == TAKEN_SERVER ?
		       check_server(word + strlen(o->name), err) :
		       0;
}

/* Does the word add this server?  Then `*behind` is the text behind the
 * name. */
static int adds(const char *word, const char *server, uint16_t port,
		const char **behind)
{
	const struct option *o = find(word);
	const char *at = o ? word + strlen(o->name) : word;
	size_t n = strlen(server);
	long its = MEMC_PORT;

	if (!o || (o->fate != TAKEN_SERVER && o->fate != TAKEN_SOCKET))
		return 0;
	at += *at == '"';
	if (strncmp(at, server, n) != 0)
		return 0;
	at += n;
	at += *at == '"';
	if (o->fate == TAKEN_SOCKET)
		its = 0;
	else if (*at == ':')
		its = number_at(at + 1, &at);
	*behind = at;
	return its == port && (*at == '\0' || *at == '/');
}

uint32_t dlki_memc_options_weight(const char *options, const char *server,
				  uint16_t port)
{
	char *copy = strdup(options), *rest = copy, *word;
	uint32_t weight = 1;
	const char *at;

	while (copy && (word = strsep(&rest, " ")) != NULL) {
		if (adds(word, server, port, &at) && at[0])
			weight = (uint32_t)strtoul(at + 2, NULL, 10);
	}
	free(copy);
	return weight;
}

int dlki_memc_options_check(const char *options, struct dlk_error *err)
{
	char *copy = strdup(options), *rest = copy, *word;
	int rc = 0;

	if (!copy)
		return dlk_fail(err, DLOCK_ENOMEM, "out of memory");
	while (rc == 0 && (word = strsep(&rest, " ")) != NULL)
		rc = check_word(word, err);
	free(copy);
	return rc;
}

/* ---- The URI ------------------------------------------------------------- */

int dlki_memc_pool_is(const struct dlk_uri *uri)
{
	return uri->n_hosts > 1 || dlk_param_given(uri, "pool");
}

static const char *const apart[] = { "distribution", "hash", "weights" };

static int check_apart(const struct dlk_uri *uri, struct dlk_error *err)
{
	for (size_t i = 0; i < sizeof(apart) / sizeof(apart[0]); i++) {
		if (dlk_param_given(uri, apart[i]))
			return dlk_fail(err, DLOCK_EINVAL,
					"memcached: 'pool' says all of it: "
					"leave out '%s'",
					apart[i]);
	}
	if (uri->n_hosts > 0 && uri->hosts[0].name[0])
		return dlk_fail(err, DLOCK_EINVAL,
				"memcached: 'pool' names the servers: write "
				"memcached:///?pool=...");
	return 0;
}

int dlki_memc_pool_check(const struct dlk_uri *uri, struct dlk_error *err)
{
	uint32_t weights[MEMC_MEMBERS];
	const char *text = dlk_param_text(uri, "weights");

	if (uri->path && uri->path[0] && uri->path[1])
		return dlk_fail(err, DLOCK_EINVAL,
				"memcached: a fleet has no parts; leave out "
				"the path '%.100s'",
				uri->path);
	if (dlk_param_given(uri, "pool"))
		return check_apart(uri, err);
	if (uri->n_hosts > MEMC_MEMBERS)
		return dlk_fail(err, DLOCK_EINVAL,
				"memcached: %zu servers; a fleet has at most "
				"%d",
				uri->n_hosts, MEMC_MEMBERS);
	if (!text)
		return 0;
	if (dlk_param_int(uri, "distribution") == MEMC_MODULA)
		return dlk_fail(err, DLOCK_EINVAL,
				"memcached: 'weights' means nothing to the "
				"distribution 'modula'");
	return dlki_memc_weights_parse(text, weights, uri->n_hosts, err);
}
