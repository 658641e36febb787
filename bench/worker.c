/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/worker.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define PATIENCE_S 30
#define PATIENCE_NS (PATIENCE_S * 1000 * BENCH_MS)

void worker_order(struct workers *w, unsigned int i, enum worker_order order,
		  int which)
{
	struct worker_message m = { order, which };

	if (send(w->fd[i], &m, sizeof(m), MSG_NOSIGNAL) != sizeof(m))
		bench_fail("a worker is gone");
}

void worker_answer(struct workers *w, unsigned int i)
{
	char answer;

	if (recv(w->fd[i], &answer, 1, 0) != 1)
		bench_fail("a worker does not answer");
}

void workers_order(struct workers *w, enum worker_order order, int which)
{
	for (unsigned int i = 0; i < w->n; i++)
		worker_order(w, i, order, which);
	for (unsigned int i = 0; i < w->n; i++)
		worker_answer(w, i);
}

void workers_await(struct workers *w, uint64_t count)
{
	int64_t until = bench_now() + PATIENCE_NS;

	while (atomic_load(&w->shared->count) < count) {
		bench_wait(until, "a hand-off is missing");
		bench_sleep(50000);
	}
}

/* ---- Beginning and end --------------------------------------------------- */

static void *thread_main(void *arg)
{
	struct workers *w = arg;

	worker_run(w, 0, w->thread_fd);
	return NULL;
}

static void start_worker(struct workers *w, unsigned int i)
{
	const struct timeval patience = { PATIENCE_S, 0 };
	pid_t parent = getpid();
	int fd[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fd) != 0)
		bench_fail("socketpair: %s", strerror(errno));
	setsockopt(fd[0], SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	w->fd[i] = fd[0];
	if (w->store->desc->one_process) {
		w->thread_fd = fd[1];
		bench_thread(&w->thread, thread_main, w);
		return;
	}
	w->pid[i] = fork();
	if (w->pid[i] < 0)
		bench_fail("fork: %s", strerror(errno));
	if (w->pid[i] == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (getppid() == parent)
			worker_run(w, i, fd[1]);
		_exit(0);
	}
	close(fd[1]);
}

void workers_start(struct workers *w, unsigned int n)
{
	w->shared = bench_shared(sizeof(*w->shared));
	for (w->n = 0; w->n < n; w->n++)
		start_worker(w, w->n);
}

void worker_kill(struct workers *w, unsigned int i)
{
	kill(w->pid[i], SIGKILL);
	waitpid(w->pid[i], NULL, 0);
	w->pid[i] = 0;
}

static void reap(pid_t pid)
{
	int64_t until = bench_now() + PATIENCE_NS;
	int status;

	while (waitpid(pid, &status, WNOHANG) == 0) {
		bench_wait(until, "a worker does not end");
		bench_sleep(BENCH_MS);
	}
	if (status != 0)
		bench_fail("a worker failed");
}

void workers_end(struct workers *w)
{
	atomic_store(&w->shared->stop, 1);
	for (unsigned int i = 0; i < w->n; i++)
		if (w->pid[i] || w->store->desc->one_process)
			worker_order(w, i, WORKER_END, 0);
	for (unsigned int i = 0; i < w->n; i++) {
		if (w->pid[i])
			reap(w->pid[i]);
		else if (w->store->desc->one_process)
			pthread_join(w->thread, NULL);
		close(w->fd[i]);
	}
	munmap(w->shared, sizeof(*w->shared));
}
