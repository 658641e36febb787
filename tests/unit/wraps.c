/* SPDX-License-Identifier: Apache-2.0 */
/* What the cases of this program let fail. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/fault.h"

FAULT_WRAP(void *, NULL, calloc, (size_t n, size_t size), (n, size))
FAULT_WRAP(void *, NULL, malloc, (size_t size), (size))
FAULT_WRAP(int, errno, pthread_create,
	   (pthread_t * out, const pthread_attr_t *attr, void *(*run)(void *),
	    void *arg),
	   (out, attr, run, arg))
FAULT_WRAP(int, -1, socket, (int family, int type, int protocol),
	   (family, type, protocol))
FAULT_WRAP(int, -1, getsockopt,
	   (int fd, int level, int name, void *value, socklen_t *len),
	   (fd, level, name, value, len))
FAULT_WRAP(int, -1, setsockopt,
	   (int fd, int level, int name, const void *value, socklen_t len),
	   (fd, level, name, value, len))
FAULT_WRAP(ssize_t, -1, send, (int fd, const void *data, size_t len, int flags),
	   (fd, data, len, flags))
FAULT_WRAP(ssize_t, -1, recv, (int fd, void *data, size_t size, int flags),
	   (fd, data, size, flags))
FAULT_WRAP(int, -1, fstat, (int fd, struct stat *out), (fd, out))
FAULT_WRAP(ssize_t, -1, read, (int fd, void *out, size_t size), (fd, out, size))

int __real_connect(int fd, const struct sockaddr *to, socklen_t len);
int __wrap_connect(int fd, const struct sockaddr *to, socklen_t len);

/* An interrupted connect of TCP goes on. */
int __wrap_connect(int fd, const struct sockaddr *to, socklen_t len)
{
	int errnum;

	if (!fault_hits("connect"))
		return __real_connect(fd, to, len);
	errnum = errno;
	if (errnum == EINTR && to->sa_family != AF_UNIX)
		(void)__real_connect(fd, to, len);
	errno = errnum;
	return -1;
}

int __real_fcntl(int fd, int command, ...);
int __wrap_fcntl(int fd, int command, ...);

int __wrap_fcntl(int fd, int command, ...)
{
	va_list args;
	int arg;

	va_start(args, command);
	arg = va_arg(args, int);
	va_end(args);
	return fault_hits("fcntl") ? -1 : __real_fcntl(fd, command, arg);
}
