/* SPDX-License-Identifier: Apache-2.0 */
/* cxx - run every test with every URI of DLOCK_TEST_URIS. */
#include "cxx/check.hpp"

#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <sstream>
#include <vector>

static const test *first;

test::test(const char *name, void (*run)(const std::string &uri))
	: name(name), run(run), next(first)
{
	first = this;
}

static bool passes(const test &t, const std::string &uri)
{
	std::string why;

	try {
		t.run(uri);
		std::printf("PASS: %s, %s\n", t.name, uri.c_str());
		return true;
	} catch (const std::exception &e) {
		why = e.what();
	}
	std::printf("FAIL: %s, %s: %s\n", t.name, uri.c_str(), why.c_str());
	return false;
}

int main(int argc, char **argv)
{
	const char *given = std::getenv("DLOCK_TEST_URIS");
	std::istringstream words(given ? given : "mem:");
	const std::vector<std::string> uris{
		std::istream_iterator<std::string>(words), {}
	};
	int passed = 0, failed = 0;

	std::setvbuf(stdout, nullptr, _IOLBF, 0);
	for (const std::string &uri : uris) {
		for (const test *t = first; t; t = t->next) {
			if (argc > 1 && std::string(argv[1]) != t->name)
				continue;
			if (passes(*t, uri))
				passed++;
			else
				failed++;
		}
	}
	std::printf("%d passed, %d failed, 0 skipped\n", passed, failed);
	return failed > 0 || passed == 0;
}
