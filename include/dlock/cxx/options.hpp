/* SPDX-License-Identifier: Apache-2.0 */
/* Part of <dlock/dlock.hpp>: the options of a client. */
#ifndef DLOCK_CXX_OPTIONS_HPP
#define DLOCK_CXX_OPTIONS_HPP

#include <dlock/cxx/hold_ref.hpp>

#include <cstdint>
#include <functional>
#include <string>
#include <system_error>

namespace dlock
{

/*
 * As dlock_options.  The functions are called as dlock.h says, possibly by
 * several threads at a time; a callback that throws ends the program.
 */
struct options {
	std::uint32_t require = 0; /* DLOCK_CAP_ bits */
	std::string label;         /* "": host:pid */
	std::string password;      /* "": the URI's, or no password */
	/* `hold` and `why` are borrowed for the call. */
	std::function<void(hold_ref hold, dlock_event event, const char *why)>
		on_event;
	std::function<void(const dlock_log_line &line)> on_log;
	bool no_threads = false; /* see dlock/async.h */
	/* A destructor or unlock() could not release the lock: see ERRORS.
	 * Called on the releasing thread; `text` is borrowed for the call. */
	std::function<void(std::error_code code, const char *text)>
		on_release_error;
};

namespace detail
{

/* The functions of a client, which locks and holds need as well. */
struct hooks {
	options given;

	static void event(dlock_hold *raw, enum dlock_event what,
			  const char *why, void *arg) noexcept
	{
		static_cast<const hooks *>(arg)->given.on_event(hold_ref(raw),
								what, why);
	}

	static void log(const dlock_log_line *line, void *arg) noexcept
	{
		static_cast<const hooks *>(arg)->given.on_log(*line);
	}

	void release_failed(int rc) const noexcept
	{
		if (rc != DLOCK_EFORKED && given.on_release_error)
			given.on_release_error(to_code(rc), dlock_errmsg());
	}
};

} /* namespace detail */

} /* namespace dlock */

#endif
