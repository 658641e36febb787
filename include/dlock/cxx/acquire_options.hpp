/* SPDX-License-Identifier: Apache-2.0 */
/* Part of <dlock/dlock.hpp>: the options of an acquire. */
#ifndef DLOCK_CXX_ACQUIRE_OPTIONS_HPP
#define DLOCK_CXX_ACQUIRE_OPTIONS_HPP

#include <dlock/cxx/convert.hpp>
#include <dlock/dlock.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

namespace dlock
{

/* As dlock_acquire_options. */
struct acquire_options {
	std::optional<std::chrono::milliseconds> timeout; /* none: for ever */
	bool shared = false;                    /* of a shared_mutex */
	std::chrono::milliseconds lease{ 0 };    /* 0: the store's */
	std::chrono::milliseconds max_hold{ 0 }; /* 0: the client's */
	bool renew = true; /* false: the hold ends with the first lease */
	std::string label; /* "": the client's */
	std::uint32_t permits = 0; /* of a semaphore, all or none; 0: one */
};

namespace detail
{

/* For the call of C. */
class c_acquire_options
{
public:
	explicit c_acquire_options(const acquire_options &o)
		: label_(to_c(o.label))
	{
		if (o.timeout)
			c_.timeout_ms = to_ms(*o.timeout);
		c_.shared = o.shared;
		c_.lease_ms = o.lease.count();
		c_.max_hold_ms = o.max_hold.count();
		c_.no_renew = !o.renew;
		c_.permits = o.permits;
		if (!label_.empty())
			c_.label = label_.c_str();
	}

	c_acquire_options(bool shared, std::int64_t ms)
	{
		c_.timeout_ms = ms;
		c_.shared = shared;
	}

	c_acquire_options(const c_acquire_options &) = delete;
	c_acquire_options &operator=(const c_acquire_options &) = delete;

	const dlock_acquire_options *get() const noexcept { return &c_; }

private:
	dlock_acquire_options c_ = DLOCK_ACQUIRE_OPTIONS_INIT;
	std::string label_;
};

} /* namespace detail */

} /* namespace dlock */

#endif
