/* SPDX-License-Identifier: Apache-2.0 */
/* Part of <dlock/dlock.hpp>: all locks of many. */
#ifndef DLOCK_CXX_MULTI_LOCK_HPP
#define DLOCK_CXX_MULTI_LOCK_HPP

#include <dlock/cxx/lockable.hpp>

#include <functional>
#include <system_error>
#include <vector>

namespace dlock
{

/* All locks of many, from any mix of stores, or no lock: dlock_multi_new().
 * The members may be destroyed at once.  The first member's client is told of
 * failed releases. */
class multi_lock : public lockable
{
public:
	using members = std::vector<std::reference_wrapper<const handle>>;

	multi_lock() noexcept = default;
	explicit multi_lock(const members &of) : multi_lock(of, nullptr) {}

	multi_lock(const members &of, std::error_code &code)
		: multi_lock(of, &code)
	{
	}

private:
	multi_lock(const members &of, std::error_code *code)
		: lockable(of.empty() ? nullptr : hooks_of(of.front().get()),
			   true, code, [&](dlock_lock **out) {
				   std::vector<dlock_lock *> all;

				   all.reserve(of.size());
				   for (const handle &l : of)
					   all.push_back(l.native_handle());
				   return dlock_multi_new(out, all.data(),
							  all.size());
			   })
	{
	}
};

} /* namespace dlock */

#endif
