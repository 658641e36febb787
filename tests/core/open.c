/* SPDX-License-Identifier: Apache-2.0 */
/* Opening: options, requirements, passwords, and stores that do not answer. */
#include "core/fixture.h"

#include <stddef.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/closed.h"

TestSuite(open, .init = fixture, .timeout = 30);

static void refused(const char *uri, const dlock_options *o, int code,
		    const char *text)
{
	dlock_client *c = NULL;

	REFUSED(dlock_open(&c, uri, o), code, text);
	cr_assert_null(c);
}

/* Checks that an open fails after 150 ms; or after `least_ms`, if the rest is
 * too short for another request. */
static void unreachable(const char *text, int64_t least_ms)
{
	dlk_time began;

	stall_watch();
	began = dlk_now();
	refused("fake:?connect=150ms", NULL, DLOCK_EUNREACHABLE, text);
	cr_assert_geq(dlk_now(), began + least_ms * DLK_MS);
	cr_assert_lt(dlk_now(), late(began + 400 * DLK_MS));
}

CASE(open, asks_for_options_of_a_known_size)
{
	dlock_options o = DLOCK_OPTIONS_INIT;

	o.size = 0;
	refused("fake:", &o, DLOCK_EINVAL, "size is 0");
	o.size = 8192;
	refused("fake:", &o, DLOCK_EINVAL, "size is 8192");
}

/* A program built with an older header has a shorter struct, and a program
 * built with a newer header a longer struct. */
CASE(open, reads_as_much_of_the_options_as_there_is)
{
	struct {
		dlock_options o;
		char more[64];
	} newer = { .o = DLOCK_OPTIONS_INIT };
	dlock_options older = DLOCK_OPTIONS_INIT;
	dlock_client *c;

	older.size = offsetof(dlock_options, password);
	older.password = (const char *)1;
	older.label = "old";
	c = open_store("fake:", &older);
	close_store(c);
	newer.o.size = sizeof(newer);
	memset(newer.more, 1, sizeof(newer.more));
	c = open_store("fake:", &newer.o);
	close_store(c);
}

CASE(open, refuses_a_store_that_cannot_do_what_is_required)
{
	dlock_options o = DLOCK_OPTIONS_INIT;
	dlock_client *c;

	o.require = DLOCK_CAP_REMOTE | DLOCK_CAP_DURABLE | DLOCK_CAP_CONSISTENT;
	refused("fake:", &o, DLOCK_ENOTSUP, "DURABLE, CONSISTENT; see");
	cr_assert_eq(fake_count(fake, FAKE_OPEN), 0);
	o.require = 1u << 30;
	refused("fake:", &o, DLOCK_ENOTSUP, "an unknown capability");
	o.require = UINT32_MAX;
	refused("fake:", &o, DLOCK_ENOTSUP, "cannot promise");
	/* The client learns of this capability from the store. */
	o.require = DLOCK_CAP_WAKE;
	refused("fake:?wake=off", &o, DLOCK_ENOTSUP, "WAKE");
	cr_assert_eq(fake_count(fake, FAKE_OPEN), 1);
	cr_assert_eq(fake_count(fake, FAKE_CLOSE), 1);
	o.require = DLOCK_CAP_FENCE;
	c = open_store("fake:", &o);
	cr_assert(dlock_caps(c) & DLOCK_CAP_FENCE);
	close_store(c);
}

CASE(open, keeps_its_deadline_with_a_silent_store)
{
	fake_once(fake, FAKE_OPEN, FAKE_SILENT);
	unreachable("no answer", 150);
	cr_assert_eq(fake_count(fake, FAKE_CLOSE), 0);
}

/* A server may be on the way up. */
CASE(open, waits_for_a_store_that_refuses)
{
	dlock_client *c;

	FAKE_SCRIPT(fake, FAKE_OPEN, .fault = FAKE_REFUSE, .times = 4);
	c = open_store("fake:", NULL);
	cr_assert_eq(fake_count(fake, FAKE_OPEN), 5);
	cr_assert_geq(fake_nth(fake, FAKE_OPEN, 4).begin,
		      fake_nth(fake, FAKE_OPEN, 0).begin + 40 * DLK_MS);
	close_store(c);
}

CASE(open, failing_again_without_a_reason_says_so)
{
	fake_once(fake, FAKE_OPEN, FAKE_REFUSE);
	FAKE_SCRIPT(fake, FAKE_OPEN, .fault = FAKE_CODE);
	refused("fake:", NULL, -1000, "fake: failed without a reason");
}

/* The last answer is a silence, which tells less. */
CASE(open, tells_what_the_store_said_when_its_time_is_over)
{
	FAKE_SCRIPT(fake, FAKE_OPEN, .fault = FAKE_CODE,
		    .code = DLOCK_EUNREACHABLE);
	fake_once(fake, FAKE_OPEN, FAKE_SILENT);
	unreachable("fake: scripted; tried for 150ms: connect= in the URI",
		    140);
	cr_assert_eq(fake_count(fake, FAKE_OPEN), 2);
	fake_always(fake, FAKE_OPEN, FAKE_REFUSE);
	unreachable("fake: no answer (scripted); tried for 150ms: connect=",
		    140);
	cr_assert_geq(fake_count(fake, FAKE_OPEN), 4);
	cr_assert_leq(fake_count(fake, FAKE_OPEN), 30);
}

CASE(open, asks_once_if_that_is_wanted)
{
	dlock_options o = DLOCK_OPTIONS_INIT;

	o.once = 1;
	fake_always(fake, FAKE_OPEN, FAKE_REFUSE);
	refused("fake:", &o, DLOCK_EUNREACHABLE, "no answer");
	cr_assert_null(strstr(dlock_errmsg(), "connect="));
	cr_assert_eq(fake_count(fake, FAKE_OPEN), 1);
}

CASE(open, tells_why_the_store_refused)
{
	dlock_client *c = NULL;

	FAKE_SCRIPT(fake, FAKE_OPEN, .fault = FAKE_CODE, .code = DLOCK_EDENIED);
	refused("fake:", NULL, DLOCK_EDENIED, "scripted");
	/* The store gives no reason. */
	fake_once(fake, FAKE_OPEN, FAKE_CODE);
	cr_assert_lt(dlock_open(&c, "fake:", NULL), 0);
	cr_assert_null(c);
}

static const char *heard;
static char shown[200];

static int note(struct dlk_session *s, dlk_time deadline, struct dlk_error *err)
{
	static char copy[200];

	(void)deadline;
	heard = NULL;
	if (s->uri->password) {
		snprintf(copy, sizeof(copy), "%s", s->uri->password);
		heard = copy;
	}
	snprintf(shown, sizeof(shown), "%s", s->uri->shown);
	return dlk_fail(err, DLOCK_EDENIED, "enough");
}

static void hears(const char *uri, const dlock_options *o, const char *password)
{
	refused(uri, o, DLOCK_EDENIED, "enough");
	if (password)
		cr_assert_str_eq(heard, password);
	else
		cr_assert_null(heard);
}

/* The sources of the password. No message shows a password. */
CASE(open, finds_the_password)
{
	static const char *const schemes[] = { "secretive", NULL };
	static const struct dlk_param params[] = {
		{ "password_file", DLK_TEXT, NULL, 1, 4096, NULL, "file" },
		{ 0 }
	};
	static struct dlock_backend b;
	dlock_options o = DLOCK_OPTIONS_INIT;
	char file[] = "/tmp/dlock-XXXXXX";
	char uri[200];
	dlock_client *c = NULL;
	int fd;

	b = closed_backend(schemes);
	b.params = params;
	b.open = note;
	OK(dlock_backend_register(&b));
	hears("secretive://h", &o, NULL);
	o.password = "from the options";
	hears("secretive://h", &o, "from the options");
	hears("secretive://u:p%40q@h", &o, "p@q");
	cr_assert_str_eq(shown, "secretive://u@h");
	fd = mkstemp(file);
	cr_assert_geq(fd, 0);
	cr_assert_eq(write(fd, "filed\nrest", 10), 10);
	close(fd);
	snprintf(uri, sizeof(uri), "secretive://h?password_file=%s", file);
	hears(uri, &o, "filed");
	cr_assert_eq(chmod(file, 0644), 0);
	refused(uri, &o, DLOCK_EINVAL, "chmod it to 600");
	unlink(file);
	/* A scheme without passwords ignores the option. */
	OK(dlock_open(&c, "mem:", &o));
	dlock_close(c);
}

CASE(open, tells_what_it_opened)
{
	given_client("FAKE://x?ttl=2s&label=me");
	cr_assert_str_eq(dlock_uri(client), "fake://x?ttl=2s&label=me");
	cr_assert_eq(dlock_ttl_ms(client), 2000);
	cr_assert_null(dlock_uri(NULL));
	cr_assert_eq(dlock_ttl_ms(NULL), 0);
	cr_assert_eq(dlock_caps(NULL), 0);
}

static void see_label(const struct dlock_participant *p, void *text)
{
	snprintf(text, sizeof(shown), "%s", p->label);
}

static void has_label(const char *uri, const char *option, const char *want)
{
	options.label = option;
	given_hold(uri);
	OK(dlock_inspect(lock, see_label, shown, 1000));
	if (want)
		cr_assert_str_eq(shown, want);
	else
		cr_assert(strchr(shown, ':'), "%s", shown);
	OK(dlock_release(hold));
	close_client();
}

CASE(open, takes_the_label_from_the_options_the_uri_or_the_process)
{
	has_label("fake:?label=uri", "options", "options");
	has_label("fake:?label=uri", NULL, "uri");
	has_label("fake:", NULL, NULL);
}
