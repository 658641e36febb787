/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests of dlock.hpp: each is run with every URI of DLOCK_TEST_URIS.  A failed
 * check throws, and so ends the test, also from a std::future.
 */
#ifndef DLOCK_TESTS_CXX_CHECK_HPP
#define DLOCK_TESTS_CXX_CHECK_HPP

#include <dlock/dlock.hpp>

#include <chrono>
#include <stdexcept>
#include <string>
#include <thread>

struct check_failed : std::runtime_error {
	using std::runtime_error::runtime_error;
};

struct test {
	const char *name;
	void (*run)(const std::string &uri);
	const test *next;

	test(const char *name, void (*run)(const std::string &uri));
};

/* TEST(name_of_the_rule) { uses `uri`, and `name` for locks } */
#define TEST(title)                                                           \
	static void title(const std::string &uri, const std::string &name);   \
	static const test test_##title(#title, [](const std::string &u) {     \
		title(u, #title);                                             \
	});                                                                   \
	static void title([[maybe_unused]] const std::string &uri,            \
			  [[maybe_unused]] const std::string &name)

[[noreturn]] inline void fail_check(const char *file, int line,
				    const std::string &what)
{
	throw check_failed(std::string(file) + ":" + std::to_string(line) +
			   ": " + what);
}

#define FAIL(what) fail_check(__FILE__, __LINE__, what)

#define CHECK(condition)                                                      \
	do {                                                                  \
		if (!(condition))                                             \
			FAIL(#condition);                                     \
	} while (0)

/* The call throws dlock::error with this code; the text is in `thrown`. */
#define THROWS(call, wanted)                                                  \
	do {                                                                  \
		bool did_ = false;                                            \
		try {                                                         \
			call;                                                 \
		} catch (const dlock::error &e) {                             \
			did_ = true;                                          \
			thrown = e.what();                                    \
			if (e.code() != (wanted))                             \
				FAIL(#call " threw: " + thrown);              \
		}                                                             \
		if (!did_)                                                    \
			FAIL(#call " did not throw");                         \
	} while (0)

inline thread_local std::string thrown;

inline bool has(const std::string &text, const std::string &part)
{
	return text.find(part) != std::string::npos;
}

#define EVENTUALLY(condition)                                                 \
	do {                                                                  \
		const auto end_ = std::chrono::steady_clock::now() +          \
				  std::chrono::seconds(20);                   \
		while (!(condition)) {                                        \
			if (std::chrono::steady_clock::now() > end_)          \
				FAIL("never came true: " #condition);         \
			std::this_thread::sleep_for(                          \
				std::chrono::milliseconds(1));                \
		}                                                             \
	} while (0)

/* `uri` with a lease short enough for a test to see a loss. */
inline std::string short_lease(const std::string &uri)
{
	return uri + (has(uri, "?") ? "&" : "?") + "ttl=1500ms";
}

#endif
