/* SPDX-License-Identifier: Apache-2.0 */
/* Every outcome of every survey of up to three addresses, against the rules. */
#include <criterion/criterion.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "core/net/endpoint.h"

enum { MOST = 3, HOME_PORT = 9, STEPS = 12 };

/* At an address: which server answers, or why not. */
enum outcome { A, B, HOME, REFUSES, SILENT, NO_ROUTE, OUTCOMES };

static const char *const identities[] = { "a", "b", "home" };

/* Where home was: there is no home yet; at an address without a server now; or
 * at the first address of the name. */
enum home { NO_HOME, HOME_HAS_GONE, HOME_IS_FIRST, HOMES };

static struct dlki_endpoint p;
static enum outcome outcomes[MOST];
static size_t n;
static enum home home;

static struct dlki_address at_port(int port)
{
	struct dlki_address a;

	dlki_address_tcp(&a, "192.0.2.1", (uint16_t)port);
	return a;
}

static int has_home(void)
{
	return home != NO_HOME;
}

static int any(enum outcome o)
{
	for (size_t i = 0; i < n; i++) {
		if (outcomes[i] == o)
			return 1;
	}
	return 0;
}

/* ---- The rules ----------------------------------------------------------- */

/* The identity of the next home, or NULL and the code. */
static const char *expected(int *code)
{
	*code = DLOCK_EUNREACHABLE;
	if (has_home() && any(HOME))
		return "home";
	if (any(A) + any(B) + any(HOME) > 1) {
		*code = has_home() ? DLOCK_EUNREACHABLE : DLOCK_EINVAL;
		return NULL;
	}
	if (any(REFUSES) || any(SILENT) ||
	    (home == HOME_IS_FIRST && outcomes[0] == NO_ROUTE))
		return NULL;
	for (int o = A; o <= HOME; o++) {
		if (any((enum outcome)o))
			return identities[o];
	}
	return NULL;
}

/* ---- The endpoint -------------------------------------------------------- */

static void begin(void)
{
	const struct dlki_place place = { .host = "h.test", .port = 1 };
	struct dlk_error err;

	cr_assert_eq(dlki_endpoint_init(&p, &place, "HI", &err), 0);
	if (!has_home())
		return;
	snprintf(p.home, sizeof(p.home), "home");
	p.home_at = at_port(home == HOME_IS_FIRST ? 1 : HOME_PORT);
	dlki_endpoint_lost(&p);
}

static void find_addresses(void)
{
	struct dlki_found found = { .n = n };

	for (size_t i = 0; i < n; i++)
		found.v[i] = at_port(1 + (int)i);
	dlki_endpoint_found(&p, &found);
}

static enum outcome outcome_at(const struct dlki_address *a)
{
	int port = ntohs(a->to.in.sin_port);

	return port == HOME_PORT ? REFUSES : outcomes[port - 1];
}

static enum dlki_verdict try_address(struct dlki_met *m)
{
	static const int errors[] = {
		[REFUSES] = ECONNREFUSED, [NO_ROUTE] = ENETUNREACH
	};
	const struct dlk_error why = { DLOCK_EUNREACHABLE, "missed" };
	enum outcome o = outcome_at(&m->at);

	if (o <= HOME) {
		snprintf(m->identity, sizeof(m->identity), "%s", identities[o]);
		return dlki_endpoint_met(&p, m);
	}
	if (o != SILENT)
		m->refused_by = errors[o];
	dlki_endpoint_missed(&p, m, &why);
	return DLKI_GO_ON;
}

/* The identity of home then, or NULL. */
static const char *run(void)
{
	for (int i = 0; i < STEPS; i++) {
		struct dlki_met m = { .is_judged = 0 };
		enum dlki_verdict verdict = DLKI_GO_ON;

		if (dlki_endpoint_next(&p, &m.at) == DLKI_CONNECT)
			verdict = try_address(&m);
		else
			find_addresses();
		if (verdict != DLKI_GO_ON) {
			cr_assert_eq(verdict == DLKI_MOVED, p.epoch == 1);
			return p.home;
		}
		if (p.phase == DLKI_OVER)
			return NULL;
	}
	cr_assert_fail("no end");
	return NULL;
}

static void try_outcomes(void)
{
	const char *is, *wanted;
	char text[100];
	int code;

	begin();
	wanted = expected(&code);
	is = run();
	snprintf(text, sizeof(text), "home %d, %zu addresses: %d %d %d",
		 (int)home, n, (int)outcomes[0], (int)outcomes[1],
		 (int)outcomes[2]);
	cr_assert_eq(is == NULL, wanted == NULL, "%s: %s, not %s", text,
		     is ? is : p.why.text, wanted ? wanted : "nothing");
	if (!is) {
		cr_assert_eq(p.why.code, code, "%s: %s", text, p.why.text);
	} else {
		cr_assert_str_eq(is, wanted, "%s", text);
		cr_assert_eq(p.epoch,
			     has_home() && strcmp(wanted, "home") != 0);
	}
	dlki_endpoint_free(&p);
}

static void try_all(size_t i)
{
	if (i == n) {
		try_outcomes();
		return;
	}
	for (int o = 0; o < OUTCOMES; o++) {
		outcomes[i] = (enum outcome)o;
		try_all(i + 1);
	}
}

Test(survey, a_server_becomes_home_only_by_the_rules)
{
	for (int h = 0; h < HOMES; h++) {
		for (n = 1; n <= MOST; n++) {
			home = (enum home)h;
			try_all(0);
		}
	}
}
