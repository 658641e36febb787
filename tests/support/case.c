/* SPDX-License-Identifier: Apache-2.0 */
#include "support/case.h"

#include <pthread.h>
#include <string.h>

#include "support/check.h"

enum { MOST = 4096 };

static pthread_mutex_t mu = PTHREAD_MUTEX_INITIALIZER;
static struct {
	void (*end)(void *);
	void *what;
} things[MOST];
static int n, running;

void case_begin(void)
{
	running = 1;
}

void case_begin_child(void)
{
	n = 0;
	running = 1;
}

void at_end(void (*end)(void *), void *what)
{
	if (!running)
		return;
	pthread_mutex_lock(&mu);
	CHECK_INT(n, <, MOST);
	things[n].end = end;
	things[n++].what = what;
	pthread_mutex_unlock(&mu);
}

/* Forgets the thing, and returns the function for the end. No pointer to the
 * thing may stay here, or a sanitizer would not see a leak. */
static void (*let_go_of(const void *what))(void *)
{
	void (*end)(void *);
	int i;

	pthread_mutex_lock(&mu);
	for (i = n - 1; i >= 0 && things[i].what != what; i--)
		continue;
	CHECK_INT(i, >=, 0);
	end = things[i].end;
	n--;
	memmove(&things[i], &things[i + 1],
		(size_t)(n - i) * sizeof(things[0]));
	things[n].what = NULL;
	pthread_mutex_unlock(&mu);
	return end;
}

void not_at_end(const void *what)
{
	(void)let_go_of(what);
}

void end_now(void *what)
{
	let_go_of(what)(what);
}

void case_end(void)
{
	while (n > 0)
		end_now(things[n - 1].what);
	running = 0;
}
