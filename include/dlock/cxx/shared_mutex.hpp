/* SPDX-License-Identifier: Apache-2.0 */
/* Part of <dlock/dlock.hpp>: a read-write lock, and the upgradeable side. */
#ifndef DLOCK_CXX_SHARED_MUTEX_HPP
#define DLOCK_CXX_SHARED_MUTEX_HPP

#include <dlock/cxx/lockable.hpp>

#include <chrono>
#include <cstdint>
#include <string>
#include <system_error>
#include <utility>

namespace dlock
{

/* A single writer or many readers: dlock_rwlock_new().  lock() is the write
 * side. */
class shared_mutex : public lockable
{
public:
	shared_mutex() noexcept = default;

	shared_mutex(client &c, const std::string &name)
		: shared_mutex(c, name, nullptr)
	{
	}

	shared_mutex(client &c, const std::string &name, std::error_code &code)
		: shared_mutex(c, name, &code)
	{
	}

	/* dlock_lock_unbind(): any thread may release the holds. */
	void unbind() { set_unbound(); }
	void unbind(std::error_code &code) noexcept { set_unbound(code); }

	/* dlock_lock_use_read_side(): acquire() and lock() take the read side,
	 * and so does a multi_lock made of the handle later. */
	void use_read_side()
	{
		detail::settle(dlock_lock_use_read_side(native_handle()),
			       nullptr);
	}

	void use_read_side(std::error_code &code) noexcept
	{
		code = detail::to_code(
			dlock_lock_use_read_side(native_handle()));
	}

	dlock_op acquire_shared_start(granted_fn done)
	{
		return begin(true, -1, std::move(done));
	}

	acquiring acquire_shared_start(client &c)
	{
		return begin(true, -1, c);
	}

	hold acquire_shared() { return must(true, -1); }

	hold acquire_shared(std::error_code &code) noexcept
	{
		return ask(true, -1, code);
	}

	hold try_acquire_shared() { return may(true, 0); }

	hold try_acquire_shared(std::error_code &code) noexcept
	{
		return ask(true, 0, code);
	}

	template <class Rep, class Period>
	hold try_acquire_shared_for(const std::chrono::duration<Rep, Period> &d)
	{
		return may(true, detail::to_ms(d));
	}

	template <class Rep, class Period>
	hold try_acquire_shared_for(const std::chrono::duration<Rep, Period> &d,
				    std::error_code &code) noexcept
	{
		return ask(true, detail::to_ms(d), code);
	}

	template <class Clock, class Duration>
	hold try_acquire_shared_until(
		const std::chrono::time_point<Clock, Duration> &t)
	{
		return may(true, detail::ms_until(t));
	}

	template <class Clock, class Duration>
	hold try_acquire_shared_until(
		const std::chrono::time_point<Clock, Duration> &t,
		std::error_code &code) noexcept
	{
		return ask(true, detail::ms_until(t), code);
	}

	/* For std::shared_lock. */
	void lock_shared() { lock_side(true); }
	bool try_lock_shared() { return try_lock_side(true, 0); }

	template <class Rep, class Period>
	bool try_lock_shared_for(const std::chrono::duration<Rep, Period> &d)
	{
		return try_lock_side(true, detail::to_ms(d));
	}

	template <class Clock, class Duration>
	bool try_lock_shared_until(
		const std::chrono::time_point<Clock, Duration> &t)
	{
		return try_lock_side(true, detail::ms_until(t));
	}

	void unlock_shared() { unlock_side(true); }

private:
	shared_mutex(client &c, const std::string &name, std::error_code *code)
		: lockable(hooks_of(c), true, code, [&](dlock_lock **out) {
			  return dlock_rwlock_new(out, c.native_handle(),
						  detail::to_c(name).c_str());
		  })
	{
	}
};

/* The upgradeable read side of a read-write lock: dlock_upgradeable_new().
 * lock() takes that side.  The shared_mutex may be destroyed at once. */
class upgradeable : public lockable
{
public:
	upgradeable() noexcept = default;
	explicit upgradeable(const shared_mutex &of) : upgradeable(of, nullptr)
	{
	}

	upgradeable(const shared_mutex &of, std::error_code &code)
		: upgradeable(of, &code)
	{
	}

	/* As dlock_upgrade(): the write side, beside `reads`, which must
	 * outlive the result.  Wait for ever, ask once, or wait so long. */
	hold upgrade(hold_ref reads)
	{
		std::error_code code;
		hold h = add(reads, -1, code);

		if (code)
			detail::raise(code);
		return h;
	}

	hold upgrade(hold_ref reads, std::error_code &code) noexcept
	{
		return add(reads, -1, code);
	}

	/* Empty if plain readers hold the lock. */
	hold try_upgrade(hold_ref reads) { return may_add(reads, 0); }

	hold try_upgrade(hold_ref reads, std::error_code &code) noexcept
	{
		return add(reads, 0, code);
	}

	template <class Rep, class Period>
	hold try_upgrade_for(hold_ref reads,
			     const std::chrono::duration<Rep, Period> &d)
	{
		return may_add(reads, detail::to_ms(d));
	}

	template <class Rep, class Period>
	hold try_upgrade_for(hold_ref reads,
			     const std::chrono::duration<Rep, Period> &d,
			     std::error_code &code) noexcept
	{
		return add(reads, detail::to_ms(d), code);
	}

	/* Begin an upgrade, of an unbound handle: dlock_upgrade_start().
	 * The rest is as for acquire_start(). */
	dlock_op upgrade_start(hold_ref reads, granted_fn done)
	{
		return begin_upgrade(reads, -1, std::move(done));
	}

	template <class Rep, class Period>
	dlock_op upgrade_start(hold_ref reads,
			       const std::chrono::duration<Rep, Period> &d,
			       granted_fn done)
	{
		return begin_upgrade(reads, detail::to_ms(d), std::move(done));
	}

	acquiring upgrade_start(client &c, hold_ref reads)
	{
		return begin_upgrade(reads, -1, c);
	}

	template <class Rep, class Period>
	acquiring upgrade_start(client &c, hold_ref reads,
				const std::chrono::duration<Rep, Period> &d)
	{
		return begin_upgrade(reads, detail::to_ms(d), c);
	}

private:
	dlock_op begin_upgrade(hold_ref reads, std::int64_t ms, granted_fn done)
	{
		return start(
			[&](dlock_done_fn end, void *arg, dlock_op *op) {
				return dlock_upgrade_start(
					native_handle(), reads.native_handle(),
					ms, end, arg, op);
			},
			std::move(done));
	}

	acquiring begin_upgrade(hold_ref reads, std::int64_t ms, client &c)
	{
		return follow(c, [&](granted_fn done) {
			return begin_upgrade(reads, ms, std::move(done));
		});
	}

	upgradeable(const shared_mutex &of, std::error_code *code)
		: lockable(hooks_of(of), true, code, [&](dlock_lock **out) {
			  return dlock_upgradeable_new(out, of.native_handle());
		  })
	{
	}

	hold add(hold_ref reads, std::int64_t ms, std::error_code &code)
		noexcept
	{
		dlock_hold *h = nullptr;
		const int rc = dlock_upgrade(native_handle(),
					     reads.native_handle(), ms, &h);

		return granted(h, rc, code);
	}

	hold may_add(hold_ref reads, std::int64_t ms)
	{
		std::error_code code;
		hold h = add(reads, ms, code);

		if (code && code != errc::busy)
			detail::raise(code);
		return h;
	}
};

} /* namespace dlock */

#endif
