/* SPDX-License-Identifier: Apache-2.0 */
/* Part of <dlock/dlock.hpp>: who holds a lock or waits for the lock. */
#ifndef DLOCK_CXX_PARTICIPANT_HPP
#define DLOCK_CXX_PARTICIPANT_HPP

#include <dlock/cxx/convert.hpp>
#include <dlock/cxx/error.hpp>

#include <chrono>
#include <cstdint>
#include <exception>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

namespace dlock
{

struct participant {
	std::string label;
	std::string id;
	std::uint64_t token;
	std::chrono::milliseconds remaining; /* no_expiry: or not known */
	bool shared;
	bool waiting;
	/* The time of the grant, by the store's clock; the epoch: not known. */
	std::chrono::system_clock::time_point since;
	std::uint32_t permits; /* of a semaphore: held or waited for */
	std::uint32_t limit;   /* ... and all permits */
};

namespace detail
{

/* dlock_inspect(). */
class inspection
{
public:
	static std::vector<participant> of(dlock_lock *lock, std::int64_t ms,
					   std::error_code *code)
	{
		inspection to;
		const int rc = dlock_inspect(lock, each, &to, ms);

		if (to.failed)
			std::rethrow_exception(to.failed);
		settle(rc, code);
		return std::move(to.found);
	}

private:
	static void each(const dlock_participant *p, void *arg) noexcept
	{
		auto &to = *static_cast<inspection *>(arg);

		if (!to.failed)
			to.failed = caught([&] {
				to.found.push_back(
					{ p->label, p->id, p->token,
					  from_ms(p->remaining_ms),
					  p->shared != 0, p->waiting != 0,
					  since(p->since_ms), p->permits,
					  p->limit });
			});
	}

	std::vector<participant> found;
	std::exception_ptr failed;
};

} /* namespace detail */

} /* namespace dlock */

#endif
