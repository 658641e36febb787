/* SPDX-License-Identifier: Apache-2.0 */
/* Codes, exceptions, empty objects, and refused arguments. */
#include "cxx/check.hpp"
#include "cxx/part/part.hpp"

#include <array>
#include <limits>

using namespace std::chrono_literals;

template <class T>
static constexpr bool move_only = !std::is_copy_constructible_v<T> &&
				  !std::is_copy_assignable_v<T> &&
				  std::is_nothrow_move_constructible_v<T> &&
				  std::is_nothrow_move_assignable_v<T> &&
				  std::is_nothrow_destructible_v<T> &&
				  std::is_nothrow_default_constructible_v<T>;

static_assert(move_only<dlock::client> && move_only<dlock::hold> &&
	      move_only<dlock::mutex> && move_only<dlock::shared_mutex> &&
	      move_only<dlock::semaphore> && move_only<dlock::multi_lock>);
static_assert(std::is_nothrow_copy_constructible_v<dlock::error>);
/* No guard may refer to a hold that ends with the expression. */
static_assert(std::is_convertible_v<const dlock::hold &, dlock::hold_ref> &&
	      !std::is_convertible_v<dlock::hold, dlock::hold_ref>);

TEST(codes_are_those_of_the_header)
{
	static const struct {
		int code;
		const char *text;
	} all[] = {
#define X(name, value, text) { value, text },
		DLOCK_ERRORS(X)
#undef X
	};

	for (const auto &e : all) {
		const auto code = make_error_code(dlock::errc(e.code));

		CHECK(code.value() == e.code);
		CHECK(code.message() == e.text);
		CHECK(std::string(code.category().name()) == "dlock");
	}
	CHECK(std::size(all) == 13 && int(dlock::errc::system) == -13);
	CHECK(make_error_code(dlock::errc::busy) ==
	      std::errc::device_or_resource_busy);
	CHECK(make_error_code(dlock::errc::unreachable) ==
	      std::errc::timed_out);
	CHECK(make_error_code(dlock::errc::lost) != std::errc::owner_dead);
}

TEST(codes_of_a_shared_object_are_the_same)
{
	const std::error_code code(DLOCK_EBUSY, part_category());

	CHECK(code == dlock::errc::busy);
}

TEST(open_says_what_is_wrong)
{
	std::error_code code;
	dlock::options wants;

	THROWS(dlock::client("nostore://h"), dlock::errc::invalid);
	CHECK(has(thrown, "nostore"));
	const dlock::client none("nostore://h", {}, code);
	CHECK(!none && code == dlock::errc::invalid);
	CHECK(has(dlock_errmsg(), "nostore"));

	wants.require = DLOCK_CAP_REMOTE;
	THROWS(dlock::client("mem:", wants), dlock::errc::not_supported);
	CHECK(has(thrown, "REMOTE"));

	const dlock::client some(uri, {}, code);
	CHECK(some && !code);
}

/* A string with a NUL is refused, not cut. */
TEST(nul_in_a_string_is_refused)
{
	const std::string nul("a\0b", 3);
	dlock::client c(uri);
	std::error_code code;

	THROWS(dlock::mutex(c, nul), dlock::errc::invalid);
	CHECK(has(thrown, "byte 2 of the name"));
	const dlock::semaphore s(c, nul, 2, code);
	CHECK(!s && code == dlock::errc::invalid);
	THROWS(dlock::client(uri + std::string("\0?x", 3)),
	       dlock::errc::invalid);
}

TEST(handles_say_what_is_wrong)
{
	dlock::client c(uri), empty;
	std::error_code code;

	THROWS(dlock::mutex(c, ""), dlock::errc::invalid);
	THROWS(dlock::semaphore(c, name, 0), dlock::errc::invalid);
	THROWS(dlock::mutex(empty, name), dlock::errc::invalid);
	const dlock::multi_lock::members nobody;
	THROWS(dlock::multi_lock{ nobody }, dlock::errc::invalid);
	const dlock::shared_mutex m(c, std::string(256, 'x'), code);
	CHECK(!m && code == dlock::errc::invalid);
	const dlock::mutex good(c, name, code);
	CHECK(good && !code);
}

TEST(empty_objects_answer_invalid)
{
	dlock::mutex m;
	dlock::shared_mutex s;
	dlock::hold h;
	std::error_code code;

	THROWS(m.lock(), dlock::errc::invalid);
	THROWS(m.try_lock(), dlock::errc::invalid);
	THROWS(m.unlock(), dlock::errc::invalid);
	THROWS(s.lock_shared(), dlock::errc::invalid);
	THROWS(m.inspect(1s), dlock::errc::invalid);
	THROWS(h.release(), dlock::errc::invalid);
	THROWS(h.fd(), dlock::errc::invalid);
	CHECK(!m.acquire(code) && code == dlock::errc::invalid);
	CHECK(!h && !m && !m.held() && h.token() == 0);
	CHECK(h.check() == dlock::errc::invalid && h.remaining() == 0ms);
	m.cancel();
}

TEST(durations_are_rounded_up)
{
	using namespace dlock::detail;
	using seconds = std::chrono::duration<double>;
	using steady = std::chrono::steady_clock;
	const auto most = std::numeric_limits<std::int64_t>::max();

	CHECK(to_ms(-1s) == 0 && to_ms(0ns) == 0 && to_ms(1ns) == 1);
	CHECK(to_ms(5ms) == 5 && to_ms(5000001ns) == 6 && to_ms(2h) == 7200000);
	CHECK(to_ms(seconds(0.0101)) == 11);
	CHECK(to_ms(seconds(std::numeric_limits<double>::quiet_NaN())) == 0);
	CHECK(to_ms(seconds(std::numeric_limits<double>::infinity())) == most);
	CHECK(to_ms(std::chrono::hours::max()) == most);
	CHECK(to_ms(std::chrono::milliseconds::max()) == most);
	CHECK(ms_until(steady::time_point::min()) == 0);
	CHECK(ms_until(steady::now() - 1s) == 0);
	CHECK(ms_until(steady::now() + 1h) > 3590000);
	CHECK(ms_until(steady::time_point::max()) > 3590000);
	CHECK(ms_until(std::chrono::time_point<steady,
					       std::chrono::hours>::max()) ==
	      most);
	CHECK(from_ms(-1) == dlock::no_expiry && from_ms(3) == 3ms);
	CHECK(since(3).time_since_epoch() == 3ms);
	CHECK(since(std::numeric_limits<std::int64_t>::max()) > since(3));
	CHECK(since(std::numeric_limits<std::int64_t>::min()) < since(3));
}

/* ... and a negative timeout is not "for ever". */
TEST(negative_timeout_asks_once)
{
	dlock::client c(uri), other(uri);
	dlock::mutex mine(c, name), theirs(other, name);
	const dlock::hold h = mine.acquire();

	CHECK(!theirs.try_lock_for(-1h));
	CHECK(!theirs.try_acquire_until(std::chrono::system_clock::now() - 1h));
}
