/* SPDX-License-Identifier: Apache-2.0 */
/* Part of <dlock/dlock.hpp>: locks for std::lock_guard and the like. */
#ifndef DLOCK_CXX_LOCKABLE_HPP
#define DLOCK_CXX_LOCKABLE_HPP

#include <dlock/cxx/handle.hpp>

#include <chrono>

namespace dlock
{

/* The calls that std::lock_guard, std::unique_lock and std::scoped_lock
 * need. */
class lockable : public handle
{
public:
	lockable() noexcept = default;

	/* Take the lock for this thread, until unlock(). */
	void lock() { lock_side(false); }
	bool try_lock() { return try_lock_side(false, 0); }

	template <class Rep, class Period>
	bool try_lock_for(const std::chrono::duration<Rep, Period> &d)
	{
		return try_lock_side(false, detail::to_ms(d));
	}

	template <class Clock, class Duration>
	bool try_lock_until(const std::chrono::time_point<Clock, Duration> &t)
	{
		return try_lock_side(false, detail::ms_until(t));
	}

	/* Throws errc::invalid if this thread has not called lock(). */
	void unlock() { unlock_side(false); }

	/* The hold that this thread locked last and has not unlocked; or
	 * empty. */
	hold_ref held() const { return peek(); }

protected:
	using handle::handle;
};

} /* namespace dlock */

#endif
