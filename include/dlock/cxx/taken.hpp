/* SPDX-License-Identifier: Apache-2.0 */
/* Part of <dlock/dlock.hpp>: the holds of lock(). */
#ifndef DLOCK_CXX_TAKEN_HPP
#define DLOCK_CXX_TAKEN_HPP

#include <dlock/cxx/hold.hpp>

#include <mutex>
#include <thread>
#include <utility>
#include <vector>

namespace dlock
{

namespace detail
{

/* The holds that threads took by lock() and lock_shared().  A separate
 * mutex guards the list and not the lock, which can be lost while a thread has
 * the lock. */
class taken
{
public:
	void put(hold h, bool shared)
	{
		const std::lock_guard<std::mutex> guard(mu_);

		/* Without memory `h` is released by the caller's thread, but
		 * not before the guard is gone. */
		if (list_.size() == list_.capacity())
			list_.reserve(2 * list_.size() + 4);
		list_.push_back({ std::this_thread::get_id(), shared,
				  std::move(h) });
	}

	/* The calling thread's latest hold on that side, or an empty hold. */
	hold take(bool shared)
	{
		const std::lock_guard<std::mutex> guard(mu_);
		hold found;

		for (auto at = list_.end(); at != list_.begin();) {
			--at;
			if (at->thread != std::this_thread::get_id() ||
			    at->shared != shared)
				continue;
			found = std::move(at->h);
			list_.erase(at);
			break;
		}
		return found;
	}

	/* The calling thread's latest. */
	hold_ref peek() const
	{
		const std::lock_guard<std::mutex> guard(mu_);

		for (auto at = list_.rbegin(); at != list_.rend(); ++at) {
			if (at->thread == std::this_thread::get_id())
				return at->h;
		}
		return {};
	}

private:
	struct entry {
		std::thread::id thread;
		bool shared;
		hold h;
	};

	mutable std::mutex mu_;
	std::vector<entry> list_;
};

} /* namespace detail */

} /* namespace dlock */

#endif
