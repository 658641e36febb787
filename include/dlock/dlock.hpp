/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dlock in C++17: header only, over dlock.h, which states the promise of each
 * call and the meaning of each code.  Link with libdlock.
 *
 *     dlock::client store(uri);
 *     dlock::mutex nightly(store, "billing/nightly");
 *
 *     if (dlock::hold mine = nightly.try_acquire_for(5s))
 *             run_billing(mine.token());
 *
 *     std::lock_guard guard(nightly);
 *     run_billing(nightly.held().token());
 *
 * OBJECTS
 *  - A client, a lock and a hold own the C object, and can be moved but not
 *    copied.  They may be destroyed in any order.  An empty object (moved from,
 *    or made by default) answers errc::invalid.
 *  - A hold is a lock while you have the lock; the destructor releases.  The
 *    acquiring thread must destroy a hold of a mutex or shared_mutex, unless
 *    unbind() was called.
 *  - mutex and multi_lock are TimedLockable, shared_mutex SharedTimedLockable
 *    as well: std::lock_guard, std::unique_lock, std::shared_lock and
 *    std::scoped_lock work with them.  The lock object keeps the hold of
 *    lock() until the same thread calls unlock(); held() returns the hold.  Do
 *    not move the lock object meanwhile.
 *  - std::scoped_lock of several locks tries and backs off without a deadline;
 *    multi_lock waits in a queue, under one deadline.
 *
 * ERRORS
 *  - A call without a std::error_code throws dlock::error.  With the argument,
 *    which is always the last, the call sets the error code instead, returns or
 *    makes an empty object, and throws std::bad_alloc at most.  dlock_errmsg()
 *    has the text.
 *  - A lock that others hold (errc::busy) is no error for the try_ calls: they
 *    return false, or an empty hold.
 *  - A destructor and unlock() never throw because of the store.  If their
 *    release fails, they call options::on_release_error; without the sink, they
 *    report no error.  The hold has ended all the same: after errc::lost
 *    another holder may have interfered, after errc::unreachable others wait
 *    until the lease has run out.  hold::release() throws these.
 *  - In a forked child, destructors have no effect.
 *  - Without exceptions (-fno-exceptions), std::abort() is called instead
 *    of a throw: use the calls with a std::error_code.
 *
 * Durations are rounded up to milliseconds.  A duration of 0 or less asks once;
 * only a call without a duration waits for ever.
 */
#ifndef DLOCK_DLOCK_HPP
#define DLOCK_DLOCK_HPP

#if __cplusplus < 201703L
#error "dlock.hpp needs C++17; before that, use dlock.h"
#endif

#include <dlock/dlock.h>

#include <dlock/cxx/acquire_options.hpp>
#include <dlock/cxx/acquiring.hpp>
#include <dlock/cxx/client.hpp>
#include <dlock/cxx/error.hpp>
#include <dlock/cxx/hold.hpp>
#include <dlock/cxx/lock_name.hpp>
#include <dlock/cxx/multi_lock.hpp>
#include <dlock/cxx/mutex.hpp>
#include <dlock/cxx/options.hpp>
#include <dlock/cxx/participant.hpp>
#include <dlock/cxx/semaphore.hpp>
#include <dlock/cxx/shared_mutex.hpp>

#endif
