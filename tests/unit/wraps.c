/* SPDX-License-Identifier: Apache-2.0 */
/* What the cases of this program let fail. */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/fault.h"

FAULT_WRAP(void *, NULL, calloc, (size_t n, size_t size), (n, size))
FAULT_WRAP(void *, NULL, malloc, (size_t size), (size))
FAULT_WRAP(int, errno, pthread_create,
	   (pthread_t * out, const pthread_attr_t *attr, void *(*run)(void *),
	    void *arg),
	   (out, attr, run, arg))
FAULT_WRAP(int, -1, fstat, (int fd, struct stat *out), (fd, out))
FAULT_WRAP(ssize_t, -1, read, (int fd, void *out, size_t size), (fd, out, size))
