/* SPDX-License-Identifier: Apache-2.0 */
#include "lab/history/resource.h"
#include "lab/base/fail.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define PLACES (1U << 20)

/* The accepted tokens in order, followed by zeroes.  The last token is the
 * largest, so to accept a write is to put the token behind the last. */
struct lab_resource {
	atomic_uint_least64_t refused;
	atomic_uint_least64_t hint; /* no zero before this place */
	atomic_uint_least64_t tokens[PLACES];
};

static int open_file(const char *dir, const char *name)
{
	char path[4096];
	size_t len;
	int fd;

	len = (size_t)snprintf(path, sizeof(path), "%s/", dir);
	for (const char *c = name; *c && len < sizeof(path) - 16; c++)
		len += (size_t)snprintf(path + len, sizeof(path) - len,
					isalnum((unsigned char)*c) ? "%c" :
								     "%%%02x",
					(unsigned char)*c);
	snprintf(path + len, sizeof(path) - len, ".resource");
	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (fd >= 0 && ftruncate(fd, sizeof(struct lab_resource)) < 0) {
		close(fd);
		fd = -1;
	}
	if (fd < 0)
		return lab_fail("%s: %s", path, strerror(errno));
	return fd;
}

struct lab_resource *lab_resource_open(const char *dir, const char *name)
{
	int fd = open_file(dir, name);
	void *map;

	if (fd < 0)
		return NULL;
	map = mmap(NULL, sizeof(struct lab_resource), PROT_READ | PROT_WRITE,
		   MAP_SHARED, fd, 0);
	close(fd);
	if (map == MAP_FAILED) {
		lab_fail("mmap: %s", strerror(errno));
		return NULL;
	}
	return map;
}

void lab_resource_close(struct lab_resource *r)
{
	if (r)
		munmap(r, sizeof(*r));
}

int lab_resource_write(struct lab_resource *r, uint64_t token,
		       struct lab_written *v)
{
	uint64_t place = atomic_load(&r->hint);
	uint64_t seen;

	memset(v, 0, sizeof(*v));
	v->largest = place ? atomic_load(&r->tokens[place - 1]) : 0;
	for (; place < PLACES; place++) {
		seen = atomic_load(&r->tokens[place]);
		if (!seen && token < v->largest) {
			atomic_fetch_add(&r->refused, 1);
			v->place = place;
			return 0;
		}
		if (!seen && atomic_compare_exchange_strong(&r->tokens[place],
							    &seen, token)) {
			v->accepted = true;
			v->place = place;
			/* The hint may go back after a slow write: other
			 * writers then take a few steps more. */
			atomic_store(&r->hint, place + 1);
			return 0;
		}
		v->largest = seen;
	}
	return lab_fail("the resource has no room for more writes");
}

uint64_t lab_resource_refused(const struct lab_resource *r)
{
	return atomic_load(&r->refused);
}
