/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The guarded resource: the thing that a lock protects.  A register, shared by
 * processes, that accepts a write only with a token not smaller than the
 * largest accepted token.
 *
 * The decision takes no lock: a writer that is stopped or killed in the middle
 * of a write does not keep others from writing.
 */
#ifndef DLOCK_LAB_RESOURCE_H
#define DLOCK_LAB_RESOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct lab_resource;

struct lab_written {
	bool accepted;
	uint64_t place;   /* how many writes had been accepted before */
	uint64_t largest; /* the largest accepted token, or 0 */
};

/* Open, or make, the resource called `name` in `dir`. */
struct lab_resource *lab_resource_open(const char *dir, const char *name);
void lab_resource_close(struct lab_resource *r);

/* Offer a write.  `token` is not 0.  -1: a million writes were accepted, and
 * there is no room for more. */
int lab_resource_write(struct lab_resource *r, uint64_t token,
		       struct lab_written *verdict);

uint64_t lab_resource_refused(const struct lab_resource *r);

#endif
