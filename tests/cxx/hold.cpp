/* SPDX-License-Identifier: Apache-2.0 */
/* Holds: taken, moved, released and lost, with the events. */
#include "cxx/check.hpp"

#include <atomic>
#include <future>
#include <mutex>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace std::chrono_literals;

TEST(hold_ends_with_its_scope)
{
	dlock::client c(uri), other(uri);
	dlock::mutex mine(c, name), theirs(other, name);
	std::uint64_t token;

	{
		const dlock::hold h = mine.acquire();

		CHECK(h && !h.check() && h.remaining() > 0ms);
		token = h.token();
		CHECK(token > 0);
		CHECK(!theirs.try_acquire());
	}
	const dlock::hold h = theirs.try_acquire();
	CHECK(h && h.token() > token);
}

TEST(exception_releases)
{
	dlock::client c(uri), other(uri);
	dlock::mutex mine(c, name), theirs(other, name);

	try {
		const dlock::hold h = mine.acquire();

		throw std::runtime_error("in the middle");
	} catch (const std::runtime_error &) {
	}
	CHECK(theirs.try_acquire());
}

TEST(hold_can_be_moved)
{
	dlock::client c(uri), other(uri);
	dlock::mutex a(c, name), b(c, name + "/b");
	dlock::mutex their_a(other, name), their_b(other, name + "/b");
	dlock::hold one = a.acquire(), two(std::move(one));

	CHECK(!one && two && !their_a.try_acquire());
	one = b.acquire();
	CHECK(!their_b.try_acquire());
	swap(one, two);
	CHECK(!their_a.try_acquire() && !their_b.try_acquire());
	/* `one` holds a now, which the next assignment releases. */
	one = std::move(two);
	CHECK(!two && their_a.try_acquire() && !their_b.try_acquire());
	one = dlock::hold();
	CHECK(their_b.try_acquire());
}

TEST(hold_goes_to_c_and_back)
{
	dlock::client c(uri), other(uri);
	dlock::mutex mine(c, name), theirs(other, name);
	dlock::hold h = mine.acquire();
	dlock_hold *raw = h.detach();

	CHECK(!h && raw && !theirs.try_acquire());
	h = dlock::hold(raw);
	h.release();
	CHECK(!h && theirs.try_acquire());
}

TEST(codes_instead_of_exceptions)
{
	dlock::client c(uri), other(uri);
	dlock::mutex mine(c, name), theirs(other, name);
	std::error_code code = dlock::errc::lost;
	dlock::hold h = mine.acquire(code);

	CHECK(h && !code);
	CHECK(!theirs.try_acquire(code) && code == dlock::errc::busy);
	CHECK(!theirs.try_acquire_for(20ms, code) && code == dlock::errc::busy);
	h.release(code);
	CHECK(!h && !code);
	CHECK(theirs.try_acquire_until(std::chrono::steady_clock::now() + 5s,
				       code) &&
	      !code);
}

TEST(only_its_thread_releases_a_mutex)
{
	dlock::client c(uri), other(uri);
	dlock::mutex mine(c, name), theirs(other, name);
	dlock::hold h = mine.acquire();

	std::async(std::launch::async, [&] {
		THROWS(h.release(), dlock::errc::invalid);
		CHECK(h);
		THROWS(mine.unlock(), dlock::errc::invalid);
	}).get();
	CHECK(!h.check() && !theirs.try_acquire());
	h.release();
	CHECK(theirs.try_acquire());
}

TEST(release_throws_a_loss)
{
	dlock::client c(short_lease(uri)), other(short_lease(uri));
	dlock::mutex mine(c, name), theirs(other, name);
	dlock::hold h = mine.acquire();
	pollfd p = { h.fd(), POLLIN, 0 };

	CHECK(poll(&p, 1, 0) == 0);
	theirs.take_away(5s);
	CHECK(poll(&p, 1, 20000) == 1);
	CHECK(h.check() == dlock::errc::lost && h.remaining() == 0ms);
	THROWS(h.release(), dlock::errc::lost);
	CHECK(has(thrown, name));
	CHECK(!h);
}

/* A destructor cannot throw; neither may unlock() of std::lock_guard. */
TEST(destructors_tell_a_loss)
{
	std::vector<std::string> told;
	dlock::options o;

	o.on_release_error = [&](std::error_code code, const char *text) {
		told.push_back(code == dlock::errc::lost ? text : "?");
	};
	dlock::client c(short_lease(uri), o), other(short_lease(uri));
	dlock::mutex mine(c, name), theirs(other, name);

	{
		const dlock::hold h = mine.acquire();

		theirs.take_away(5s);
		EVENTUALLY(h.check() == dlock::errc::lost);
	}
	CHECK(told.size() == 1 && has(told[0], name));
	{
		const std::lock_guard<dlock::mutex> guard(mine);

		theirs.take_away(5s);
		EVENTUALLY(mine.held().check() == dlock::errc::lost);
	}
	CHECK(told.size() == 2 && has(told[1], name) && !mine.held());
	{
		dlock::hold h = mine.acquire();
	}
	mine.acquire().release();
	CHECK(told.size() == 2);
}

/* ... and without a function to tell, they are silent and harmless. */
TEST(destructors_survive_a_loss)
{
	dlock::client c(short_lease(uri)), other(short_lease(uri));
	dlock::mutex mine(c, name), theirs(other, name);
	{
		const dlock::hold h = mine.acquire();

		theirs.take_away(5s);
		EVENTUALLY(h.check() == dlock::errc::lost);
	}
	CHECK(mine.try_acquire_for(10s));
}

TEST(holders_are_told_when_others_want_the_lock)
{
	std::atomic<int> wanted{ 0 };
	dlock::options o;

	o.on_event = [&](dlock::hold_ref, dlock_event e, const char *) {
		wanted += e == DLOCK_WANTED;
	};
	dlock::client c(uri, std::move(o)), other(uri);
	dlock::mutex mine(c, name), theirs(other, name);
	const dlock::hold h = mine.acquire();
	std::error_code code;

	/* It would take as long as the next renewal. */
	if (!(c.caps() & DLOCK_CAP_WANTED))
		return;
	h.revocable();
	pollfd p = { h.wanted_fd(), POLLIN, 0 };
	CHECK(poll(&p, 1, 0) == 0);
	theirs.revoke(5s, code);
	CHECK(!code);
	EVENTUALLY(wanted == 1);
	CHECK(poll(&p, 1, 0) == 1);
	CHECK(!h.check());
}

TEST(holders_of_permits_are_told_of_a_revoke)
{
	dlock::client c(uri), other(uri);
	dlock::semaphore mine(c, name, 2), theirs(other, name, 2);
	const dlock::hold held[] = { mine.acquire(), mine.acquire() };

	if (!(c.caps() & DLOCK_CAP_REVOKE_PERMITS))
		return;
	for (const dlock::hold &h : held)
		h.revocable();
	theirs.revoke(5s);
	for (const dlock::hold &h : held) {
		pollfd p = { h.wanted_fd(), POLLIN, 0 };

		CHECK(poll(&p, 1, 20000) == 1);
	}
}

TEST(events_are_told)
{
	std::mutex mu;
	std::string why;
	dlock::hold_ref told;
	std::string line;
	dlock_client *raw = nullptr;
	dlock::options o;

	o.on_event = [&](dlock::hold_ref h, dlock_event e, const char *text) {
		const std::lock_guard<std::mutex> guard(mu);

		if (e != DLOCK_LOST)
			return;
		told = h;
		why = text;
		dlock_close(raw); /* is refused, and logged */
	};
	o.on_log = [&](const dlock_log_line &said) { line += said.text; };
	dlock::client c(short_lease(uri), std::move(o)), other(uri);
	dlock::mutex mine(c, name), theirs(other, name);
	const dlock::hold h = mine.acquire();

	{
		const std::lock_guard<std::mutex> guard(mu);

		raw = c.native_handle();
	}
	theirs.take_away(5s);
	EVENTUALLY((std::lock_guard<std::mutex>(mu), told));
	/* No thread of it is left to write any of these. */
	c = dlock::client();
	CHECK(told == h && told != dlock::hold_ref() && !why.empty());
	CHECK(has(line, "dlock_close() in a callback"));
}

TEST(any_order_of_destruction)
{
	dlock::client c(uri);
	dlock::mutex m(c, name);
	dlock::hold h = m.acquire();

	c = dlock::client(uri);
	CHECK(h.check() == dlock::errc::lost);
	THROWS(h.release(), dlock::errc::lost);

	dlock::mutex n(c, name);
	h = n.acquire();
	n = dlock::mutex();
	CHECK(!h.check());
	h.release();
}

/* In the child they are the parent's. */
TEST(fork_leaves_the_parent_its_holds)
{
	int told = 0, status;
	dlock::options o;

	o.on_release_error = [&](std::error_code, const char *) { told++; };
	dlock::client c(uri, o), other(uri);
	dlock::mutex mine(c, name), theirs(other, name);
	dlock::hold h = mine.acquire();
	const pid_t pid = fork();

	if (pid == 0) {
		std::error_code code;
		bool good = !mine.acquire(code) && code == dlock::errc::forked;

		h.release(code);
		good = good && code == dlock::errc::forked && h;
		h = dlock::hold();
		c = dlock::client();
		_exit(good && told == 0 ? 0 : 1);
	}
	CHECK(pid > 0 && waitpid(pid, &status, 0) == pid && status == 0);
	CHECK(!h.check() && !theirs.try_acquire());
	h.release();
}

TEST(hold_with_options_of_its_own)
{
	dlock::client c(uri), other(uri);
	dlock::mutex mine(c, name), theirs(other, name);
	dlock::acquire_options o;
	std::error_code code;

	o.timeout = 5s;
	o.max_hold = 400ms;
	o.label = "a label";
	{
		const dlock::hold h = mine.acquire(o);
		const auto found = theirs.inspect(5s);

		CHECK(h.remaining() <= 400ms);
		CHECK(found.size() == 1 && found[0].label == "a label");
		h.extend(20s);
		h.extend(10ms, code);
		CHECK(!code && h.remaining() <= 10ms);
		CHECK(theirs.try_acquire_for(20s));
		h.extend(1s, code);
		CHECK(code == dlock::errc::lost);
	}
	const dlock::hold h = theirs.acquire();
	std::string thrown;

	o.timeout = 0s;
	CHECK(!mine.try_acquire(o));
	THROWS(static_cast<void>(mine.acquire(o)), dlock::errc::busy);
	THROWS(h.extend(1s), dlock::errc::invalid);
	o.lease = 1ms;
	THROWS(static_cast<void>(mine.try_acquire(o)), dlock::errc::invalid);
	o.lease = 0ms;
	o.label = std::string("a\0b", 3);
	CHECK(!mine.acquire(o, code) && code == dlock::errc::invalid);
}

TEST(hold_that_ends_by_itself_for_a_loop)
{
	dlock::client c(uri), other(uri);
	dlock::mutex mine(c, name), theirs(other, name);
	dlock::acquire_options o;

	mine.unbind();
	o.lease = 300ms;
	o.renew = false;
	const dlock::hold h = mine.acquire_start(c, o).get();

	CHECK(theirs.try_acquire_for(20s));
	CHECK(h.check() == dlock::errc::lost);
}
