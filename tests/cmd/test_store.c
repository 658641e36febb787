/* SPDX-License-Identifier: Apache-2.0 */
/* The choice of the store: the option, the environment, and dlock.conf. */
#include "support.h"

#include <criterion/criterion.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void begin(void)
{
	world_begin();
	unsetenv("DLOCK_URI");
	cr_assert_eq(mkdir(file_path("etc"), 0755), 0);
}

TestSuite(store, .init = begin, .fini = world_end, .timeout = 60);

/* The file in $XDG_CONFIG_HOME. */
static const char *user_conf(void)
{
	return file_path("dlock.conf");
}

static const char *system_conf(void)
{
	return file_path("etc/dlock.conf");
}

static const char *uri_of(const char *dir)
{
	static char uri[4][4400];
	static int turn;

	turn = (turn + 1) % 4;
	snprintf(uri[turn], sizeof(uri[turn]), "file://%s", file_path(dir));
	return uri[turn];
}

static void set_uri(const char *path, const char *uri)
{
	char text[4500];

	snprintf(text, sizeof(text), "# for all\n\n  uri=\t%s \n", uri);
	write_file(path, text, 0644);
}

#define IN_ETC "mount --bind \"$1\" /etc && shift && exec \"$@\""

/* Run dlock with an /etc that has only the test's dlock.conf. */
static struct result with_etc(const char *const args[])
{
	const char *argv[24] = { "/usr/bin/unshare",
				 geteuid() ? "-rm" : "-m",
				 "/bin/sh",
				 "-c",
				 IN_ETC,
				 "sh",
				 NULL };
	char etc[4400];
	size_t n = 6;

	snprintf(etc, sizeof(etc), "%s", file_path("etc"));
	argv[n++] = etc;
	argv[n++] = getenv("DLOCK_BIN");
	while (*args)
		argv[n++] = *args++;
	argv[n] = NULL;
	return run(argv);
}

#define WITH_ETC(...) with_etc((const char *const[]){ __VA_ARGS__, NULL })

static void needs_mounts(void)
{
	if (run(ARGS("/usr/bin/unshare", geteuid() ? "-rm" : "-m", "/bin/sh",
		     "-c", "mount --bind etc /etc"))
		    .code != 0)
		cr_skip_test("needs to mount");
}

static void expect_from(struct result r, const char *dir, const char *from)
{
	char line[9000];

	cr_expect_eq(r.code, 0, "%d %s", r.code, r.err);
	snprintf(line, sizeof(line), "dlock: using file:%s, from %s\n",
		 file_path(dir), from);
	cr_expect(has_line(r.err, line), "not %s in: %s", line, r.err);
}

static void expect_asked_for(const char *const argv[])
{
	struct result r = run(argv);

	expect_says(r, 64, "dlock: which store?");
	expect_says(r, 64, "-u file:///");
	expect_says(r, 64, "-u redis://");
	expect_says(r, 64, user_conf());
	expect_says(r, 64, "/etc/dlock.conf");
	cr_expect_str_empty(r.out);
}

Test(store, that_nothing_names_is_a_mistake)
{
	setenv("XDG_RUNTIME_DIR", file_path("etc"), 1);
	expect_asked_for(ARGS(NULL, "run", "n", "--", "/bin/echo", "ran"));
	expect_asked_for(ARGS(NULL, "show", "n"));
	expect_asked_for(ARGS(NULL, "list"));
	expect_asked_for(ARGS(NULL, "break", "-y", "n"));
	setenv("DLOCK_URI", "", 1);
	expect_asked_for(ARGS(NULL, "run", "n", "--", "/bin/echo", "ran"));
	cr_expect_eq(rmdir(file_path("etc")), 0, "something was made there");
	/* An empty option does not count as a missing option. */
	setenv("DLOCK_URI", uri_of("locks"), 1);
	expect_says(DLOCK("run", "-u", "", "n", "/bin/true"), 64,
		    "-u is empty");
}

Test(store, may_be_named_by_the_users_file)
{
	char from[4400];

	snprintf(from, sizeof(from), "%s:3", user_conf());
	set_uri(user_conf(), uri_of("a"));
	expect_from(DLOCK("run", "-v", "n", "/bin/true"), "a", from);
	setenv("DLOCK_URI", "", 1);
	expect_from(DLOCK("list", "-v"), "a", from);
	unsetenv("XDG_CONFIG_HOME");
	setenv("HOME", file_path("home"), 1);
	expect_says(DLOCK("list"), 64, file_path("home/.config/dlock.conf"));
	cr_assert_eq(mkdir(file_path("home"), 0700), 0);
	cr_assert_eq(mkdir(file_path("home/.config"), 0700), 0);
	snprintf(from, sizeof(from), "%s:3",
		 file_path("home/.config/dlock.conf"));
	set_uri(file_path("home/.config/dlock.conf"), uri_of("b"));
	expect_from(DLOCK("list", "-v"), "b", from);
	setenv("XDG_CONFIG_HOME", "relative", 1);
	expect_from(DLOCK("list", "-v"), "b", from);
}

Test(store, is_what_the_nearest_one_names)
{
	char from[4400];

	needs_mounts();
	snprintf(from, sizeof(from), "%s:3", user_conf());
	set_uri(system_conf(), uri_of("a"));
	expect_from(WITH_ETC("run", "-v", "n", "/bin/true"), "a",
		    "/etc/dlock.conf:3");
	set_uri(user_conf(), uri_of("b"));
	expect_from(WITH_ETC("list", "-v"), "b", from);
	setenv("DLOCK_URI", uri_of("c"), 1);
	expect_from(WITH_ETC("list", "-v"), "c", "$DLOCK_URI");
	expect_from(WITH_ETC("list", "-v", "-u", uri_of("d")), "d", "-u");
	/* The settings have separate sources. */
	write_file(system_conf(), "require = REMOTE\n", 0644);
	expect_says(WITH_ETC("run", "n", "/bin/true"), 78,
		    "REMOTE, by /etc/dlock.conf:1");
}

Test(store, mistakes_in_a_file_are_named_with_their_line)
{
	static const struct {
		const char *text, *says;
	} cases[] = {
		{ "uri\n", "dlock.conf:1: there is no \"=\"" },
		{ "\n#\nurl = file:///x\n", "dlock.conf:3: there is no setting "
					    "\"url\": did you mean \"uri\"?" },
		{ "timeout = 3\n", "there are \"uri\" and \"require\"" },
		{ "= 3\n", "there is no setting \"\"" },
		{ "redis://me:geheim-4711@h/?ttl=3s\n",
		  "dlock.conf:1: lines begin with \"uri =\" or" },
		{ "uri: redis://me:geheim=4711@h/\n", "lines begin with" },
		{ "uri =\n", "dlock.conf:1: the value is missing" },
		{ "uri = \"file:///x\"\n", "dlock.conf:1: the value begins "
					   "with a quotation mark" },
		{ "uri = file:///x\nuri = file:///y\n",
		  "dlock.conf:2: \"uri\" was set in line 1" },
		{ "uri = nosuch://x\n", "dlock.conf:1" },
		{ "uri = file:///x\nrequire = FENSE\n",
		  "dlock.conf:2: there is no capability \"FENSE\": did you "
		  "mean FENCE?" },
		/* Other users may read the file. */
		{ "uri = redis://me:geheim-4711@h/\n",
		  "dlock.conf:1: the URI has a password" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct result r;

		write_file(user_conf(), cases[i].text, 0644);
		r = DLOCK("run", "n", "--", "/bin/echo", "ran");
		expect_says(r, 64, cases[i].says);
		expect_says(r, 64, user_conf());
		cr_expect_str_empty(r.out);
		cr_expect_null(strstr(r.err, "geheim"));
	}
}

Test(store, is_not_taken_from_a_file_that_others_may_write)
{
	set_uri(user_conf(), uri_of("a"));
	cr_assert_eq(chmod(user_conf(), 0664), 0);
	expect_says(DLOCK("list"), 64, "chmod go-w");
	cr_assert_eq(chmod(user_conf(), 0646), 0);
	expect_says(DLOCK("list"), 64, "chmod go-w");
	/* With -u, dlock does not read the file. */
	cr_expect_eq(DLOCK("list", "-u", uri_of("a")).code, 0);
}

Test(store, is_not_taken_from_what_is_no_file)
{
	cr_assert_eq(mkdir(user_conf(), 0700), 0);
	expect_says(DLOCK("list"), 64, "is not a regular file");
	cr_assert_eq(rmdir(user_conf()), 0);
	cr_assert_eq(mkfifo(user_conf(), 0600), 0);
	expect_says(DLOCK("list"), 64, "is not a regular file");
}

Test(store, is_not_taken_from_a_file_of_another_user)
{
	if (geteuid() != 0)
		cr_skip_test("needs root");
	needs_mounts();
	set_uri(user_conf(), uri_of("a"));
	cr_assert_eq(chown(user_conf(), 65534, 65534), 0);
	expect_says(DLOCK("list"), 64, "belongs to user 65534");
	cr_assert_eq(unlink(user_conf()), 0);
	set_uri(system_conf(), uri_of("a"));
	cr_assert_eq(chown(system_conf(), 65534, 65534), 0);
	expect_says(WITH_ETC("list"), 64, "/etc/dlock.conf belongs to user");
}

/* A daemon that root started as another user still has root's $HOME. */
Test(store, of_a_user_that_dlock_is_no_more_is_not_looked_for)
{
	needs_other_users();
	cr_assert_eq(mkdir(file_path("home"), 0700), 0);
	setenv("XDG_CONFIG_HOME", file_path("home"), 1);
	set_uri(file_path("home/dlock.conf"), uri_of("a"));
	expect_says(run(ARGS("/usr/bin/setpriv", "--reuid=65534",
			     "--clear-groups", getenv("DLOCK_BIN"), "list")),
		    64, "which store?");
}

/* The user of a set-user-ID dlock sets the environment, but must not choose the
 * store. */
Test(store, of_a_set_user_id_dlock_is_the_systems)
{
	char script[9000];
	struct result r;

	needs_other_users();
	needs_mounts();
	snprintf(script, sizeof(script),
		 "cp '%s' suid && chown 65534 suid && chmod 4755 suid",
		 getenv("DLOCK_BIN"));
	cr_assert_eq(run(ARGS("/bin/sh", "-c", script)).code, 0);
	set_uri(user_conf(), uri_of("a"));
	setenv("DLOCK_URI", uri_of("b"), 1);
	r = run(ARGS(file_path("suid"), "list"));
#ifdef __SANITIZE_ADDRESS__
	r.code = 64; /* the leak check fails in such a process */
#endif
	expect_says(r, 64, "which store?");
	cr_expect_null(strstr(r.err, user_conf()), "%s", r.err);
}

Test(store, may_have_a_password_in_a_file_that_is_private)
{
	struct result r;

	write_file(user_conf(), "uri = redis://me:geheim-4711@h/\n", 0600);
	r = DLOCK("help", "-v");
	expect_says(r, 0, "the store is redis://me:***********@h/, from ");
	cr_expect_null(strstr(r.err, "geheim"), "%s", r.err);
}

Test(store, is_told_by_help_and_backends)
{
	setenv("DLOCK_URI", uri_of("a"), 1);
	setenv("DLOCK_REQUIRE", "fence, WAKE", 1);
	expect_says(DLOCK("help", "-v"), 0, ", from $DLOCK_URI\n");
	expect_says(DLOCK("backends", "-v"), 0, ", from $DLOCK_URI\n");
	expect_says(DLOCK("backends", "-v"), 0,
		    "required of it: FENCE WAKE, by $DLOCK_REQUIRE\n");
	cr_expect_str_empty(DLOCK("backends").err);
	unsetenv("DLOCK_URI");
	expect_says(DLOCK("help", "-v"), 0, "which store?");
}

Test(store, must_promise_what_is_required)
{
	struct result r;

	setenv("DLOCK_URI", uri_of("a"), 1);
	r = DLOCK("run", "--require", "FENCE,REMOTE", "n", "/bin/echo", "ran");
	expect_says(r, 78, "REMOTE");
	expect_says(r, 78, "REMOTE FENCE, by --require\n");
	cr_expect_str_empty(r.out);
	setenv("DLOCK_REQUIRE", "REMOTE", 1);
	expect_says(DLOCK("run", "n", "/bin/true"), 78, "$DLOCK_REQUIRE");
	cr_expect_eq(DLOCK("run", "--require=none", "n", "true").code, 0);
	cr_expect_eq(DLOCK("run", "--require=fence", "n", "true").code, 0);
	/* `dlock list` takes no lock. */
	cr_expect_eq(DLOCK("list").code, 0);
	setenv("DLOCK_REQUIRE", "", 1);
	cr_expect_eq(DLOCK("run", "n", "true").code, 0);
	write_file(user_conf(), "require = REMOTE\n", 0644);
	expect_says(DLOCK("run", "n", "/bin/true"), 78, user_conf());
}

Test(store, requirements_that_are_wrong_are_named)
{
	static const struct {
		const char *caps, *says;
	} cases[] = {
		{ "", "--require names no capability" },
		{ ",", "--require names no capability" },
		{ "fense", "did you mean FENCE?" },
		{ "FENCE,xyzzy", "\"xyzzy\": `dlock backends`" },
		{ "none,FENCE", "\"none\" stands alone" },
	};

	setenv("DLOCK_URI", uri_of("a"), 1);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		expect_says(DLOCK("run", "--require", cases[i].caps, "n",
				  "/bin/true"),
			    64, cases[i].says);
}

Test(store, of_one_process_is_refused)
{
	struct result r = DLOCK("run", "-u", "mem:", "n", "/bin/echo", "ran");

	expect_says(r, 78, "exclude nobody");
	expect_says(r, 78, "file:///");
	cr_expect_str_empty(r.out);
	setenv("DLOCK_URI", "MEM://name?ttl=1s", 1);
	expect_says(DLOCK("run", "n", "/bin/true"), 78, "from $DLOCK_URI");
}
