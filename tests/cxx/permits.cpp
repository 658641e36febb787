/* SPDX-License-Identifier: Apache-2.0 */
/* Semaphores. */
#include "cxx/check.hpp"

#include <future>
#include <utility>

using namespace std::chrono_literals;

TEST(permit_goes_to_another_thread)
{
	dlock::client c(uri), other(uri);
	dlock::semaphore s(c, name, 2), theirs(other, name, 2);
	dlock::hold one = s.acquire(), two = theirs.acquire();

	CHECK(!s.try_acquire() && !theirs.try_acquire_for(20ms));
	std::async(std::launch::async, [h = std::move(one)]() mutable {
		h.release();
	}).get();
	CHECK(s.try_acquire_for(5s));
	std::error_code code;
	dlock::semaphore more(other, name, 3, code);
	if (!code)
		CHECK(!more.try_acquire(code));
	CHECK(code == dlock::errc::invalid);
}

TEST(permits_are_counted)
{
	dlock::client c(uri), other(uri);
	dlock::semaphore s(c, name, 3), theirs(other, name, 3), none;
	const dlock::hold one = s.acquire();
	std::error_code code = dlock::errc::lost;
	const dlock::permit_count n = theirs.permits(5s);
	const auto found = theirs.inspect(5s);

	CHECK(n.limit == 3 && n.held == 1 && n.free == 2);
	CHECK(theirs.permits(5s, code).free == 2 && !code);
	CHECK(found.size() == 1 && found[0].permits == 1);
	CHECK(found[0].limit == 3);
	none.permits(5s, code);
	CHECK(code == dlock::errc::invalid);
	THROWS(none.permits(5s), dlock::errc::invalid);
}

TEST(permits_are_resized)
{
	dlock::client c(uri), other(uri);
	dlock::semaphore s(c, name, 1), theirs(other, name, 1);
	std::error_code code;

	if (!(c.caps() & DLOCK_CAP_RESIZE)) {
		THROWS(s.resize(2, 5s), dlock::errc::not_supported);
		return;
	}
	THROWS(s.resize(2, 5s), dlock::errc::invalid);
	const dlock::hold one = s.acquire();
	CHECK(!theirs.try_acquire());
	s.resize(2, 5s);
	CHECK(theirs.permits(5s).limit == 2);
	const dlock::hold two = theirs.try_acquire();
	CHECK(two);
	theirs.resize(1, 5s, code);
	CHECK(!code && s.permits(5s).free == 0);
	s.resize(0, 5s, code);
	CHECK(code == dlock::errc::invalid);
}

TEST(permits_are_taken_at_once)
{
	dlock::client c(uri), other(uri);
	dlock::semaphore s(c, name, 3), theirs(other, name, 3);
	std::error_code code;

	dlock::acquire_options o;

	o.permits = 4;
	THROWS(static_cast<void>(s.acquire(o)), dlock::errc::invalid);
	o.permits = 2;
	if (!(c.caps() & DLOCK_CAP_PERMITS)) {
		THROWS(static_cast<void>(s.try_acquire(o)),
		       dlock::errc::not_supported);
		return;
	}
	const dlock::hold two = s.acquire(o);
	CHECK(theirs.inspect(5s).at(0).permits == 2);
	o.timeout = 20ms;
	CHECK(!theirs.try_acquire(o));
	CHECK(!theirs.acquire(o, code) && code == dlock::errc::busy);
	CHECK(theirs.try_acquire());
	o.permits = 1;
	CHECK(s.acquire(o, code) && !code);
}
