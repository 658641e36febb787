/* SPDX-License-Identifier: Apache-2.0 */
/* Part of <dlock/dlock.hpp>: the questions to a hold. */
#ifndef DLOCK_CXX_HOLD_REF_HPP
#define DLOCK_CXX_HOLD_REF_HPP

#include <dlock/cxx/convert.hpp>
#include <dlock/cxx/error.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <system_error>

namespace dlock
{

class hold_ref;

namespace detail
{

/* The questions to hold and hold_ref. */
template <class Self>
class questions
{
public:
	explicit operator bool() const noexcept { return h() != nullptr; }

	/* Whether the hold still stands; errc::lost if not. */
	std::error_code check() const noexcept
	{
		return to_code(dlock_check(h()));
	}

	/* The fencing token; 0 without a token. */
	std::uint64_t token() const noexcept { return dlock_token(h()); }

	/* The time left on the lease; begin to stop when that falls below
	 * warning(). */
	std::chrono::milliseconds remaining() const noexcept
	{
		return from_ms(dlock_remaining_ms(h()));
	}

	std::chrono::milliseconds warning() const noexcept
	{
		return from_ms(dlock_warning_ms(h()));
	}

	/* dlock_extend(): the end is so far away from now on. */
	template <class Rep, class Period>
	void extend(const std::chrono::duration<Rep, Period> &d,
		    std::error_code &code) const noexcept
	{
		code = to_code(dlock_extend(h(), to_ms(d)));
	}

	template <class Rep, class Period>
	void extend(const std::chrono::duration<Rep, Period> &d) const
	{
		settle(dlock_extend(h(), to_ms(d)), nullptr);
	}

	/* Ask to be told when others want the lock: on_event gets
	 * DLOCK_WANTED, and the descriptor, which the hold owns, polls
	 * readable. */
	void revocable(std::error_code &code) const noexcept
	{
		code = to_code(dlock_revocable(h()));
	}

	int wanted_fd(std::error_code &code) const noexcept
	{
		const int n = dlock_wanted_fd(h());

		code = to_code(n);
		return n;
	}

	void revocable() const
	{
		std::error_code code;

		revocable(code);
		if (code)
			raise(code);
	}

	int wanted_fd() const
	{
		std::error_code code;
		const int n = wanted_fd(code);

		if (code)
			raise(code);
		return n;
	}

	/* The descriptor polls readable once the hold is lost.  The hold owns
	 * the descriptor. */
	int fd(std::error_code &code) const noexcept
	{
		const int n = dlock_hold_fd(h());

		code = to_code(n);
		return n;
	}

	int fd() const
	{
		std::error_code code;
		const int n = fd(code);

		if (code)
			raise(code);
		return n;
	}

	/* The hold of a multi-lock's member; empty past the end. */
	hold_ref member(std::size_t i) const noexcept;

private:
	dlock_hold *h() const noexcept
	{
		return static_cast<const Self *>(this)->native_handle();
	}
};

} /* namespace detail */

/* A borrowed hold, valid as long as the original. */
class hold_ref : public detail::questions<hold_ref>
{
public:
	hold_ref() noexcept = default;
	explicit hold_ref(dlock_hold *raw) noexcept : hold_(raw) {}

	dlock_hold *native_handle() const noexcept { return hold_; }

	friend bool operator==(hold_ref a, hold_ref b) noexcept
	{
		return a.hold_ == b.hold_;
	}

	friend bool operator!=(hold_ref a, hold_ref b) noexcept
	{
		return !(a == b);
	}

private:
	dlock_hold *hold_ = nullptr;
};

namespace detail
{

template <class Self>
hold_ref questions<Self>::member(std::size_t i) const noexcept
{
	return hold_ref(dlock_member(h(), i));
}

} /* namespace detail */

} /* namespace dlock */

#endif
