/* SPDX-License-Identifier: Apache-2.0 */
#include "redis/rule.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/check.h"

static const char begin[] = "ACL SETUSER ";

/* In a paragraph of its own, over several lines: "ACL SETUSER dlock reset on
 * >PASSWORD ~dlock:* ..." */
static void read_rule(char *rule, size_t size)
{
	FILE *f = fopen(REDIS_DOC, "re");
	char line[512];
	size_t len = 0;
	int inside = 0;

	if (!f)
		FAIL("no %s", REDIS_DOC);
	*rule = '\0';
	while (fgets(line, sizeof(line), f)) {
		char *at = inside ? line : strstr(line, begin);

		if (!at)
			continue;
		if (inside && line[strspn(line, " \t")] == '\n')
			break;
		if (inside && strncmp(line, "```", 3) == 0)
			break;
		inside = 1;
		for (char *w = strtok(at, " \t\n\\"); w;
		     w = strtok(NULL, " \t\n\\"))
			len += (size_t)snprintf(rule + len, size - len, "%s ",
						w);
	}
	fclose(f);
	CHECK(len > 0 && len < size);
}

const char *least_rule(const char *user, const char *password)
{
	static char out[2048];
	char rule[1536];
	char *at, *rest;

	read_rule(rule, sizeof(rule));
	at = rule + sizeof(begin) - 1;
	rest = strchr(at, ' ');
	at = rest ? strchr(rest, '>') : NULL;
	if (!at || !strchr(at, ' '))
		FAIL("no user and password in the rule: %s", rule);
	*at = '\0';
	snprintf(out, sizeof(out), "%s%s%s>%s%s", begin, user, rest, password,
		 strchr(at + 1, ' '));
	return out;
}
