/* SPDX-License-Identifier: Apache-2.0 */
#include "server.h"

#include "lab/base/fail.h"

#include <criterion/criterion.h>
#include <signal.h>
#include <unistd.h>

struct lab_server *redis(const struct lab_redis_options *options)
{
	struct lab_server *s = lab_redis_start(options);

	cr_assert(s, "%s", lab_errmsg());
	return s;
}

void expect(struct lab_server *s, const char *command, const char *reply)
{
	char text[1024] = "";

	cr_assert_eq(lab_redis_do(s, text, sizeof(text), "%s", command), 0,
		     "%s: %s", command, lab_errmsg());
	cr_expect_str_eq(text, reply, "%s: %s", command, text);
}

int process_gone(void *pid)
{
	return kill(*(pid_t *)pid, 0) < 0;
}

int path_gone(void *path)
{
	return access(path, F_OK) < 0;
}
