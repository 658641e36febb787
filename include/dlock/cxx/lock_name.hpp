/* SPDX-License-Identifier: Apache-2.0 */
/* Part of <dlock/dlock.hpp>: names of any bytes and length. */
#ifndef DLOCK_CXX_LOCK_NAME_HPP
#define DLOCK_CXX_LOCK_NAME_HPP

#include <dlock/cxx/error.hpp>

#include <string>

namespace dlock
{

/* A legal name of a lock, and how dlock_name_make() made the name. */
struct lock_name {
	enum made { same, escaped, hashed };

	std::string text;
	made how;

	explicit lock_name(const std::string &bytes)
	{
		char out[DLOCK_NAME_SIZE];
		const int rc =
			dlock_name_make(out, bytes.data(), bytes.size());

		detail::settle(rc, nullptr);
		text = out;
		how = static_cast<made>(rc);
	}
};

} /* namespace dlock */

#endif
