/* SPDX-License-Identifier: Apache-2.0 */
/* The proxy's state: the lock, the addresses, the counts. */
#include "lab/base/clock.h"
#include "lab/base/fail.h"
#include "lab/proxy/impl.h"

#include <errno.h>
#include <time.h>
#include <unistd.h>

static void wake(struct lab_proxy *p)
{
	uint64_t one = 1;

	/* Full is as good as written. */
	if (write(p->wake, &one, sizeof(one)) < 0)
		return;
}

void lab_proxy_lock(struct lab_proxy *p)
{
	pthread_mutex_lock(&p->lock);
}

/* The kernel keeps a closed socket while a thread polls it: no change has taken
 * effect before the loop has turned once more. */
void lab_proxy_unlock(struct lab_proxy *p)
{
	uint64_t turn = p->turns;

	wake(p);
	while (p->turns == turn && !p->over)
		pthread_cond_wait(&p->counted, &p->lock);
	pthread_mutex_unlock(&p->lock);
}

int lab_proxy_listen(struct lab_proxy *p)
{
	struct lab_address at = { p->port };

	p->listener = lab_listen(&at);
	return p->listener < 0 ? -1 : 0;
}

int lab_proxy_port(const struct lab_proxy *p)
{
	return p->port;
}

uint64_t lab_proxy_stat(struct lab_proxy *p, enum lab_proxy_stat which)
{
	uint64_t n;

	pthread_mutex_lock(&p->lock);
	n = p->stats[which];
	pthread_mutex_unlock(&p->lock);
	return n;
}

int lab_proxy_wait(struct lab_proxy *p, enum lab_proxy_stat which, uint64_t n,
		   int64_t timeout_ms)
{
	struct timespec until;
	uint64_t now;
	int rc = 0;

	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_sec += timeout_ms / 1000;
	until.tv_nsec += timeout_ms % 1000 * LAB_MS;
	if (until.tv_nsec >= 1000 * LAB_MS) {
		until.tv_sec++;
		until.tv_nsec -= 1000 * LAB_MS;
	}
	pthread_mutex_lock(&p->lock);
	while (p->stats[which] < n && rc != ETIMEDOUT)
		rc = pthread_cond_timedwait(&p->counted, &p->lock, &until);
	now = p->stats[which];
	pthread_mutex_unlock(&p->lock);
	if (now >= n)
		return 0;
	return lab_fail("the proxy saw %llu, not %llu", (unsigned long long)now,
			(unsigned long long)n);
}
