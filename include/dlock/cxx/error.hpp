/* SPDX-License-Identifier: Apache-2.0 */
/* Part of <dlock/dlock.hpp>: codes, exceptions, and how they are raised. */
#ifndef DLOCK_CXX_ERROR_HPP
#define DLOCK_CXX_ERROR_HPP

#include <dlock/dlock.h>

#include <cstdlib>
#include <exception>
#include <stdexcept>
#include <string>
#include <system_error>
#include <type_traits>

namespace dlock
{

/* The codes of dlock.h, for comparison with a std::error_code. */
enum class errc {
	busy = DLOCK_EBUSY,
	unreachable = DLOCK_EUNREACHABLE,
	canceled = DLOCK_ECANCELED,
	lost = DLOCK_ELOST,
	deadlock = DLOCK_EDEADLK,
	invalid = DLOCK_EINVAL,
	not_supported = DLOCK_ENOTSUP,
	denied = DLOCK_EDENIED,
	exhausted = DLOCK_EEXHAUSTED,
	protocol = DLOCK_EPROTO,
	forked = DLOCK_EFORKED,
	no_memory = DLOCK_ENOMEM,
	system = DLOCK_ESYSTEM
};

namespace detail
{

class category final : public std::error_category
{
public:
	const char *name() const noexcept override { return "dlock"; }

	std::string message(int code) const override
	{
		return dlock_strerror(code);
	}

	/* Only a code with the meaning of a POSIX code is translated. */
	std::error_condition
	default_error_condition(int code) const noexcept override
	{
		switch (code) {
		case DLOCK_EBUSY:
			return std::errc::device_or_resource_busy;
		case DLOCK_EUNREACHABLE:
			return std::errc::timed_out;
		case DLOCK_ECANCELED:
			return std::errc::operation_canceled;
		case DLOCK_EDEADLK:
			return std::errc::resource_deadlock_would_occur;
		case DLOCK_EINVAL:
			return std::errc::invalid_argument;
		case DLOCK_ENOTSUP:
			return std::errc::not_supported;
		case DLOCK_EDENIED:
			return std::errc::permission_denied;
		case DLOCK_ENOMEM:
			return std::errc::not_enough_memory;
		default:
			return { code, *this };
		}
	}
};

} /* namespace detail */

/* Codes compare by the address.  Shared objects of the program that hide their
 * symbols have the same category. */
DLOCK_API inline const std::error_category &error_category() noexcept
{
	static const detail::category category;

	return category;
}

inline std::error_code make_error_code(errc code) noexcept
{
	return { static_cast<int>(code), error_category() };
}

/* code() is an errc, and the text is the message of dlock_errmsg(), which names
 * the culprit. */
class error : public std::system_error
{
public:
	error(std::error_code code, const std::string &text)
		: std::system_error(code), text_(text)
	{
	}

	const char *what() const noexcept override { return text_.what(); }

private:
	std::runtime_error text_; /* copies do not throw */
};

} /* namespace dlock */

template <>
struct std::is_error_code_enum<dlock::errc> : std::true_type {
};

namespace dlock
{

namespace detail
{

inline std::error_code to_code(int rc) noexcept
{
	if (rc >= 0)
		return {};
	return { rc, error_category() };
}

[[noreturn]] inline void raise(std::error_code code, const std::string &text)
{
#ifdef __cpp_exceptions
	throw error(code, text);
#else
	static_cast<void>(code);
	static_cast<void>(text);
	std::abort();
#endif
}

/* The calling thread's last call failed. */
[[noreturn]] inline void raise(std::error_code code)
{
	raise(code, dlock_errmsg());
}

/* Set `code` if there is one; otherwise throw. */
inline void settle(int rc, std::error_code *code)
{
	if (code)
		*code = to_code(rc);
	else if (rc < 0)
		raise(to_code(rc));
}

/* An exception of `f` must not go through the library. */
template <class F>
std::exception_ptr caught(F &&f) noexcept
{
#ifdef __cpp_exceptions
	try {
		f();
	} catch (...) {
		return std::current_exception();
	}
#else
	f();
#endif
	return nullptr;
}

} /* namespace detail */

} /* namespace dlock */

#endif
