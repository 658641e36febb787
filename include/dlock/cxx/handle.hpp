/* SPDX-License-Identifier: Apache-2.0 */
/* Part of <dlock/dlock.hpp>: the calls of every kind of lock. */
#ifndef DLOCK_CXX_HANDLE_HPP
#define DLOCK_CXX_HANDLE_HPP

#include <dlock/cxx/acquire_options.hpp>
#include <dlock/cxx/acquiring.hpp>
#include <dlock/cxx/client.hpp>
#include <dlock/cxx/hold.hpp>
#include <dlock/cxx/participant.hpp>
#include <dlock/cxx/taken.hpp>

#include <chrono>
#include <cstdint>
#include <memory>
#include <system_error>
#include <utility>
#include <vector>

namespace dlock
{

/* A handle of any kind.  Threads may share a handle. */
class handle
{
public:
	handle() noexcept = default;
	handle(handle &&) noexcept = default;

	handle &operator=(handle &&from) noexcept
	{
		handle other(std::move(from));

		lock_.swap(other.lock_);
		hooks_.swap(other.hooks_);
		taken_.swap(other.taken_);
		return *this;
	}

	explicit operator bool() const noexcept { return lock_ != nullptr; }
	dlock_lock *native_handle() const noexcept { return lock_.get(); }

	/* As dlock_acquire(): wait for ever, ask once, or wait so long. */
	hold acquire() { return must(false, -1); }

	hold acquire(std::error_code &code) noexcept
	{
		return ask(false, -1, code);
	}

	hold try_acquire() { return may(false, 0); }

	hold try_acquire(std::error_code &code) noexcept
	{
		return ask(false, 0, code);
	}

	template <class Rep, class Period>
	hold try_acquire_for(const std::chrono::duration<Rep, Period> &d)
	{
		return may(false, detail::to_ms(d));
	}

	template <class Rep, class Period>
	hold try_acquire_for(const std::chrono::duration<Rep, Period> &d,
			     std::error_code &code) noexcept
	{
		return ask(false, detail::to_ms(d), code);
	}

	template <class Clock, class Duration>
	hold
	try_acquire_until(const std::chrono::time_point<Clock, Duration> &t)
	{
		return may(false, detail::ms_until(t));
	}

	template <class Clock, class Duration>
	hold
	try_acquire_until(const std::chrono::time_point<Clock, Duration> &t,
			  std::error_code &code) noexcept
	{
		return ask(false, detail::ms_until(t), code);
	}

	/* As dlock_acquire_opts(). */
	hold acquire(const acquire_options &o)
	{
		std::error_code code;
		hold h = acquire(o, code);

		if (code)
			detail::raise(code);
		return h;
	}

	hold acquire(const acquire_options &o, std::error_code &code)
	{
		const detail::c_acquire_options c(o);
		dlock_hold *h = nullptr;

		code = detail::to_code(
			dlock_acquire_opts(lock_.get(), c.get(), &h));
		return { h, h ? hooks_ : nullptr };
	}

	/* Empty if others hold the lock. */
	hold try_acquire(const acquire_options &o)
	{
		std::error_code code;
		hold h = acquire(o, code);

		if (code && code != errc::busy)
			detail::raise(code);
		return h;
	}

	/*
	 * Begin an acquire, of an unbound handle or a semaphore:
	 * dlock_acquire_start().  `done` gets the end of the acquire; the
	 * number is for client::cancel().  Without `done` the result owns the
	 * hold.  The handle may be destroyed before.
	 */
	dlock_op acquire_start(granted_fn done)
	{
		return begin(false, -1, std::move(done));
	}

	template <class Rep, class Period>
	dlock_op acquire_start(const std::chrono::duration<Rep, Period> &d,
			       granted_fn done)
	{
		return begin(false, detail::to_ms(d), std::move(done));
	}

	/* dlock_acquire_opts_start(). */
	dlock_op acquire_start(const acquire_options &o, granted_fn done)
	{
		return begin(detail::c_acquire_options(o), std::move(done));
	}

	/* `c` is the client of the handle; of a multi_lock, the client of the
	 * first member.  Any other is errc::invalid. */
	acquiring acquire_start(client &c) { return begin(false, -1, c); }

	acquiring acquire_start(client &c, const acquire_options &o)
	{
		return begin(detail::c_acquire_options(o), c);
	}

	template <class Rep, class Period>
	acquiring acquire_start(client &c,
				const std::chrono::duration<Rep, Period> &d)
	{
		return begin(false, detail::to_ms(d), c);
	}

	/* End the waits under way with errc::canceled. */
	void cancel() noexcept { dlock_cancel(lock_.get()); }

	/* dlock_lock_sticky_cancel(): or the next wait, if no wait is under
	 * way. */
	void sticky_cancel()
	{
		detail::settle(dlock_lock_sticky_cancel(lock_.get()), nullptr);
	}

	/* How many times this thread holds the lock: dlock_lock_held(). */
	int held_count() const
	{
		const int n = dlock_lock_held(lock_.get());

		detail::settle(n, nullptr);
		return n;
	}

	template <class Rep, class Period>
	std::vector<participant>
	inspect(const std::chrono::duration<Rep, Period> &timeout)
	{
		return detail::inspection::of(
			lock_.get(), detail::to_ms(timeout), nullptr);
	}

	template <class Rep, class Period>
	std::vector<participant>
	inspect(const std::chrono::duration<Rep, Period> &timeout,
		std::error_code &code)
	{
		return detail::inspection::of(
			lock_.get(), detail::to_ms(timeout), &code);
	}

	/* dlock_revoke(): ask the holder to give the lock up. */
	template <class Rep, class Period>
	void revoke(const std::chrono::duration<Rep, Period> &timeout)
	{
		detail::settle(dlock_revoke(lock_.get(),
					    detail::to_ms(timeout)),
			       nullptr);
	}

	template <class Rep, class Period>
	void revoke(const std::chrono::duration<Rep, Period> &timeout,
		    std::error_code &code) noexcept
	{
		code = detail::to_code(
			dlock_revoke(lock_.get(), detail::to_ms(timeout)));
	}

	/* dlock_break(): take the lock away from the holders. */
	template <class Rep, class Period>
	void take_away(const std::chrono::duration<Rep, Period> &timeout)
	{
		detail::settle(dlock_break(lock_.get(),
					   detail::to_ms(timeout)),
			       nullptr);
	}

	template <class Rep, class Period>
	void take_away(const std::chrono::duration<Rep, Period> &timeout,
		       std::error_code &code) noexcept
	{
		code = detail::to_code(
			dlock_break(lock_.get(), detail::to_ms(timeout)));
	}

protected:
	template <class Function>
	dlock_op start(const Function &fn, granted_fn done)
	{
		return detail::beginning::start(fn, lock_, hooks_,
						std::move(done));
	}

	/* get() would wait for ever for an acquire of another client. */
	template <class Function>
	acquiring follow(client &c, const Function &fn)
	{
		if (lock_ && c.hooks_ != hooks_)
			detail::raise(errc::invalid,
				      "the lock object is of another client");
		return acquiring(c, fn);
	}

	/* `make` is given where to put the handle. */
	template <class Make>
	handle(std::shared_ptr<const detail::hooks> hooks, bool lockable,
	     std::error_code *code, Make make)
		: hooks_(std::move(hooks))
	{
		dlock_lock *made = nullptr;

		if (lockable)
			taken_ = std::make_unique<detail::taken>();
		const int rc = make(&made);

		detail::settle(rc, code);
		if (made)
			lock_.reset(made, dlock_lock_free);
	}

	static const std::shared_ptr<const detail::hooks> &
	hooks_of(const client &c) noexcept
	{
		return c.hooks_;
	}

	static const std::shared_ptr<const detail::hooks> &
	hooks_of(const handle &l) noexcept
	{
		return l.hooks_;
	}

	void set_unbound()
	{
		detail::settle(dlock_lock_unbind(lock_.get()), nullptr);
	}

	void set_unbound(std::error_code &code) noexcept
	{
		code = detail::to_code(dlock_lock_unbind(lock_.get()));
	}

	hold granted(dlock_hold *h, int rc, std::error_code &code) noexcept
	{
		code = detail::to_code(rc);
		return { h, h ? hooks_ : nullptr };
	}

	hold ask(bool shared, std::int64_t ms, std::error_code &code) noexcept
	{
		dlock_hold *h = nullptr;
		const int rc = shared ?
				       dlock_acquire_shared(lock_.get(), ms,
							    &h) :
				       dlock_acquire(lock_.get(), ms, &h);

		return granted(h, rc, code);
	}

	hold must(bool shared, std::int64_t ms)
	{
		std::error_code code;
		hold h = ask(shared, ms, code);

		if (code)
			detail::raise(code);
		return h;
	}

	/* Empty if others hold the lock. */
	hold may(bool shared, std::int64_t ms)
	{
		std::error_code code;
		hold h = ask(shared, ms, code);

		if (code && code != errc::busy)
			detail::raise(code);
		return h;
	}

	dlock_op begin(const detail::c_acquire_options &o, granted_fn done)
	{
		return start(
			[&](dlock_done_fn end, void *arg, dlock_op *op) {
				return dlock_acquire_opts_start(
					lock_.get(), o.get(), end, arg, op);
			},
			std::move(done));
	}

	acquiring begin(const detail::c_acquire_options &o, client &c)
	{
		return follow(c, [&](granted_fn done) {
			return begin(o, std::move(done));
		});
	}

	dlock_op begin(bool shared, std::int64_t ms, granted_fn done)
	{
		return begin(detail::c_acquire_options(shared, ms),
			     std::move(done));
	}

	acquiring begin(bool shared, std::int64_t ms, client &c)
	{
		return begin(detail::c_acquire_options(shared, ms), c);
	}

	void lock_side(bool shared)
	{
		/* A handle made by default has no list, but must() throws. */
		hold h = must(shared, -1);

		taken_->put(std::move(h), shared);
	}

	bool try_lock_side(bool shared, std::int64_t ms)
	{
		hold h = may(shared, ms);

		if (!h)
			return false;
		taken_->put(std::move(h), shared);
		return true;
	}

	void unlock_side(bool shared)
	{
		const hold h = taken_ ? taken_->take(shared) : hold();

		if (!h)
			detail::raise(errc::invalid,
				      "unlock by a thread that has not locked "
				      "this side of this lock object");
	}

	hold_ref peek() const
	{
		return taken_ ? taken_->peek() : hold_ref();
	}

private:
	std::shared_ptr<const detail::hooks> hooks_;
	std::shared_ptr<dlock_lock> lock_; /* also of begun acquires */
	std::unique_ptr<detail::taken> taken_; /* of a lockable */
};

} /* namespace dlock */

#endif
