/* SPDX-License-Identifier: Apache-2.0 */
/* Another shared object of the program. */
#ifndef DLOCK_TESTS_CXX_PART_HPP
#define DLOCK_TESTS_CXX_PART_HPP

#include <dlock/dlock.hpp>

__attribute__((visibility("default"))) const std::error_category &
part_category() noexcept;

#endif
