/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/real.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "lab/base/clock.h"
#include "lab/base/fail.h"
#include "support/check.h"
#include "support/wait.h"

static struct play_real *real_of(struct play_server *s)
{
	return (struct play_real *)s;
}

static void real_close(struct play_server *s, int n)
{
	if (real_of(s)->fds[n] >= 0)
		close(real_of(s)->fds[n]);
	real_of(s)->fds[n] = -1;
	sim_bytes_free(&real_of(s)->in[n]);
}

static void real_open(struct play_server *s, int n)
{
	struct lab_address to = lab_server_address(real_of(s)->server);

	real_close(s, n);
	real_of(s)->fds[n] = lab_connect(&to, lab_after_ms(patience_ms()));
	if (real_of(s)->fds[n] < 0)
		FAIL("%s", lab_errmsg());
}

static void wait_for(int fd, short events)
{
	struct pollfd p = { .fd = fd, .events = events };

	if (poll(&p, 1, (int)patience_ms()) == 0)
		FAIL("the server does not answer");
}

static void real_send(struct play_server *s, int n, const char *bytes,
		      size_t len)
{
	while (len > 0) {
		ssize_t done = write(real_of(s)->fds[n], bytes, len);

		if (done < 0 && errno != EAGAIN)
			FAIL("write: %s", strerror(errno));
		if (done < 0)
			wait_for(real_of(s)->fds[n], POLLOUT);
		else
			bytes += done, len -= (size_t)done;
	}
}

static int real_reply(struct play_server *s, int n, struct sim_bytes *out)
{
	struct sim_bytes *in = &real_of(s)->in[n];

	for (;;) {
		const char *text = sim_bytes_text(in);
		const char *end = s->language->reply_end(text, text + in->len);
		char buf[4096];
		ssize_t got;

		if (end) {
			sim_bytes_add(out, text, (size_t)(end - text));
			sim_bytes_take(in, (size_t)(end - text));
			return 1;
		}
		wait_for(real_of(s)->fds[n], POLLIN);
		got = read(real_of(s)->fds[n], buf, sizeof(buf));
		if (got == 0 || (got < 0 && errno == ECONNRESET))
			return 0;
		if (got > 0)
			sim_bytes_add(in, buf, (size_t)got);
	}
}

static int64_t real_now_us(struct play_server *s)
{
	struct timespec ts;

	clock_gettime(CLOCK_REALTIME, &ts);
	return ts.tv_sec * INT64_C(1000000) + ts.tv_nsec / 1000 +
	       real_of(s)->wall_ms * 1000;
}

static void real_nap(struct play_server *s)
{
	(void)s;
	nap_ms(1);
}

void play_real_begin(struct play_real *r, struct lab_server *server,
		     const struct play_language *language)
{
	if (!server)
		FAIL("%s", lab_errmsg());
	*r = (struct play_real){
		.base = { .language = language,
			  .open = real_open,
			  .close = real_close,
			  .send = real_send,
			  .reply = real_reply,
			  .now_us = real_now_us,
			  .nap = real_nap },
		.server = server,
	};
	for (int i = 0; i <= PLAY_CONTROL; i++)
		r->fds[i] = -1;
}

void play_real_end(struct play_real *r)
{
	for (int i = 0; i <= PLAY_CONTROL; i++)
		real_close(&r->base, i);
	lab_server_free(r->server);
}
