/* SPDX-License-Identifier: Apache-2.0 */
/* Part of <dlock/dlock.hpp>: a connection to a store. */
#ifndef DLOCK_CXX_CLIENT_HPP
#define DLOCK_CXX_CLIENT_HPP

#include <dlock/async.h>
#include <dlock/cxx/options.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace dlock
{

struct lock_info {
	std::string name;
	std::string kind;      /* "lock", "semaphore" */
	std::uint32_t permits; /* of a semaphore; else 0 */
};

/* A connection to a store.  The rules of dlock_close() hold for the destructor,
 * so on_event must not destroy the client. */
class client
{
public:
	client() noexcept = default;

	explicit client(const std::string &uri, options opts = {})
	{
		open(uri, std::move(opts), nullptr);
	}

	client(const std::string &uri, options opts, std::error_code &code)
	{
		open(uri, std::move(opts), &code);
	}

	~client() { dlock_close(client_); }

	client(client &&from) noexcept
		: client_(std::exchange(from.client_, nullptr)),
		  hooks_(std::move(from.hooks_))
	{
	}

	/* Closes the former client. */
	client &operator=(client &&from) noexcept
	{
		client taken(std::move(from));

		std::swap(client_, taken.client_);
		hooks_.swap(taken.hooks_);
		return *this;
	}

	explicit operator bool() const noexcept { return client_ != nullptr; }
	dlock_client *native_handle() const noexcept { return client_; }

	/* Must not be called on an empty client. */
	std::uint32_t caps() const noexcept { return dlock_caps(client_); }
	std::string_view uri() const noexcept { return dlock_uri(client_); }

	std::chrono::milliseconds ttl() const noexcept
	{
		const std::int64_t ms = dlock_ttl_ms(client_);

		return ms == 0 ? no_expiry : std::chrono::milliseconds(ms);
	}

	std::chrono::milliseconds linger() const noexcept
	{
		return std::chrono::milliseconds(dlock_linger_ms(client_));
	}

	dlock_stats stats() const
	{
		dlock_stats all{};

		all.size = sizeof(all);
		detail::settle(dlock_get_stats(client_, &all), nullptr);
		return all;
	}

	template <class Rep, class Period>
	std::vector<lock_info>
	list(const std::chrono::duration<Rep, Period> &timeout) const
	{
		return list_within(detail::to_ms(timeout), nullptr);
	}

	template <class Rep, class Period>
	std::vector<lock_info>
	list(const std::chrono::duration<Rep, Period> &timeout,
	     std::error_code &code) const
	{
		return list_within(detail::to_ms(timeout), &code);
	}

	/* The loop: see <dlock/async.h>.  The descriptor is the client's. */
	int fd() const
	{
		const int n = dlock_client_fd(client_);

		detail::settle(n < 0 ? n : DLOCK_OK, nullptr);
		return n;
	}

	/* Call the due callbacks; true: call process() again.  False also
	 * while another thread processes. */
	bool process(int most = 0)
	{
		const int rc = dlock_process(client_, most);

		detail::settle(rc < 0 && rc != DLOCK_EBUSY ? rc : DLOCK_OK,
			       nullptr);
		return rc > 0;
	}

	/* Wait until a callback was called; false: no callback came in time. */
	template <class Rep, class Period>
	bool wait(const std::chrono::duration<Rep, Period> &timeout)
	{
		const int rc = dlock_wait(client_, detail::to_ms(timeout));

		detail::settle(rc != DLOCK_EBUSY ? rc : DLOCK_OK, nullptr);
		return rc == DLOCK_OK;
	}

	std::size_t pending() const noexcept { return dlock_pending(client_); }
	void nudge() noexcept { (void)dlock_nudge(client_); }

	/* End a begun acquire.  False: the acquire is over. */
	bool cancel(dlock_op op) noexcept
	{
		return dlock_cancel_op(client_, op) == DLOCK_OK;
	}

	void events_by_process()
	{
		detail::settle(dlock_events_by_process(client_), nullptr);
	}

private:
	friend class handle;

	struct listing {
		std::vector<lock_info> locks;
		std::exception_ptr failed;

		static void each(const dlock_lock_info *l, void *arg) noexcept
		{
			auto &to = *static_cast<listing *>(arg);

			if (!to.failed)
				to.failed = detail::caught([&] {
					to.locks.push_back({ l->name, l->kind,
							     l->permits });
				});
		}
	};

	std::vector<lock_info> list_within(std::int64_t ms,
					   std::error_code *code) const
	{
		listing to;
		const int rc = dlock_list(client_, listing::each, &to, ms);

		if (to.failed)
			std::rethrow_exception(to.failed);
		detail::settle(rc, code);
		return std::move(to.locks);
	}

	void open(const std::string &uri, options &&given,
		  std::error_code *code)
	{
		const detail::secret at(uri), password(given.password);
		const std::string label = detail::to_c(given.label);
		dlock_options o{};

		detail::wipe(given.password);
		auto hooks = std::make_shared<detail::hooks>();

		o.size = sizeof(o);
		o.require = given.require;
		o.label = label.empty() ? nullptr : label.c_str();
		o.password = password.get();
		o.no_threads = given.no_threads;
		o.on_event = given.on_event ? hooks->event : nullptr;
		o.on_log = given.on_log ? hooks->log : nullptr;
		o.arg = hooks.get();
		hooks->given = std::move(given);
		hooks_ = std::move(hooks);
		detail::settle(dlock_open(&client_, at.c_str(), &o), code);
	}

	dlock_client *client_ = nullptr;
	std::shared_ptr<const detail::hooks> hooks_;
};

} /* namespace dlock */

#endif
