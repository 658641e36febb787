/* SPDX-License-Identifier: Apache-2.0 */
#include "core/base/process.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <unistd.h>

/* A page that the kernel empties in a forked child.  It also shows a raw
 * clone(), which runs no pthread_atfork handler.  On a kernel that cannot do
 * that, every call asks for the process id. */
static _Atomic uint64_t *marker;
static pthread_once_t marker_once = PTHREAD_ONCE_INIT;

static void marker_init(void)
{
	size_t size = (size_t)sysconf(_SC_PAGESIZE);
	void *page = mmap(NULL, size, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (page == MAP_FAILED)
		return;
	if (madvise(page, size, MADV_WIPEONFORK) != 0) {
		munmap(page, size);
		return;
	}
	marker = page;
}

uint64_t dlki_process(void)
{
	uint64_t mark;
	uint64_t fresh;

	pthread_once(&marker_once, marker_init);
	if (!marker)
		return (uint64_t)getpid();
	mark = atomic_load_explicit(marker, memory_order_acquire);
	if (mark != 0)
		return mark;
	/* The time tells a child from an ancestor of the same pid. */
	fresh = (uint64_t)getpid() << 32 |
		((uint64_t)dlk_now() / 1000 & 0xffffffffu) | 1;
	if (atomic_compare_exchange_strong(marker, &mark, fresh))
		return fresh;
	return mark;
}

uint64_t dlki_thread_serial(void)
{
	static _Atomic uint64_t last;
	static _Thread_local uint64_t mine;

	if (mine == 0)
		mine = atomic_fetch_add(&last, 1) + 1;
	return mine;
}

/* The rest of the text is not set: filling it with zeroes takes as long as a
 * mutex, and so does a copy, which the address of a member would cost. */
struct dlki_scope dlki_enter(void)
{
	struct dlki_scope scope;
	int state;

	scope.errnum = errno;
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
	scope.cancel_state = state;
	scope.err.code = DLOCK_OK;
	scope.err.text[0] = '\0';
	return scope;
}

void dlki_leave(struct dlki_scope *scope)
{
	pthread_setcancelstate(scope->cancel_state, &scope->cancel_state);
	errno = scope->errnum;
}

int dlk_thread(pthread_t *out, const char *name, void *(*run)(void *arg),
	       void *arg)
{
	sigset_t all;
	sigset_t old;
	char cut[16];
	size_t n;
	int rc;

	for (n = 0; n + 1 < sizeof(cut) && name[n] != '\0'; n++)
		cut[n] = name[n];
	cut[n] = '\0';
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	rc = pthread_create(out, NULL, run, arg);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (rc == 0)
		pthread_setname_np(*out, cut);
	return rc;
}
