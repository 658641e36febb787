/* SPDX-License-Identifier: Apache-2.0 */
/* Part of <dlock/dlock.hpp>: a hold of a lock. */
#ifndef DLOCK_CXX_HOLD_HPP
#define DLOCK_CXX_HOLD_HPP

#include <dlock/cxx/options.hpp>

#include <memory>
#include <system_error>
#include <utility>

namespace dlock
{

namespace detail
{
class beginning;
}

/* A lock while the program has the lock. */
class [[nodiscard]] hold : public detail::questions<hold>
{
public:
	hold() noexcept = default;
	/* Takes over the hold of dlock_acquire(). */
	explicit hold(dlock_hold *raw) noexcept : hold_(raw) {}

	~hold()
	{
		const int rc = hold_ ? dlock_release(hold_) : DLOCK_OK;

		if (rc < 0 && hooks_)
			hooks_->release_failed(rc);
	}

	hold(hold &&from) noexcept
		: hold_(std::exchange(from.hold_, nullptr)),
		  hooks_(std::move(from.hooks_))
	{
	}

	/* Releases the former hold. */
	hold &operator=(hold &&from) noexcept
	{
		hold taken(std::move(from));

		swap(taken);
		return *this;
	}

	void swap(hold &other) noexcept
	{
		std::swap(hold_, other.hold_);
		hooks_.swap(other.hooks_);
	}

	/* As dlock_release().  The hold is empty then, unless the code is
	 * errc::invalid or errc::forked: the hold is unchanged in these
	 * cases. */
	void release(std::error_code &code) noexcept
	{
		const int rc = dlock_release(hold_);

		if (rc != DLOCK_EINVAL && rc != DLOCK_EFORKED)
			hold_ = nullptr;
		code = detail::to_code(rc);
	}

	void release()
	{
		std::error_code code;

		release(code);
		if (code)
			detail::raise(code);
	}

	dlock_hold *native_handle() const noexcept { return hold_; }

	/* The hold is yours to release from now on, by dlock_release(). */
	[[nodiscard]] dlock_hold *detach() noexcept
	{
		return std::exchange(hold_, nullptr);
	}

	operator hold_ref() const & noexcept { return hold_ref(hold_); }
	operator hold_ref() && = delete; /* the hold ends with the expression */

private:
	friend class handle;
	friend class detail::beginning;

	hold(dlock_hold *raw, std::shared_ptr<const detail::hooks> hooks)
		noexcept
		: hold_(raw), hooks_(std::move(hooks))
	{
	}

	dlock_hold *hold_ = nullptr;
	std::shared_ptr<const detail::hooks> hooks_; /* may be empty */
};

inline void swap(hold &a, hold &b) noexcept
{
	a.swap(b);
}

} /* namespace dlock */

#endif
