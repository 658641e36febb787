/* SPDX-License-Identifier: Apache-2.0 */
/* Part of <dlock/dlock.hpp>: a lock of so many holders. */
#ifndef DLOCK_CXX_SEMAPHORE_HPP
#define DLOCK_CXX_SEMAPHORE_HPP

#include <dlock/cxx/handle.hpp>

#include <chrono>
#include <cstdint>
#include <string>
#include <system_error>

namespace dlock
{

/* dlock_semaphore_permits(). */
struct permit_count {
	std::uint32_t limit;
	std::uint32_t held;
	std::uint32_t free;
};

/* `permits` holders.  A hold may be moved to another thread. */
class semaphore : public handle
{
public:
	semaphore() noexcept = default;

	semaphore(client &c, const std::string &name, std::uint32_t permits)
		: semaphore(c, name, permits, nullptr)
	{
	}

	semaphore(client &c, const std::string &name, std::uint32_t permits,
		  std::error_code &code)
		: semaphore(c, name, permits, &code)
	{
	}

	/* How many permits there are, and how many are free now. */
	template <class Rep, class Period>
	permit_count
	permits(const std::chrono::duration<Rep, Period> &timeout) const
	{
		return count(detail::to_ms(timeout), nullptr);
	}

	template <class Rep, class Period>
	permit_count
	permits(const std::chrono::duration<Rep, Period> &timeout,
		std::error_code &code) const
	{
		return count(detail::to_ms(timeout), &code);
	}

	/* dlock_semaphore_resize(): for all users, while they use the
	 * semaphore. */
	template <class Rep, class Period>
	void resize(std::uint32_t permits,
		    const std::chrono::duration<Rep, Period> &timeout)
	{
		detail::settle(dlock_semaphore_resize(native_handle(), permits,
						      detail::to_ms(timeout)),
			       nullptr);
	}

	template <class Rep, class Period>
	void resize(std::uint32_t permits,
		    const std::chrono::duration<Rep, Period> &timeout,
		    std::error_code &code) noexcept
	{
		code = detail::to_code(dlock_semaphore_resize(
			native_handle(), permits, detail::to_ms(timeout)));
	}

private:
	permit_count count(std::int64_t ms, std::error_code *code) const
	{
		dlock_permits n = {};

		n.size = sizeof(n);
		detail::settle(
			dlock_semaphore_permits(native_handle(), &n, ms), code);
		return { n.limit, n.held, n.free };
	}

	semaphore(client &c, const std::string &name, std::uint32_t permits,
		  std::error_code *code)
		: handle(hooks_of(c), false, code, [&](dlock_lock **out) {
			  return dlock_semaphore_new(out, c.native_handle(),
						     detail::to_c(name).c_str(),
						     permits);
		  })
	{
	}
};

} /* namespace dlock */

#endif
