/* SPDX-License-Identifier: Apache-2.0 */
/*
 * transfer FROM TO AMOUNT - move an amount between two files with a number in
 * each, in C++17.  Other transfers may run at the same time, on any host, also
 * in the other direction: both locks are taken at once, or neither.
 */
#include <dlock/dlock.hpp>

#include <chrono>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <mutex>
#include <string>
#include <sysexits.h>

using namespace std::chrono_literals;

static long read_account(const std::string &path)
{
	std::ifstream in(path);
	long amount = 0;

	in >> amount;
	return amount;
}

static void write_account(const std::string &path, long amount)
{
	std::ofstream out(path);

	out << amount << '\n';
	out.close();
	if (!out)
		throw std::runtime_error("cannot write " + path);
}

static void transfer(dlock::client &store, const std::string &from,
		     const std::string &to, long amount)
{
	dlock::mutex one(store, from), two(store, to);
	dlock::multi_lock both({ one, two });
	const std::unique_lock<dlock::multi_lock> guard(both, 10s);

	if (!guard)
		throw std::runtime_error("others are at it for 10 s");
	const long left = read_account(from) - amount;
	if (left < 0)
		throw std::runtime_error(from + " has not that much");
	/* As late as can be: the writes take no time to speak of. */
	if (const std::error_code lost = both.held().check())
		throw dlock::error(lost, "the locks were lost; nothing done");
	write_account(from, left);
	write_account(to, read_account(to) + amount);
}

int main(int argc, char **argv)
{
	const char *uri = std::getenv("DLOCK_URI");
	dlock::options options;

	if (argc != 4 || !uri) {
		std::cerr << "usage: DLOCK_URI=... transfer FROM TO AMOUNT\n";
		return EX_USAGE;
	}
	options.on_release_error = [](std::error_code, const char *text) {
		std::cerr << "transfer: " << text << '\n';
	};
	try {
		dlock::client store(uri, options);

		transfer(store, argv[1], argv[2], std::stol(argv[3]));
	} catch (const std::exception &e) {
		std::cerr << "transfer: " << e.what() << '\n';
		return EX_UNAVAILABLE;
	}
	return 0;
}
