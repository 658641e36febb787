/* SPDX-License-Identifier: Apache-2.0 */
/* With the standard library's guards. */
#include "cxx/check.hpp"

#include <atomic>
#include <future>
#include <mutex>
#include <shared_mutex>
#include <vector>

using namespace std::chrono_literals;
using steady = std::chrono::steady_clock;

TEST(lock_guard_holds)
{
	dlock::client c(uri), other(uri);
	dlock::mutex mine(c, name), theirs(other, name);

	CHECK(!mine.held());
	{
		const std::lock_guard guard(mine);

		CHECK(mine.held() && mine.held().token() > 0);
		CHECK(!theirs.try_lock());
	}
	CHECK(!mine.held());
	CHECK(theirs.try_lock());
	theirs.unlock();
	THROWS(theirs.unlock(), dlock::errc::invalid);
}

TEST(unique_lock_waits_so_long)
{
	dlock::client c(uri), other(uri);
	dlock::mutex mine(c, name), theirs(other, name);
	std::unique_lock<dlock::mutex> lk(mine, std::try_to_lock);

	CHECK(lk);
	const auto begin = steady::now();
	CHECK(!std::unique_lock<dlock::mutex>(theirs, 50ms));
	CHECK(steady::now() - begin >= 50ms);
	CHECK(!std::unique_lock<dlock::mutex>(theirs, steady::now() + 20ms));
	CHECK(!std::unique_lock<dlock::mutex>(
		theirs, std::chrono::system_clock::now() + 20ms));
	CHECK(!std::unique_lock<dlock::mutex>(theirs, std::try_to_lock));

	lk.unlock();
	std::unique_lock<dlock::mutex> late(theirs, std::defer_lock);
	CHECK(late.try_lock_for(10s));
	CHECK(!lk.try_lock());
	late.release()->unlock();
	lk.lock();
	CHECK(lk.owns_lock());
}

TEST(waiter_gets_it_in_time)
{
	dlock::client c(uri), other(uri);
	dlock::mutex mine(c, name), theirs(other, name);
	std::unique_lock<dlock::mutex> lk(mine);
	auto waiter = std::async(std::launch::async, [&] {
		return std::unique_lock<dlock::mutex>(theirs, 1h).owns_lock();
	});

	EVENTUALLY(other.stats().waiters == 1);
	lk.unlock();
	CHECK(waiter.get());
}

TEST(mutex_is_recursive)
{
	dlock::client c(uri), other(uri);
	dlock::mutex mine(c, name), theirs(other, name);

	mine.lock();
	const dlock::hold_ref outer = mine.held();
	mine.lock();
	CHECK(mine.held() == outer);
	mine.unlock();
	CHECK(mine.held() == outer && !theirs.try_lock());
	mine.unlock();
	CHECK(theirs.try_lock());
	theirs.unlock();
}

TEST(threads_share_a_mutex)
{
	dlock::client c(uri);
	dlock::mutex m(c, name);
	std::vector<std::future<void>> threads;
	std::uint64_t last = 0;
	int sum = 0;

	for (int i = 0; i < 4; i++) {
		threads.push_back(std::async(std::launch::async, [&] {
			for (int k = 0; k < 25; k++) {
				const std::lock_guard guard(m);

				CHECK(m.held().token() > last);
				last = m.held().token();
				sum++;
			}
		}));
	}
	for (auto &t : threads)
		t.get();
	CHECK(sum == 100);
}

TEST(scoped_lock_takes_both)
{
	dlock::client c(uri), other(uri);
	dlock::mutex a(c, name + "/a"), b(c, name + "/b");
	dlock::mutex their_a(other, name + "/a"), their_b(other, name + "/b");
	const auto work = [](dlock::mutex &x, dlock::mutex &y) {
		for (int i = 0; i < 5; i++)
			const std::scoped_lock guard(x, y);
	};
	auto one = std::async(std::launch::async, work, std::ref(a),
			      std::ref(b));
	auto two = std::async(std::launch::async, work, std::ref(their_b),
			      std::ref(their_a));

	one.get();
	two.get();
	const std::scoped_lock guard(a, b);
	CHECK(!their_a.try_lock() && !their_b.try_lock());
}

TEST(multi_lock_takes_all_or_none)
{
	dlock::client c(uri), other(uri), memory("mem:");
	dlock::mutex a(c, name), b(memory, name + "/b"), theirs(other, name);
	dlock::multi_lock both({ a, b });

	{
		const std::lock_guard guard(both);

		CHECK(!theirs.try_lock());
		CHECK(both.held().member(0).token() > 0);
		CHECK(both.held().member(1) && !both.held().member(2));
	}
	theirs.lock();
	CHECK(!both.try_lock_for(20ms));
	CHECK(b.try_lock());
	b.unlock();
	theirs.unlock();
	CHECK(dlock::multi_lock({ a }).try_acquire());
}

TEST(readers_share)
{
	dlock::client c(uri), other(uri);
	dlock::shared_mutex mine(c, name), theirs(other, name);
	std::shared_lock<dlock::shared_mutex> one(mine), two(theirs, 5s);

	CHECK(one && two && mine.held() && theirs.held());
	std::async(std::launch::async, [&] {
		CHECK(!mine.held());
		CHECK(!std::unique_lock<dlock::shared_mutex>(mine, 20ms));
		const std::shared_lock three(mine);
		THROWS(mine.unlock(), dlock::errc::invalid);
	}).get();
	THROWS(mine.lock(), dlock::errc::deadlock);
	one.unlock();
	two.unlock();
	{
		const std::unique_lock<dlock::shared_mutex> writer(mine, 5s);

		CHECK(writer);
		CHECK(!std::shared_lock<dlock::shared_mutex>(theirs,
							     std::try_to_lock));
		CHECK(!std::shared_lock<dlock::shared_mutex>(
			theirs, steady::now() + 20ms));
		std::error_code code;
		CHECK(!theirs.try_acquire_shared(code) &&
		      code == dlock::errc::busy);
	}
	CHECK(theirs.acquire_shared());
}

TEST(multi_lock_takes_read_sides)
{
	dlock::client c(uri), other(uri);
	dlock::mutex m(c, name + "/m");
	dlock::shared_mutex r(c, name), theirs(other, name), none;
	std::error_code code;

	r.use_read_side();
	dlock::multi_lock both({ m, r });
	const dlock::hold h = both.acquire();
	CHECK(!theirs.try_acquire());
	CHECK(theirs.try_acquire_shared());
	theirs.use_read_side(code);
	CHECK(!code && theirs.try_acquire());
	{
		const std::lock_guard<dlock::shared_mutex> guard(theirs);

		CHECK(theirs.held());
	}
	THROWS(none.use_read_side(), dlock::errc::invalid);
}

TEST(reader_is_upgraded)
{
	dlock::client c(uri), other(uri);
	dlock::shared_mutex s(c, name), theirs(other, name);
	std::error_code code;

	if (!(c.caps() & DLOCK_CAP_UPGRADE)) {
		THROWS(dlock::upgradeable{ s }, dlock::errc::not_supported);
		return;
	}
	dlock::upgradeable u(s), their_u(theirs, code), none;
	CHECK(!code);
	dlock::hold reads = u.acquire();
	CHECK(!their_u.try_acquire());
	{
		const dlock::hold also = theirs.acquire_shared();

		CHECK(!u.try_upgrade(reads));
		CHECK(!u.try_upgrade_for(reads, 20ms));
		CHECK(!u.try_upgrade(reads, code));
		CHECK(code == dlock::errc::busy);
	}
	{
		const dlock::hold writes = u.upgrade(reads);

		CHECK(!theirs.try_acquire_shared());
		THROWS(reads.release(), dlock::errc::invalid);
		CHECK(writes.token() > reads.token() || writes.token() == 0);
	}
	CHECK(theirs.try_acquire_shared());
	CHECK(!theirs.try_acquire());
	CHECK(u.upgrade(reads, code) && !code);
	CHECK(u.try_upgrade_for(reads, 5s, code) && !code);
	reads.release();
	THROWS(static_cast<void>(u.upgrade(reads)), dlock::errc::invalid);
	THROWS(static_cast<void>(none.try_upgrade(reads)),
	       dlock::errc::invalid);
	const std::lock_guard<dlock::upgradeable> guard(u);
	CHECK(u.try_upgrade(u.held()));
}

TEST(unbound_hold_goes_to_another_thread)
{
	dlock::client c(uri), other(uri);
	dlock::mutex mine(c, name), theirs(other, name), none;
	dlock::shared_mutex s(c, name + "/s"), their_s(other, name + "/s");
	std::error_code code = dlock::errc::lost;

	mine.unbind();
	s.unbind(code);
	CHECK(!code);
	dlock::hold h = mine.acquire(), r = s.acquire_shared();
	CHECK(!mine.try_acquire() && !theirs.try_acquire());
	std::async(std::launch::async, [h = std::move(h),
					r = std::move(r)]() mutable {
		h.release();
		r.release();
	}).get();
	CHECK(their_s.try_acquire_for(5s));
	{
		const std::lock_guard guard(mine);

		CHECK(mine.held() && !theirs.try_acquire());
		CHECK(!mine.try_lock());
	}
	CHECK(theirs.try_acquire_for(5s));
	none.unbind(code);
	CHECK(code == dlock::errc::invalid);
	THROWS(none.unbind(), dlock::errc::invalid);
}

TEST(cancel_ends_a_wait)
{
	dlock::client c(uri), other(uri);
	dlock::mutex mine(c, name), theirs(other, name);
	const dlock::hold h = mine.acquire();
	std::atomic<int> ended{ 0 };
	auto waiter = std::async(std::launch::async, [&] {
		THROWS(theirs.lock(), dlock::errc::canceled);
		ended++;
		THROWS(theirs.try_lock_for(1h), dlock::errc::canceled);
		ended++;
	});

	for (int i = 0; i < 2; i++) {
		EVENTUALLY(ended == i && other.stats().waiters == 1);
		theirs.cancel();
		EVENTUALLY(ended == i + 1);
	}
	waiter.get();
}

TEST(locks_can_be_moved)
{
	dlock::client c(uri), other(uri), moved(std::move(c));
	dlock::mutex a(moved, name), theirs(other, name);

	CHECK(!c && moved);
	a.lock();
	dlock::mutex b(std::move(a));
	CHECK(!a && b && b.held() && !theirs.try_lock());
	b = dlock::mutex(moved, name + "/other");
	CHECK(theirs.try_lock());
	theirs.unlock();
}

TEST(reports)
{
	dlock::options o;

	o.label = "a label";
	dlock::client c(uri, o), other(uri);
	dlock::mutex mine(c, name), theirs(other, name);
	const dlock::hold h = mine.acquire();
	const auto found = theirs.inspect(5s);

	CHECK(found.size() == 1 && found[0].label == "a label");
	CHECK(found[0].token == h.token() && !found[0].waiting);
	if (c.caps() & DLOCK_CAP_LIST) {
		bool listed = false;

		for (const auto &l : other.list(5s))
			listed = listed || (l.name == name && !l.kind.empty());
		CHECK(listed);
	} else {
		THROWS(other.list(5s), dlock::errc::not_supported);
	}
	CHECK(c.stats().holds == 1 && c.stats().granted == 1);
	CHECK(c.uri().substr(0, 3) == uri.substr(0, 3));
	CHECK(c.caps() & DLOCK_CAP_FENCE);
	CHECK((c.ttl() == dlock::no_expiry) ==
	      (h.remaining() == dlock::no_expiry));
	CHECK(h.warning() <= h.remaining() && c.linger() >= 0ms);
}

TEST(cancel_before_the_wait)
{
	dlock::client c(uri);
	dlock::mutex mine(c, name);
	std::error_code code;

	mine.sticky_cancel();
	mine.cancel();
	CHECK(!mine.acquire(code) && code == dlock::errc::canceled);
	CHECK(mine.acquire(code) && !code);
}

TEST(counts_of_holds)
{
	dlock::client c(uri);
	dlock::mutex mine(c, name);

	CHECK(mine.held_count() == 0);
	{
		const std::lock_guard one(mine), two(mine);

		CHECK(mine.held_count() == 2);
		CHECK(std::async(std::launch::async, [&] {
			      return mine.held_count();
		      }).get() == 0);
	}
	CHECK(mine.held_count() == 0);
	std::string thrown;
	THROWS(dlock::mutex().held_count(), dlock::errc::invalid);
}

TEST(names_of_any_bytes)
{
	dlock::client c(uri);
	const dlock::lock_name odd(std::string("a\0b", 3));

	CHECK(odd.text == "%e:a%00b" && odd.how == dlock::lock_name::escaped);
	CHECK(dlock::mutex(c, odd.text).try_acquire());
	CHECK(dlock::lock_name("plain").how == dlock::lock_name::same);
	CHECK(dlock::lock_name(std::string(1000, 'x')).how ==
	      dlock::lock_name::hashed);
}
