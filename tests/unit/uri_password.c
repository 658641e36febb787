/* SPDX-License-Identifier: Apache-2.0 */
/* Users and passwords of URIs. No message shows a password. */
#include "unit/uris.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

Test(uri, users)
{
	expect_refused("redis://a@b@h", "redis: '@' in a user or password must "
					"be written %40");
	expect_refused("redis://u:a:b@h", "redis: ':' in a user or password "
					  "must be written %3A");
	expect_refused("redis://u:a/b@h", "redis: '@' after the host must be "
					  "written %40, and '/' in a user or "
					  "password %2F");
	expect_refused("redis://@h", "redis: the user before '@' is empty");
	expect_refused("redis://u:@h", "redis: the password before '@' is "
				       "empty");
	expect_refused("redis://:@h", "redis: the password before '@' is "
				      "empty");
	parse("redis://u@h");
	expect_text(uri->user, "u");
	expect_text(uri->password, NULL);
	parse("redis://:p@h");
	expect_text(uri->user, NULL);
	expect_text(uri->password, "p");
}

Test(uri, a_scheme_without_password_file_has_no_users)
{
	static const char *const bad[] = { "mem://u@h", "mem://u:p@h",
					   "mem://:p@h" };

	for (size_t i = 0; i < 3; i++) {
		cr_expect_eq(dlki_uri_parse(&uri, bad[i], NULL, NULL, &err),
			     DLOCK_EINVAL);
		expect_text(err.text, "mem: takes no user or password");
	}
	cr_expect_eq(dlki_uri_parse(&uri, "mem:?password_file=/x", NULL, NULL,
				    &err),
		     DLOCK_EINVAL);
	cr_expect_eq(dlki_uri_parse(&uri, "mem:", NULL, "for others", &err), 0);
	expect_text(uri->password, NULL);
}

Test(uri, where_the_password_comes_from)
{
	char file[] = "/tmp/dlock-uri-XXXXXX";
	int fd = mkstemp(file);
	char text[128];

	cr_assert_geq(fd, 0);
	cr_assert_eq(write(fd, "from file\n", 10), 10);
	close(fd);
	snprintf(text, sizeof(text), "redis://u@h?password_file=%s", file);
	cr_expect_eq(dlki_uri_parse(&uri, text, uri_table, "option", &err), 0,
		     "%s", err.text);
	expect_text(uri->user, "u");
	expect_text(uri->password, "from file");
	expect_text(uri->shown, text);
	snprintf(text, sizeof(text), "redis://u:p@h?password_file=%s", file);
	expect_refused(text, "redis: has a password and a password_file; leave "
			     "one out");
	unlink(file);
	snprintf(text, sizeof(text), "redis://u@h?password_file=%s", file);
	uri_end();
	cr_expect_eq(dlki_uri_parse(&uri, text, uri_table, "option", &err),
		     DLOCK_EINVAL);
	cr_expect_not_null(strstr(err.text, file));

	cr_expect_eq(dlki_uri_parse(&uri, "redis://h", uri_table, "option",
				    &err),
		     0);
	expect_text(uri->password, "option");
	uri_end();
	cr_expect_eq(dlki_uri_parse(&uri, "redis://h", uri_table, "", &err), 0);
	expect_text(uri->password, NULL);
	uri_end();
	cr_expect_eq(dlki_uri_parse(&uri, "redis://u:p@h", uri_table, "option",
				    &err),
		     0);
	expect_text(uri->password, "p");
	uri_end();
	cr_expect_eq(dlki_uri_parse(&uri, "redis://h", uri_table, "a\nb", &err),
		     DLOCK_EINVAL);
	expect_text(err.text, "redis: byte 2 of the password is a control "
			      "character");
}

/* Parses a URI with a byte replaced, added or left out. The password must be
 * neither in the message nor in the URI shown. */
static void expect_silence(const char *text)
{
	static const char secret[] = "S3CR3T";

	uri_end();
	memset(&err, 0, sizeof(err));
	if (dlki_uri_parse(&uri, text, uri_table, NULL, &err) < 0) {
		cr_expect_null(strstr(err.text, secret), "%s: %s", text,
			       err.text);
		cr_expect_neq(err.text[0], '\0');
	} else if (uri->password && strstr(uri->password, secret)) {
		cr_expect_null(strstr(uri->shown, secret), "%s: %s", text,
			       uri->shown);
	}
}

Test(uri, no_mistake_makes_it_tell_the_password)
{
	static const char good[] = "redis://user:S3CR3T@h1,h2:1/p?label=1s"
				   "&old_password=S3CR3T&db=5";
	static const char bytes[] = "@:/?#&=,%[]. \n\xff"
				    "a0";
	size_t len = strlen(good);
	char text[128];

	for (size_t i = 0; i < len; i++) {
		snprintf(text, sizeof(text), "%.*s%s", (int)i, good,
			 good + i + 1);
		expect_silence(text);
		for (const char *c = bytes; *c; c++) {
			snprintf(text, sizeof(text), "%.*s%c%s", (int)i, good,
				 *c, good + i + 1);
			expect_silence(text);
			snprintf(text, sizeof(text), "%.*s%c%s", (int)i, good,
				 *c, good + i);
			expect_silence(text);
		}
	}
}
