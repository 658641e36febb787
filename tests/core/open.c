/* SPDX-License-Identifier: Apache-2.0 */
/* Opening: options, requirements, passwords, and stores that do not answer. */
#include "core/support.h"

#include <dirent.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

static struct fake *fake;

static void set_up(void)
{
	OK(fake_register());
	fake = fake_store("");
}

TestSuite(open, .init = set_up, .timeout = 30);

Test(open, asks_for_options_of_a_known_size)
{
	dlock_options o = DLOCK_OPTIONS_INIT;
	dlock_client *c = NULL;

	o.size = 0;
	REFUSED(dlock_open(&c, "fake:", &o), DLOCK_EINVAL, "size is 0");
	o.size = 8192;
	REFUSED(dlock_open(&c, "fake:", &o), DLOCK_EINVAL, "size is 8192");
	cr_assert_null(c);
}

/* What a program that was built with an older header does not have is not
 * read; what a newer one has is not known. */
Test(open, reads_as_much_of_the_options_as_there_is)
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

Test(open, refuses_a_store_that_cannot_do_what_is_required)
{
	dlock_options o = DLOCK_OPTIONS_INIT;
	dlock_client *c = NULL;

	o.require = DLOCK_CAP_REMOTE | DLOCK_CAP_DURABLE | DLOCK_CAP_CONSISTENT;
	REFUSED(dlock_open(&c, "fake:", &o), DLOCK_ENOTSUP,
		"DURABLE, CONSISTENT; see");
	cr_assert_eq(fake_count(fake, FAKE_OPEN), 0);
	o.require = 1u << 30;
	REFUSED(dlock_open(&c, "fake:", &o), DLOCK_ENOTSUP,
		"an unknown capability");
	o.require = UINT32_MAX;
	REFUSED(dlock_open(&c, "fake:", &o), DLOCK_ENOTSUP, "cannot promise");
	/* Known only once the store was asked. */
	o.require = DLOCK_CAP_WAKE;
	REFUSED(dlock_open(&c, "fake:?wake=off", &o), DLOCK_ENOTSUP, "WAKE");
	cr_assert_eq(fake_count(fake, FAKE_OPEN), 1);
	cr_assert_eq(fake_count(fake, FAKE_CLOSE), 1);
	o.require = DLOCK_CAP_FENCE;
	c = open_store("fake:", &o);
	cr_assert(dlock_caps(c) & DLOCK_CAP_FENCE);
	close_store(c);
}

Test(open, refuses_leases_that_nobody_renews)
{
	dlock_client *c = NULL;

	REFUSED(dlock_open(&c, "fakemute:?ttl=3s", NULL), DLOCK_EINVAL,
		"no 'renew'");
	REFUSED(dlock_open(&c, "fakemute:?check=3s", NULL), DLOCK_EINVAL,
		"no 'renew'");
	OK(dlock_open(&c, "fakemute:", NULL));
	close_store(c);
}

Test(open, keeps_its_deadline_with_a_silent_store)
{
	dlock_client *c = NULL;
	dlk_time began;

	stall_watch();
	began = dlk_now();
	fake_script(fake, FAKE_OPEN,
		    (struct fake_step){ .fault = FAKE_SILENT });
	REFUSED(dlock_open(&c, "fake:?connect=150ms", NULL), DLOCK_EUNREACHABLE,
		"no answer");
	cr_assert_geq(dlk_now(), began + 150 * DLKI_MS);
	cr_assert_lt(dlk_now(), late(began + 400 * DLKI_MS));
	cr_assert_eq(fake_count(fake, FAKE_CLOSE), 0);
}

Test(open, tells_why_the_store_refused)
{
	dlock_client *c = NULL;

	fake_script(fake, FAKE_OPEN,
		    (struct fake_step){ .fault = FAKE_CODE,
					.code = DLOCK_EDENIED });
	REFUSED(dlock_open(&c, "fake:", NULL), DLOCK_EDENIED, "scripted");
	/* A store that says nothing is not understood. */
	fake_script(fake, FAKE_OPEN, (struct fake_step){ .fault = FAKE_CODE });
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

static void nothing(struct dlk_session *s, dlk_time deadline)
{
	(void)s;
	(void)deadline;
}

static enum dlk_verdict never(struct dlk_ticket *t, dlk_time deadline,
			      struct dlk_error *err)
{
	(void)t;
	(void)deadline;
	(void)err;
	return DLK_BUSY;
}

static int gone(struct dlk_ticket *t, dlk_time deadline, struct dlk_error *err)
{
	(void)t;
	(void)deadline;
	(void)err;
	return 0;
}

/* Where the password comes from, and that it is shown nowhere. */
Test(open, finds_the_password)
{
	static const char *const schemes[] = { "secretive", NULL };
	static const struct dlk_param params[] = {
		{ "password_file", DLK_TEXT, NULL, 1, 4096, NULL, "file" },
		{ 0 }
	};
	static const struct dlock_backend b = {
		.size = sizeof(struct dlock_backend),
		.schemes = schemes,
		.summary = "tells what it heard",
		.params = params,
		.session_size = sizeof(struct dlk_session),
		.ticket_size = sizeof(struct dlk_ticket),
		.open = note,
		.close = nothing,
		.attempt = never,
		.release = gone,
	};
	dlock_options o = DLOCK_OPTIONS_INIT;
	char file[] = "/tmp/dlock-XXXXXX";
	char uri[200];
	dlock_client *c = NULL;
	int fd;

	OK(dlock_backend_register(&b));
	cr_assert_eq(dlock_open(&c, "secretive://h", &o), DLOCK_EDENIED);
	cr_assert_null(heard);
	o.password = "from the options";
	cr_assert_eq(dlock_open(&c, "secretive://h", &o), DLOCK_EDENIED);
	cr_assert_str_eq(heard, "from the options");
	cr_assert_eq(dlock_open(&c, "secretive://u:p%40q@h", &o),
		     DLOCK_EDENIED);
	cr_assert_str_eq(heard, "p@q");
	cr_assert_str_eq(shown, "secretive://u@h");
	fd = mkstemp(file);
	cr_assert_geq(fd, 0);
	cr_assert_eq(write(fd, "filed\nrest", 10), 10);
	close(fd);
	snprintf(uri, sizeof(uri), "secretive://h?password_file=%s", file);
	cr_assert_eq(dlock_open(&c, uri, &o), DLOCK_EDENIED);
	cr_assert_str_eq(heard, "filed");
	cr_assert_eq(chmod(file, 0644), 0);
	REFUSED(dlock_open(&c, uri, &o), DLOCK_EINVAL, "chmod it to 600");
	unlink(file);
	/* One that is not to be used by a scheme that takes none. */
	cr_assert_eq(dlock_open(&c, "mem:", &o), DLOCK_OK);
	dlock_close(c);
}

Test(open, tells_what_it_opened)
{
	dlock_client *c = open_store("FAKE://x?ttl=2s&label=me", NULL);

	cr_assert_str_eq(dlock_uri(c), "fake://x?ttl=2s&label=me");
	cr_assert_eq(dlock_ttl_ms(c), 2000);
	close_store(c);
	cr_assert_null(dlock_uri(NULL));
	cr_assert_eq(dlock_ttl_ms(NULL), 0);
	cr_assert_eq(dlock_caps(NULL), 0);
}

struct label {
	char text[200];
};

static void see_label(const struct dlock_party *p, void *arg)
{
	struct label *l = arg;

	snprintf(l->text, sizeof(l->text), "%s", p->label);
}

static void has_label(const char *uri, const char *option, const char *want)
{
	dlock_options o = DLOCK_OPTIONS_INIT;
	struct label l = { "" };
	dlock_client *c;
	dlock_lock *lock;
	dlock_hold *h;

	o.label = option;
	c = open_store(uri, &o);
	lock = mutex(c, "a");
	h = take(lock);
	OK(dlock_inspect(lock, see_label, &l, 1000));
	if (want)
		cr_assert_str_eq(l.text, want);
	else
		cr_assert(strchr(l.text, ':'), "%s", l.text);
	OK(dlock_release(h));
	dlock_free(lock);
	close_store(c);
}

Test(open, takes_the_label_from_the_options_the_uri_or_the_process)
{
	has_label("fake:?label=uri", "options", "options");
	has_label("fake:?label=uri", NULL, "uri");
	has_label("fake:", NULL, NULL);
}
