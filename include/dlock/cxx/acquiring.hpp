/* SPDX-License-Identifier: Apache-2.0 */
/* Part of <dlock/dlock.hpp>: an acquire without a waiting thread. */
#ifndef DLOCK_CXX_ACQUIRING_HPP
#define DLOCK_CXX_ACQUIRING_HPP

#include <dlock/async.h>
#include <dlock/cxx/client.hpp>
#include <dlock/cxx/hold.hpp>

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <system_error>
#include <utility>

namespace dlock
{

/* Called once, in client::process() or wait(), or as the client is destroyed.
 * A callback that throws ends the program. */
using granted_fn = std::function<void(std::error_code code, hold h,
				      const char *message)>;

namespace detail
{

/* A begun acquire, until the callback. */
class beginning
{
public:
	beginning(std::shared_ptr<dlock_lock> l,
		  std::shared_ptr<const hooks> h, granted_fn f)
		: lock_(std::move(l)), hooks_(std::move(h)), done_(std::move(f))
	{
	}

	/* Begin an acquire of `lock`: by `fn`, a function of C whose last
	 * arguments are the callback, the callback's argument and the
	 * number. */
	template <class Function>
	static dlock_op start(const Function &fn,
			      std::shared_ptr<dlock_lock> lock,
			      std::shared_ptr<const hooks> hooks,
			      granted_fn done)
	{
		auto call = std::make_unique<beginning>(
			std::move(lock), std::move(hooks), std::move(done));
		dlock_op op = 0;

		settle(fn(call->done_ ? end : nullptr, call.get(), &op),
		       nullptr);
		static_cast<void>(call.release());
		return op;
	}

private:
	static void end(const dlock_result *r, void *arg) noexcept
	{
		const std::unique_ptr<beginning> self(
			static_cast<beginning *>(arg));

		self->done_(to_code(r->code),
			    hold(r->hold, r->hold ? self->hooks_ : nullptr),
			    r->message);
	}

	std::shared_ptr<dlock_lock> lock_; /* not freed before the callback */
	std::shared_ptr<const hooks> hooks_;
	granted_fn done_;
};

} /* namespace detail */

/* An acquire under way, as a std::future is: the hold comes by get().  Without
 * the object the acquire is cancelled, and a later hold is released. */
class [[nodiscard]] acquiring
{
public:
	acquiring() noexcept = default;
	acquiring(acquiring &&) noexcept = default;

	acquiring &operator=(acquiring &&from) noexcept
	{
		acquiring taken(std::move(from));

		swap(taken);
		return *this;
	}

	~acquiring()
	{
		if (!ready())
			state_->wanted = false;
		cancel();
	}

	void swap(acquiring &other) noexcept
	{
		state_.swap(other.state_);
	}

	/* Whether the acquire has ended.  The client's process() and wait()
	 * end the acquire. */
	bool ready() const noexcept { return !state_ || state_->over; }

	/* End the acquire soon, with errc::canceled unless the lock was
	 * granted: then get() has the hold.  Only while there is the client. */
	void cancel() noexcept
	{
		if (!ready())
			(void)dlock_cancel_op(state_->client, state_->op);
	}

	/* Process the client until ready(); then the hold, and the object is
	 * empty. */
	hold get(std::error_code &code) noexcept
	{
		await(code);
		const std::shared_ptr<state> s = code ? nullptr :
							std::move(state_);

		return s ? std::move(s->h) : hold();
	}

	hold get()
	{
		std::error_code code;
		hold h = get(code);

		if (code)
			detail::raise(code, state_ && ready() ?
						    state_->message :
						    dlock_errmsg());
		return h;
	}

private:
	friend class handle;

	struct state {
		dlock_client *client = nullptr;
		dlock_op op = 0;
		std::atomic<bool> over{ false }, wanted{ true };
		std::error_code code{};
		std::string message{};
		hold h{};
	};

	/* Begin an acquire by `fn`, which takes a granted_fn, and follow the
	 * acquire. */
	template <class Function>
	acquiring(client &c, const Function &fn)
		: state_(std::make_shared<state>())
	{
		const std::shared_ptr<state> s = state_;

		s->client = c.native_handle();
		s->op = fn([s](std::error_code code, hold h,
			       const char *message) {
			s->code = code;
			/* Without memory the code has no text. */
			static_cast<void>(detail::caught(
				[&] { s->message = message; }));
			if (s->wanted)
				s->h = std::move(h);
			s->over = true;
		});
	}

	void await(std::error_code &code) noexcept
	{
		int rc = state_ ? DLOCK_OK : dlock_wait(nullptr, 0);

		/* Another thread may process the end: the end wakes no other
		 * thread. */
		while (!ready() && (rc == DLOCK_OK || rc == DLOCK_EBUSY))
			rc = dlock_wait(state_->client, 50);
		code = state_ && ready() ? state_->code : detail::to_code(rc);
	}

	std::shared_ptr<state> state_;
};

} /* namespace dlock */

#endif
