/* SPDX-License-Identifier: Apache-2.0 */
/* Built with -fno-exceptions and -fno-rtti: by codes; or abort(). */
#include <dlock/dlock.hpp>

#include <csignal>
#include <cstdio>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static int check(bool good, const char *what)
{
	std::printf("%s: %s\n", good ? "PASS" : "FAIL", what);
	return good ? 0 : 1;
}

/* Does the call abort instead of throwing? */
static bool aborts()
{
	int status = 0;
	const pid_t pid = fork();

	if (pid == 0) {
		const rlimit none = { 0, 0 };

		setrlimit(RLIMIT_CORE, &none);
		std::signal(SIGABRT, SIG_DFL);
		const dlock::client bad("nostore://h");
		_exit(0);
	}
	return pid > 0 && waitpid(pid, &status, 0) == pid &&
	       WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT;
}

int main()
{
	std::error_code code;
	int bad = check(aborts(), "without a code it aborts");
	dlock::client c("mem:", {}, code);

	bad += check(c && !code, "open");
	dlock::mutex m(c, "name", code), other(c, "", code);
	bad += check(m && !other && code == dlock::errc::invalid, "names");
	dlock::hold h = m.acquire(code);
	bad += check(h && !code, "acquire");
	bad += check(m.inspect(std::chrono::seconds(1), code).size() == 1,
		     "inspect");
	h.release(code);
	bad += check(!h && !code, "release");
	return bad ? 1 : 0;
}
