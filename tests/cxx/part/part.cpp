/* SPDX-License-Identifier: Apache-2.0 */
/* A shared object that is built by itself. */
#include "cxx/part/part.hpp"

const std::error_category &part_category() noexcept
{
	return dlock::error_category();
}
