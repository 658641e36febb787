/* SPDX-License-Identifier: Apache-2.0 */
/* Part of <dlock/dlock.hpp>: durations and strings, there and back. */
#ifndef DLOCK_CXX_CONVERT_HPP
#define DLOCK_CXX_CONVERT_HPP

#include <chrono>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string.h> /* explicit_bzero() */
#include <string>

namespace dlock
{

/* ttl(), remaining() and warning() if the lease does not expire: later than
 * everything. */
inline constexpr std::chrono::milliseconds no_expiry =
	std::chrono::milliseconds::max();

namespace detail
{

template <class Rep, class Period>
std::int64_t to_ms(const std::chrono::duration<Rep, Period> &d)
{
	using wide = std::chrono::duration<long double, std::milli>;
	constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
	const long double n = std::ceil(wide(d).count());

	if (!(n > 0))
		return 0;
	return n >= static_cast<long double>(most) ?
		       most :
		       static_cast<std::int64_t>(n);
}

template <class Clock, class Duration>
std::int64_t ms_until(const std::chrono::time_point<Clock, Duration> &t)
{
	using wide = std::chrono::duration<long double, std::milli>;

	/* Not t - now, which may have no room for either. */
	return to_ms(wide(t.time_since_epoch()) -
		     wide(Clock::now().time_since_epoch()));
}

inline std::chrono::milliseconds from_ms(std::int64_t ms) noexcept
{
	return ms < 0 ? no_expiry : std::chrono::milliseconds(ms);
}

/* The clock may have no room for the time, which another user's lock file may
 * tell. */
inline std::chrono::system_clock::time_point since(std::int64_t ms) noexcept
{
	using point = std::chrono::system_clock::time_point;
	using milliseconds = std::chrono::milliseconds;

	if (ms >= std::chrono::floor<milliseconds>(point::max())
			  .time_since_epoch()
			  .count())
		return point::max();
	if (ms <= std::chrono::ceil<milliseconds>(point::min())
			  .time_since_epoch()
			  .count())
		return point::min();
	return point(milliseconds(ms));
}

/* A string with a NUL inside must not pass for the part before the NUL: the
 * library refuses the control character in the place of the NUL, and names the
 * place. */
inline void mark_nul(std::string &text) noexcept
{
	for (char &c : text) {
		if (c == '\0')
			c = '\1';
	}
}

inline std::string to_c(std::string text)
{
	mark_nul(text);
	return text;
}

inline void wipe(std::string &text) noexcept
{
	explicit_bzero(text.data(), text.size());
	text.clear();
}

/* As to_c(), for a string with a password or without: the copy is wiped in the
 * end. */
class secret
{
public:
	explicit secret(const std::string &text) : text_(text)
	{
		mark_nul(text_);
	}

	~secret() { wipe(text_); }
	secret(const secret &) = delete;
	secret &operator=(const secret &) = delete;

	/* NULL if empty. */
	const char *get() const noexcept
	{
		return text_.empty() ? nullptr : text_.c_str();
	}

	const char *c_str() const noexcept { return text_.c_str(); }

private:
	std::string text_;
};

} /* namespace detail */

} /* namespace dlock */

#endif
