/* SPDX-License-Identifier: Apache-2.0 */
#include "unit/uris.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

TestSuite(uri, .fini = uri_end);

Test(uri, everything_at_once)
{
	parse("Redis://us%65r:p%40ss@h1,h2:6379,[::1]:7000,[fe80::2]/a%20b/c"
	      "?ttl=15s&label=a%26b&db=3");
	expect_text(uri->scheme, "redis");
	expect_text(uri->user, "user");
	expect_text(uri->password, "p@ss");
	cr_assert_eq(uri->n_hosts, 4);
	expect_text(uri->hosts[0].name, "h1");
	cr_expect_eq(uri->hosts[0].port, 0);
	expect_text(uri->hosts[1].name, "h2");
	cr_expect_eq(uri->hosts[1].port, 6379);
	expect_text(uri->hosts[2].name, "::1");
	cr_expect_eq(uri->hosts[2].port, 7000);
	expect_text(uri->hosts[3].name, "fe80::2");
	cr_expect_eq(uri->hosts[3].port, 0);
	expect_text(uri->path, "/a b/c");
	cr_expect_eq(dlk_param_int(uri, "ttl"), 15000);
	cr_expect_eq(dlk_param_int(uri, "db"), 3);
	expect_text(dlk_param_text(uri, "label"), "a&b");
	cr_expect_eq(dlk_param_int(uri, "connect"), 5000);
	expect_text(uri->shown, "redis://user@h1,h2:6379,[::1]:7000,[fe80::2]"
				"/a%20b/c?ttl=15s&label=a%26b&db=3");
}

Test(uri, all_the_shapes)
{
	static const struct {
		const char *text, *host, *path, *shown;
	} cases[] = {
		{ "mem:", NULL, NULL, "mem:" },
		{ "mem:?ttl=1s", NULL, NULL, "mem:?ttl=1s" },
		{ "mem:?", NULL, NULL, "mem:" },
		{ "mem://name", "name", NULL, "mem://name" },
		{ "mem://name?ttl=1s", "name", NULL, "mem://name?ttl=1s" },
		{ "mem://", NULL, NULL, "mem:" },
		{ "mem://?ttl=1s", NULL, NULL, "mem:?ttl=1s" },
		{ "file:relative", NULL, "relative", "file:relative" },
		{ "file:rel/at@ive", NULL, "rel/at@ive", "file:rel/at%40ive" },
		{ "file:/abs", NULL, "/abs", "file:/abs" },
		{ "file:///abs", NULL, "/abs", "file:/abs" },
		{ "file:///x@1", NULL, "/x@1", "file:/x%401" },
		{ "file:////abs", NULL, "//abs", "file:////abs" },
		{ "file:/a//b", NULL, "/a//b", "file:/a//b" },
		{ "file:%2F%2Fabs", NULL, "//abs", "file:////abs" },
		{ "file:/%C3%A4", NULL, "/\xc3\xa4", "file:/%C3%A4" },
		{ "file:/\xc3\xa4", NULL, "/\xc3\xa4", "file:/%C3%A4" },
		{ "zk://h/", "h", "/", "zk://h/" },
		{ "zk://h:1/a", "h", "/a", "zk://h:1/a" },
		{ "zk://h:65535", "h", NULL, "zk://h:65535" },
		{ "zk://h:00080", "h", NULL, "zk://h:80" },
		{ "zk://A-b_c.9", "A-b_c.9", NULL, "zk://A-b_c.9" },
		{ "x+y.z-1:a", NULL, "a", "x+y.z-1:a" },
		{ "redis://u@h", "h", NULL, "redis://u@h" },
		{ "redis://:p@h", "h", NULL, "redis://h" },
		{ "redis://u:p@h", "h", NULL, "redis://u@h" },
		{ "redis://u%3A%40%2F@h", "h", NULL, "redis://u%3A%40%2F@h" },
		{ "mem:?label=a@b?c%3Dd", NULL, NULL,
		  "mem:?label=a%40b%3Fc%3Dd" },
		{ "mem:?label=/a:b,c", NULL, NULL, "mem:?label=/a:b,c" },
		{ "mem:?old_password=x&ttl=1s", NULL, NULL, "mem:?ttl=1s" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char again[256];

		parse(cases[i].text);
		cr_expect_eq(uri->n_hosts, cases[i].host != NULL);
		if (uri->n_hosts)
			expect_text(uri->hosts[0].name, cases[i].host);
		expect_text(uri->path, cases[i].path);
		expect_text(uri->shown, cases[i].shown);
		snprintf(again, sizeof(again), "%s", uri->shown);
		parse(again);
		expect_text(uri->shown, cases[i].shown);
		expect_text(uri->path, cases[i].path);
	}
}

Test(uri, schemes)
{
	char scheme[DLKI_SCHEME_MAX + 1];

	cr_expect_eq(dlki_uri_scheme("ZK://h", scheme, &err), 0);
	expect_text(scheme, "zk");
	cr_expect_eq(dlki_uri_scheme("a2345678901234567890123456789+1:", scheme,
				     &err),
		     0);
	cr_expect_eq(strlen(scheme), 31);
	cr_expect_eq(dlki_uri_scheme(
			     "a2345678901234567890123456789+12:", scheme, &err),
		     DLOCK_EINVAL);
	expect_text(err.text, "the URI's scheme is longer than 31 bytes");
}

Test(uri, a_text_without_a_scheme)
{
	static const char *const bad[] = {
		"/var/lock",  "redis",        ":", "1a:", "+a:", "re dis:",
		"r\xc3\xa4:", "//u:SECRET@h", "@:"
	};
	char scheme[DLKI_SCHEME_MAX + 1];

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		cr_expect_eq(dlki_uri_scheme(bad[i], scheme, &err),
			     DLOCK_EINVAL, "%s", bad[i]);
		expect_text(err.text, "the URI has no scheme; it begins as in "
				      "file:/path or redis://host");
	}
	expect_refused("sqlite_own:///x",
		       "'sqlite_own' is no scheme: a letter first, then a-z, "
		       "0-9, '+', '-', '.'");
	expect_refused("1st://x", "'1st' is no scheme: a letter first, then "
				  "a-z, 0-9, '+', '-', '.'");
	expect_refused("", "the URI is empty");
	cr_expect_eq(dlki_uri_parse(&uri, NULL, NULL, NULL, &err),
		     DLOCK_EINVAL);
	expect_text(err.text, "the URI is NULL");
}

Test(uri, what_may_stand_nowhere)
{
	expect_refused("mem:\n", "byte 5 of the URI is a control character");
	expect_refused("mem:\xff", "byte 5 of the URI is not UTF-8");
	expect_refused("mem:?label=a b", "a space in a URI must be written "
					 "%20");
	expect_refused("file:/a#b", "'#' in a URI must be written %23");
	expect_refused("redis://u:p#w@h", "'#' in a URI must be written %23");
	expect_refused("file:/a%00", "file: byte 3 of the path is a control "
				     "character");
	expect_refused("mem:?label=%0d%0a", "mem: byte 1 of the value of a "
					    "parameter is a control character");
	expect_refused("file:/%zz", "file: the path has a broken escape; write "
				    "'%' itself as %25");
	expect_refused("mem:?label=%f", "mem: the value of a parameter has a "
					"broken escape; write '%' itself as "
					"%25");
	expect_refused("redis://%01@h", "redis: byte 1 of the user is a "
					"control character");
	expect_refused("redis://u:%ff@h", "redis: byte 1 of the password is "
					  "not UTF-8");
}

Test(uri, length)
{
	static char text[1 << 20];

	memset(text, 'x', sizeof(text) - 1);
	memcpy(text, "file:/", 6);
	expect_refused(text, "the URI is longer than 4096 bytes");
	text[4097] = '\0';
	expect_refused(text, "the URI is longer than 4096 bytes");
	text[4096] = '\0';
	parse(text);
	memset(text + 5, '*', 4091);
	parse(text);
	cr_expect_eq(strlen(uri->shown), 5 + 3 * 4091);
	memset(text + 5, '/', 4091);
	parse(text);
	cr_expect_eq(strlen(uri->shown), 4096);
}

Test(uri, as_many_hosts_as_fit)
{
	char text[DLKI_URI_MAX + 3] = "zk://";

	for (size_t i = 5; i < DLKI_URI_MAX; i += 2)
		memcpy(text + i, "h,", 3);
	text[DLKI_URI_MAX] = '\0';
	parse(text);
	cr_expect_eq(uri->n_hosts, 2046);
	expect_text(uri->shown, text);
	text[DLKI_URI_MAX - 1] = '\0';
	expect_refused(text, "zk: host 2046: there is no name");
}

#define BAD_NAME                                                               \
	"a name has only A-Z a-z 0-9 . _ - (others in their xn-- "             \
	"form), an IPv6 address stands in [ ]"

Test(uri, hosts)
{
	static const char port[] = "the port must be a number from 1 to 65535";
	static const struct {
		const char *hosts, *why;
	} cases[] = {
		{ "h:0", port },
		{ "h:65536", port },
		{ "h:99999999999999999999", port },
		{ "h:4294967376", port }, /* 80, if it wraps */
		{ "h:-1", port },
		{ "h:+1", port },
		{ "h:", port },
		{ "h:http", port },
		{ "h:80x", port },
		{ "h:80%30", port },
		{ ":80", "there is no name" },
		{ ",h", "there is no name" },
		{ "u@", "there is no name" },
		{ "u@/x", "there is no name" },
		{ "u@:1", "there is no name" },
		{ "h%20", BAD_NAME },
		{ "h%c3%a4", BAD_NAME },
		{ "h\xc3\xa4", BAD_NAME },
		{ "h!", BAD_NAME },
		{ "::1", "there is no name" },
		{ "1:2:3", "it has too many ':'; an IPv6 address stands in "
			   "[ ]" },
		{ "[::1", "the IPv6 address lacks its ']'" },
		{ "[::1]x", "after ']' comes a port or nothing" },
		{ "[::1]:0", port },
		{ "[]", "there is no IPv6 address in the brackets" },
		{ "[1.2.3.4]", "there is no IPv6 address in the brackets" },
		{ "[::g]", "there is no IPv6 address in the brackets" },
		{ "[fe80::1%25eth0]", "there is no IPv6 address in the "
				      "brackets" },
		{ "h]", BAD_NAME },
	};
	char text[400], why[256];

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		snprintf(text, sizeof(text), "zk://%s", cases[i].hosts);
		snprintf(why, sizeof(why), "zk: host 1: %s", cases[i].why);
		expect_refused(text, why);
	}
	expect_refused("zk://h,", "zk: host 2: there is no name");
	expect_refused("zk://h,,i", "zk: host 2: there is no name");
	expect_refused("zk://h,i:0", "zk: host 2: the port must be a number "
				     "from 1 to 65535");
	memcpy(text, "zk://", 5);
	memset(text + 5, 'h', 254);
	text[5 + 254] = '\0';
	expect_refused(text, "zk: host 1: the name is longer than 253 bytes");
	text[5 + 253] = '\0';
	parse(text);
}

Test(uri, queries)
{
	static const char form[] = "mem: after '?' come parameters of the form "
				   "name=value&name=value, names of a-z and "
				   "'_'";
	static const char *const bad[] = {
		"mem:?ttl",      "mem:?=1s",         "mem:?&",
		"mem:?ttl=1s&",  "mem:?&ttl=1s",     "mem:?TTL=1s",
		"mem:?t%74l=1s", "mem:?ttl-ms=1",    "mem:?ttl=1s&&",
		"mem:??ttl=1s",  "mem:?ttl&label=a", "mem:?\xc3\xa4=1"
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		expect_refused(bad[i], form);
	expect_refused("redis://h?tll=3s", "redis: unknown parameter 'tll'; "
					   "did you mean 'ttl'?");
	expect_refused("mem:?label=a,ttl=1s", "mem: '=' in a value must be "
					      "written %3D; '&' stands between "
					      "parameters");
	expect_refused("file:/a&ttl=1s", "file: '&' in a path must be written "
					 "%26; '?' stands before the first "
					 "parameter");
	expect_refused("mem:?retry_min=1m", "mem: parameter 'retry_min' is 1m, "
					    "above retry_max, which is 500ms");
}
