/* SPDX-License-Identifier: Apache-2.0 */
/* Part of <dlock/dlock.hpp>: a lock of a single holder. */
#ifndef DLOCK_CXX_MUTEX_HPP
#define DLOCK_CXX_MUTEX_HPP

#include <dlock/cxx/lockable.hpp>

#include <string>
#include <system_error>

namespace dlock
{

/* One holder; the holding thread may take the lock again, unless unbound. */
class mutex : public lockable
{
public:
	mutex() noexcept = default;

	mutex(client &c, const std::string &name) : mutex(c, name, nullptr) {}

	mutex(client &c, const std::string &name, std::error_code &code)
		: mutex(c, name, &code)
	{
	}

	/* dlock_lock_unbind(): any thread may release the holds. */
	void unbind() { set_unbound(); }
	void unbind(std::error_code &code) noexcept { set_unbound(code); }

private:
	mutex(client &c, const std::string &name, std::error_code *code)
		: lockable(hooks_of(c), true, code, [&](dlock_lock **out) {
			  return dlock_mutex_new(out, c.native_handle(),
						 detail::to_c(name).c_str());
		  })
	{
	}
};

} /* namespace dlock */

#endif
