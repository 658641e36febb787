/* SPDX-License-Identifier: Apache-2.0 */
/* A foreign program in C++; with -fno-exceptions as well. */
#include <dlock/dlock.hpp>

#include <cstdio>
#include <mutex>

int main()
{
	dlock::options options;
	std::error_code code;

	options.require = DLOCK_CAP_FENCE;
	dlock::client client("mem:", options, code);
	dlock::mutex mutex(client, "consumer", code);
	if (code) {
		std::fprintf(stderr, "%s\n", dlock_errmsg());
		return 1;
	}
	const std::lock_guard<dlock::mutex> guard(mutex);
	std::printf("dlock %s\n", dlock_version());
	return mutex.held().token() > 0 ? 0 : 1;
}
