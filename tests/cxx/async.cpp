/* SPDX-License-Identifier: Apache-2.0 */
/* Acquires without a waiting thread. */
#include "cxx/check.hpp"

#include <poll.h>
#include <utility>

using namespace std::chrono_literals;

static bool readable(int fd)
{
	pollfd p{ fd, POLLIN, 0 };

	return poll(&p, 1, 20000) == 1;
}

TEST(begun_acquire_calls_back)
{
	dlock::client c(uri), other(uri);
	dlock::mutex mine(c, name), theirs(other, name);
	int told = 0;

	mine.unbind();
	{
		const dlock::hold first = theirs.acquire();

		mine.acquire_start([&](std::error_code code, dlock::hold h,
				       const char *message) {
			CHECK(!code && h && !h.check() && message);
			told++;
		});
		CHECK(c.pending() == 1 && !c.wait(20ms));
	}
	CHECK(readable(c.fd()));
	CHECK(!c.process() && told == 1 && c.pending() == 0);
	/* The hold ended with the callback. */
	CHECK(theirs.try_acquire_for(20s));
}

TEST(begun_acquire_is_awaited)
{
	dlock::client c(uri), other(uri);
	dlock::mutex mine(c, name), theirs(other, name);
	dlock::acquiring a;

	mine.unbind();
	CHECK(a.ready());
	THROWS(static_cast<void>(a.get()), dlock::errc::invalid);
	a = mine.acquire_start(c);
	{
		const dlock::hold h = a.get();

		CHECK(h && !h.check() && a.ready());
		CHECK(!theirs.try_acquire());
		THROWS(static_cast<void>(a.get()), dlock::errc::invalid);
		CHECK(has(thrown, "NULL"));
		a = mine.acquire_start(c, 30ms);
		THROWS(static_cast<void>(a.get()), dlock::errc::busy);
		CHECK(has(thrown, name));
	}
	CHECK(theirs.try_acquire_for(20s));
}

TEST(begun_acquire_is_cancelled)
{
	dlock::client c(uri), other(uri);
	dlock::mutex mine(c, name), theirs(other, name);

	mine.unbind();
	{
		const dlock::hold first = theirs.acquire();
		dlock::acquiring a = mine.acquire_start(c);
		std::error_code code;

		a.cancel();
		CHECK(!a.get(code) && code == dlock::errc::canceled);
		/* The future is dropped, and the second call cancelled. */
		static_cast<void>(mine.acquire_start(c));
		const dlock_op op = mine.acquire_start(
			[](std::error_code, dlock::hold, const char *) {});
		CHECK(c.cancel(op));
		while (c.pending() > 0)
			c.wait(20s);
		CHECK(!c.cancel(op));
	}
	CHECK(theirs.try_acquire_for(20s));
}

TEST(begun_acquire_is_cancelled_behind_the_grant)
{
	dlock::client c(uri), other(uri);
	dlock::mutex mine(c, name), theirs(other, name);

	mine.unbind();
	{
		dlock::acquiring a = mine.acquire_start(c);

		CHECK(readable(c.fd()));
		a.cancel();
		const dlock::hold h = a.get();

		CHECK(h && !h.check());
		CHECK(!theirs.try_acquire());
	}
	CHECK(theirs.try_acquire_for(20s));
	/* Without the object the hold is released. */
	{
		dlock::acquiring a = mine.acquire_start(c);

		CHECK(readable(c.fd()));
		a.cancel();
	}
	while (c.pending() > 0)
		c.wait(20s);
	CHECK(theirs.try_acquire_for(20s));
}

TEST(begun_acquire_needs_unbound_handle)
{
	dlock::client c(uri);
	dlock::mutex mine(c, name);

	THROWS(static_cast<void>(mine.acquire_start(c)), dlock::errc::invalid);
	CHECK(has(thrown, "dlock_lock_unbind"));
	CHECK(c.pending() == 0);
}

TEST(begun_acquire_needs_its_client)
{
	dlock::client c(uri), other(uri);
	dlock::mutex mine(c, name), theirs(other, std::string(name) + "/2");

	mine.unbind();
	theirs.unbind();
	dlock::multi_lock both({ mine, theirs });

	THROWS(static_cast<void>(mine.acquire_start(other)),
	       dlock::errc::invalid);
	THROWS(static_cast<void>(both.acquire_start(other, 5s)),
	       dlock::errc::invalid);
	CHECK(has(thrown, "client") && c.pending() == 0);
	CHECK(both.acquire_start(c).get());
	const dlock::client moved(std::move(c));

	THROWS(static_cast<void>(mine.acquire_start(c)), dlock::errc::invalid);
}

TEST(begun_acquire_needs_a_callback)
{
	dlock::client c(uri);
	dlock::mutex mine(c, name);

	mine.unbind();
	THROWS(mine.acquire_start(dlock::granted_fn()), dlock::errc::invalid);
	while (c.pending() > 0)
		c.wait(20s);
	CHECK(mine.try_acquire());
}

TEST(begun_acquires_share)
{
	dlock::client c(uri);

	if (!(c.caps() & DLOCK_CAP_SHARED))
		return;
	dlock::shared_mutex l(c, name);

	l.unbind();
	dlock::acquiring a = l.acquire_shared_start(c);
	dlock::acquiring b = l.acquire_shared_start(c);
	const dlock::hold one = a.get(), two = b.get();

	CHECK(one && two);
}

TEST(begun_acquire_ends_with_its_client)
{
	dlock::acquiring a;
	dlock::client other(uri);
	dlock::mutex theirs(other, name);
	const dlock::hold first = theirs.acquire();
	dlock::mutex mine;

	{
		dlock::client c(uri);

		mine = dlock::mutex(c, name);
		mine.unbind();
		a = mine.acquire_start(c);
		CHECK(!a.ready());
	}
	CHECK(a.ready());
	THROWS(static_cast<void>(a.get()), dlock::errc::canceled);
}

/* Each scope ends with the lock objects, ahead of the callbacks. */
TEST(begun_acquire_outlives_its_lock_object)
{
	dlock::client c(uri), other(uri);
	dlock::mutex theirs(other, name);
	dlock::acquiring a;
	{
		const dlock::hold first = theirs.acquire();

		for (const bool dropped : { true, false }) {
			dlock::mutex mine(c, name);

			mine.unbind();
			dlock::multi_lock all({ mine });
			dlock::acquiring one = mine.acquire_start(c);
			dlock::acquiring both = all.acquire_start(c);

			c.wait(20ms);
			if (!dropped)
				a = std::move(both);
		}
	}
	{
		const dlock::hold h = a.get();

		CHECK(h && !h.check() && !theirs.try_acquire());
	}
	CHECK(theirs.try_acquire_for(20s));
	while (c.pending() > 0)
		CHECK(c.wait(20s));
}

TEST(begun_acquire_of_many)
{
	dlock::client c(uri), other(uri);
	dlock::mutex one(c, name), two(c, std::string(name) + "/2");
	dlock::mutex theirs(other, name);

	THROWS(static_cast<void>(
		       dlock::multi_lock({ one, two }).acquire_start(c)),
	       dlock::errc::invalid);
	one.unbind();
	two.unbind();
	dlock::multi_lock both({ two, one });
	dlock::acquiring a;
	{
		const dlock::hold first = theirs.acquire();

		a = both.acquire_start(c, 0ms);
		THROWS(static_cast<void>(a.get()), dlock::errc::busy);
		a = both.acquire_start(c);
		CHECK(!c.wait(20ms) && !a.ready());
	}
	{
		const dlock::hold h = a.get();

		CHECK(h && !h.check() && !theirs.try_acquire());
	}
	CHECK(theirs.try_acquire_for(20s));
}

TEST(begun_upgrade_is_awaited)
{
	dlock::client c(uri), other(uri);
	dlock::shared_mutex s(c, name), theirs(other, name);

	if (!(c.caps() & DLOCK_CAP_UPGRADE))
		return;
	dlock::upgradeable bound(s);
	{
		const dlock::hold reads = bound.acquire();

		THROWS(static_cast<void>(bound.upgrade_start(c, reads)),
		       dlock::errc::invalid);
	}
	s.unbind();
	dlock::upgradeable u(s);
	dlock::hold reads = u.acquire();
	dlock::acquiring a;
	int told = 0;
	{
		const dlock::hold also = theirs.acquire_shared();

		a = u.upgrade_start(c, reads, 20ms);
		THROWS(static_cast<void>(a.get()), dlock::errc::busy);
		a = u.upgrade_start(c, reads);
		CHECK(!c.wait(20ms) && !a.ready());
		THROWS(reads.release(), dlock::errc::invalid);
	}
	{
		const dlock::hold writes = a.get();

		CHECK(!theirs.try_acquire_shared());
	}
	CHECK(u.upgrade_start(reads, 5s,
			      [&](std::error_code code, dlock::hold h,
				  const char *) {
				      CHECK(!code && h);
				      told++;
			      }) != 0);
	CHECK(c.wait(20s) && told == 1);
	CHECK(u.upgrade_start(reads, [&](std::error_code code, dlock::hold h,
					 const char *) {
		CHECK(!code && h);
		told++;
	}) != 0);
	CHECK(c.wait(20s) && told == 2);
	reads.release();
	CHECK(theirs.try_acquire_for(20s));
}

/* The end of the scope drops the upgrade, and then releases the reader. */
TEST(reader_ends_behind_a_dropped_upgrade)
{
	dlock::client c(uri), other(uri);
	dlock::shared_mutex s(c, name), theirs(other, name);

	if (!(c.caps() & DLOCK_CAP_UPGRADE))
		return;
	s.unbind();
	dlock::upgradeable u(s);
	{
		const dlock::hold also = theirs.acquire_shared();
		const dlock::hold reads = u.acquire();
		const dlock::acquiring a = u.upgrade_start(c, reads);

		CHECK(!c.wait(20ms));
	}
	CHECK(theirs.try_acquire_for(20s));
	{
		const dlock::hold reads = u.acquire();
		const dlock::acquiring a = u.upgrade_start(c, reads);

		/* Granted, and not yet told. */
		while (dlock_due_ms(c.native_handle()) != 0)
			std::this_thread::sleep_for(1ms);
	}
	CHECK(theirs.try_acquire_for(20s));
}

/* A lease outlives two ttls only if the client renews it. */
TEST(client_without_threads_renews)
{
	dlock::options alone;
	alone.no_threads = true;
	dlock::client c(short_lease(uri), alone), other(uri);
	dlock::mutex mine(c, name), theirs(other, name);
	const bool expires = c.ttl() != dlock::no_expiry;
	const auto end = std::chrono::steady_clock::now() +
			 (expires ? 2 * c.ttl() : 0ms);

	mine.unbind();
	{
		const dlock::hold h = mine.acquire_start(c).get();

		while (std::chrono::steady_clock::now() < end) {
			static_cast<void>(c.wait(20ms));
			CHECK(!h.check() && !theirs.try_acquire());
		}
	}
	CHECK(theirs.try_acquire_for(20s));
}
