/* SPDX-License-Identifier: Apache-2.0 */
/* No memory: the locks are released.  And freed memory holds no password. */
#include "cxx/check.hpp"

#include <cstdlib>
#include <malloc.h>
#include <new>
#include <string.h>

using namespace std::chrono_literals;

/* This thread's allocations until the failing allocation; 0: all succeed. */
static thread_local int fails;

void *operator new(std::size_t n)
{
	if (fails > 0 && --fails == 0)
		throw std::bad_alloc();
	if (void *p = std::malloc(n ? n : 1))
		return p;
	throw std::bad_alloc();
}

/* A password too long for std::string's small buffer, and how often this thread
 * freed memory with the password. */
static const char password[] = "a password that no other text has in it";
static thread_local int left;

static void give_back(void *p)
{
	const std::size_t size = p ? malloc_usable_size(p) : 0;

	if (p && memmem(p, size, password, sizeof(password) - 1)) {
		left++;
		explicit_bzero(p, size); /* not to be found again */
	}
	std::free(p);
}

void operator delete(void *p) noexcept
{
	give_back(p);
}

void operator delete(void *p, std::size_t) noexcept
{
	give_back(p);
}

/* Lets an allocation fail within the scope: a handler of an exception from the
 * scope has all memory. */
struct failure {
	explicit failure(int n)
	{
		fails = n;
	}
	~failure()
	{
		fails = 0;
	}
};

/* How often `f` failed before all allocations succeeded. */
template <class F> static int without_memory(F f)
{
	int n = 0;

	for (bool again = true; again;) {
		const failure nth(++n);

		try {
			f();
		} catch (const std::bad_alloc &) {
		}
		again = fails == 0;
	}
	return n - 1;
}

TEST(lock_without_memory_holds_nothing)
{
	dlock::client c(uri), other(uri);
	dlock::mutex theirs(other, name);
	dlock::mutex mine(c, name);
	int locked = 0;
	const int n = without_memory([&] {
		dlock::mutex one(c, name);

		one.lock();
		locked++;
		one.unlock();
	});

	CHECK(n >= 2 && locked == 1);
	CHECK(theirs.try_acquire());
	CHECK(mine.try_acquire());
}

TEST(begun_acquire_without_memory)
{
	dlock::client c(uri), other(uri);
	dlock::mutex mine(c, name), theirs(other, name);

	mine.unbind();
	{
		const dlock::hold first = theirs.acquire();

		CHECK(without_memory([&] {
			      std::error_code code;

			      CHECK(!mine.acquire_start(c, 0ms).get(code));
			      CHECK(code == dlock::errc::busy);
		      }) > 0);
	}
	CHECK(theirs.try_acquire());
}

TEST(reports_without_memory)
{
	dlock::client c(uri);
	dlock::mutex m(c, name);
	const dlock::hold h = m.acquire();

	CHECK(without_memory([&] {
		      CHECK(m.inspect(std::chrono::seconds(5)).size() == 1);
	      }) > 0);
	if (!(c.caps() & DLOCK_CAP_LIST))
		return;
	CHECK(without_memory([&] {
		      CHECK(!c.list(std::chrono::seconds(5)).empty());
	      }) > 0);
}

TEST(open_without_memory)
{
	CHECK(without_memory([&] { dlock::client(uri).stats(); }) > 0);
}

TEST(password_is_wiped)
{
	std::string at;

	at.reserve(100);
	at.append("redis://:").append(password).append("@:x/");
	left = 0;
	std::string *volatile kept = new std::string(password);
	delete kept;
	CHECK(left == 1);
	{
		std::error_code code;
		dlock::options o;

		o.password = password;
		const dlock::client c(uri, std::move(o), code);
		CHECK(c || code);
		const dlock::client none(at, {}, code);
		CHECK(!none && !strstr(dlock_errmsg(), password));
	}
	CHECK(left == 1);
}
