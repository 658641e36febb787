/* SPDX-License-Identifier: Apache-2.0 */
/* Undo the effects of earlier trials on a system under test. */
#include "lab/base/fail.h"
#include "lab/scenarios/sut.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ROOM 65536

/* Full disks take names, and no bytes. */
int lab_room(const char *dir)
{
	static const char bytes[ROOM] = { 0 };
	char path[600];
	ssize_t n = -1;
	int error;
	int fd;

	snprintf(path, sizeof(path), "%.580s/room-XXXXXX", dir);
	fd = mkostemp(path, O_CLOEXEC);
	errno = fd < 0 ? errno : ENOSPC;
	if (fd >= 0)
		n = write(fd, bytes, sizeof(bytes));
	error = errno;
	if (fd >= 0) {
		close(fd);
		unlink(path);
	}
	return n == ROOM ? 0 :
			   lab_fail("nothing can be written to %s: %s", dir,
				    strerror(error));
}

/* Running, on time, and reached without faults. */
static int mend_servers(struct lab_sut *s)
{
	for (size_t i = 0; i < s->n_nodes; i++) {
		struct lab_server *node = s->nodes[i];
		bool alive = lab_server_alive(node);

		if (s->proxies[i])
			lab_proxy_heal(s->proxies[i]);
		if (s->wall && lab_server_step_wall(node, 0) < 0)
			return -1;
		if (alive && lab_server_resume(node) < 0)
			return -1;
		if (!alive && lab_server_restart(node, true) < 0)
			return -1;
	}
	return s->kind->wait ? s->kind->wait(s) : 0;
}

/* Take all servers down before the first comes up: a server still up would tell
 * the others the data that they are to forget. */
static int start_afresh(struct lab_sut *s)
{
	if (lab_sut_kill(s) < 0)
		return -1;
	for (size_t i = 0; i < s->n_nodes; i++)
		if (lab_server_restart(s->nodes[i], false) < 0)
			return -1;
	return s->kind->wait ? s->kind->wait(s) : 0;
}

static int reset_servers(struct lab_sut *s)
{
	if (mend_servers(s) == 0 &&
	    (!s->kind->as_started || s->kind->as_started(s) == 0))
		return 0;
	if (start_afresh(s) < 0)
		return -1;
	return s->kind->as_started ? s->kind->as_started(s) : 0;
}

int lab_sut_reset(struct lab_sut *s)
{
	for (size_t i = 0; i < s->n_uses; i++)
		if (reset_servers(s->uses[i]) < 0)
			return -1;
	return *s->files ? lab_room(s->files) : 0;
}
