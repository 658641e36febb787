/* SPDX-License-Identifier: Apache-2.0 */
/* The system's functions, for the scheduler and the wraps. */
#ifndef DLOCK_SIM_PROCESS_REAL_H
#define DLOCK_SIM_PROCESS_REAL_H

#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <sys/epoll.h>

#define REAL(name) __asm__("__real_" name)

int real_mutex_lock(pthread_mutex_t *mu) REAL("pthread_mutex_lock");
int real_mutex_trylock(pthread_mutex_t *mu) REAL("pthread_mutex_trylock");
int real_mutex_unlock(pthread_mutex_t *mu) REAL("pthread_mutex_unlock");
int real_cond_wait(pthread_cond_t *c, pthread_mutex_t *mu)
	REAL("pthread_cond_wait");
int real_cond_timedwait(pthread_cond_t *c, pthread_mutex_t *mu,
			const struct timespec *until)
	REAL("pthread_cond_timedwait");
int real_cond_signal(pthread_cond_t *c) REAL("pthread_cond_signal");
int real_cond_broadcast(pthread_cond_t *c) REAL("pthread_cond_broadcast");
int real_create(pthread_t *out, const pthread_attr_t *attr,
		void *(*run)(void *), void *arg) REAL("pthread_create");
int real_join(pthread_t thread, void **result) REAL("pthread_join");
int real_poll(struct pollfd *fds, nfds_t n, int ms) REAL("poll");
int real_epoll_wait(int fd, struct epoll_event *events, int room, int ms)
	REAL("epoll_wait");
int real_epoll_pwait2(int fd, struct epoll_event *events, int room,
		      const struct timespec *ts, const sigset_t *mask)
	REAL("epoll_pwait2");
ssize_t real_recv(int fd, void *to, size_t size, int flags) REAL("recv");
int real_epoll_ctl(int fd, int what, int of, struct epoll_event *event)
	REAL("epoll_ctl");
int real_eventfd_write(int fd, uint64_t value) REAL("eventfd_write");
ssize_t real_getrandom(void *to, size_t size, unsigned int flags)
	REAL("getrandom");

#endif
