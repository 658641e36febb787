# SPDX-License-Identifier: Apache-2.0
"""Handles of locks."""
import threading
import time
from collections import namedtuple

from dlock._dlock import ffi, lib
from dlock.errors import (Busy, Canceled, Invalid, Unreachable, c_text, checked,
                          failure, from_ms, text, to_ms, to_permits)
from dlock.hold import Hold
from dlock.wait import Signals

Participant = namedtuple("Participant",
                         "label id token remaining shared waiting since "
                         "permits limit")
Permits = namedtuple("Permits", "limit held free")


@ffi.def_extern()
def py_participant(p, arg):
    ffi.from_handle(arg).append(Participant(
        text(p.label), text(p.id), p.token, from_ms(p.remaining_ms),
        bool(p.shared), bool(p.waiting), p.since_ms / 1000 or None,
        p.permits, p.limit))


class Lock:
    """What every kind of lock can do.  Threads may share one.

    `with lock:` acquires for this thread and releases at the end; several
    threads may do so with the same object."""
    _n_members = 0

    def __init__(self, name, client, make, *args):
        out = ffi.new("dlock_lock **")
        checked(make(out, *args))
        self._raw = ffi.gc(out[0], lib.dlock_lock_free)
        self._client = client  # not closed before its locks are forgotten
        self.name = name
        self._cancels = 0
        self._mine = threading.local()

    def acquire(self, timeout=None):
        """A Hold, in `timeout` seconds; None waits for ever.  Raises Busy if
        others hold the lock; TimedOut, a Busy, unless the timeout is 0."""
        return self._acquire(lib.dlock_acquire, timeout)

    def try_acquire(self, timeout=0):
        """As acquire(), but None if others hold the lock."""
        try:
            return self.acquire(timeout)
        except Busy:
            return None

    def _acquire(self, call, timeout):
        hold = Hold(self)
        ms = left = to_ms(timeout)
        if threading.current_thread() is not threading.main_thread():
            checked(call(self._raw, ms, hold._out), ms != 0)
            return hold._identify()
        begun = time.monotonic()
        while True:
            # Most often that is all, and signals need no thread.
            rc = call(self._raw, 0, hold._out)
            if rc not in (Busy.code, Unreachable.code) or left == 0:
                checked(rc, ms != 0)
                return hold._identify()
            if self._wait(call, left, hold):
                return hold._identify()
            if ms >= 0:
                took = time.monotonic() - begun
                left = max(0, ms - int(took * 1000))

    def _wait(self, call, ms, hold):
        """In the main thread.  False: a signal's handler has run, and has not
        raised, so that the wait is not over."""
        before = self._cancels
        signals = Signals(lambda: lib.dlock_cancel(self._raw))
        try:
            try:
                signals.start()
                rc = call(self._raw, ms, hold._out)
                message = text(lib.dlock_errmsg()) if rc < 0 else ""
            finally:
                try:
                    signals.stop()
                finally:
                    signals.stop()
        except BaseException:
            hold._let_go()  # what was granted nobody would have
            raise
        if rc == Canceled.code and signals.came and self._cancels == before:
            return False
        if rc < 0:
            raise failure(rc, message, waited=True)
        return True

    def cancel(self):
        """End the waits that are under way with Canceled."""
        self._cancels += 1
        lib.dlock_cancel(self._raw)

    def inspect(self, timeout=5):
        """The participants, as the store sees them now."""
        found = []
        arg = ffi.new_handle(found)
        checked(lib.dlock_inspect(self._raw, lib.py_participant, arg,
                                  to_ms(timeout)))
        return found

    def revoke(self, timeout=5):
        """dlock_revoke(): ask its holder to give it up."""
        checked(lib.dlock_revoke(self._raw, to_ms(timeout)))

    def take_away(self, timeout=5):
        """dlock_break(): take the lock away from the holders.  True: there was
        a holder; False: there was no holder, and no break; None: the store
        cannot say."""
        ms, begun = to_ms(timeout), time.monotonic()
        held = None
        if "INSPECT" in self._client.caps:
            held = any(not p.waiting for p in self.inspect(timeout))
        if held is not False:
            if ms >= 0:
                ms = max(0, ms - int((time.monotonic() - begun) * 1000))
            checked(lib.dlock_break(self._raw, ms))
        return held

    def __repr__(self):
        return f"<dlock.{type(self).__name__} '{self.name}'>"

    def __enter__(self):
        hold = self.acquire()
        if not hasattr(self._mine, "holds"):
            self._mine.holds = []
        self._mine.holds.append(hold)
        return hold

    def __exit__(self, kind, value, trace):
        return self._mine.holds.pop().__exit__(kind, value, trace)


class SharedLock(Lock):
    """A read-write lock; acquire() takes the write side."""

    def use_read_side(self):
        """From now on acquire() takes the read side, and so does a MultiLock
        that is made of this object later.  Returns the object."""
        checked(lib.dlock_lock_use_read_side(self._raw))
        return self

    def acquire_shared(self, timeout=None):
        return self._acquire(lib.dlock_acquire_shared, timeout)

    def try_acquire_shared(self, timeout=0):
        try:
            return self.acquire_shared(timeout)
        except Busy:
            return None


class Semaphore(Lock):
    """Many holders: each has a permit, or several."""

    def acquire(self, timeout=None, permits=1):
        """As Lock.acquire(), for so many permits at once: all or none."""
        n = to_permits(permits)
        return self._acquire(
            lambda raw, ms, out: lib.dlock_acquire_permits(raw, n, ms, out),
            timeout)

    def try_acquire(self, timeout=0, permits=1):
        """As acquire(), but None if others hold the permits."""
        try:
            return self.acquire(timeout, permits)
        except Busy:
            return None

    def permits(self, timeout=5):
        """How many permits there are, are held, and are free: Permits."""
        out = ffi.new("struct dlock_permits *")
        out.size = ffi.sizeof("struct dlock_permits")
        checked(lib.dlock_semaphore_permits(self._raw, out, to_ms(timeout)))
        return Permits(out.limit, out.held, out.free)

    def resize(self, permits, timeout=5):
        """dlock_semaphore_resize(): for all that use it, while they do."""
        checked(lib.dlock_semaphore_resize(self._raw, to_permits(permits),
                                           to_ms(timeout)))


class MultiLock(Lock):
    """All of many locks, from any mix of stores, or none."""

    def __init__(self, locks):
        locks = list(locks)
        raws = [lock._raw for lock in locks]
        if not raws:
            raise Invalid("a multi-lock of no locks")
        self._n_members = len(raws)
        super().__init__(", ".join(lock.name for lock in locks),
                         [lock._client for lock in locks],
                         lib.dlock_multi_new,
                         ffi.new("dlock_lock *[]", raws), len(raws))


def make(raw, kind, client, name, *args, unbound=False):
    calls = {"mutex": (Lock, lib.dlock_mutex_new),
             "rwlock": (SharedLock, lib.dlock_rwlock_new),
             "semaphore": (Semaphore, lib.dlock_semaphore_new)}
    cls, call = calls[kind]
    lock = cls(name, client, call, raw, c_text(name, "the name"), *args)
    if unbound:
        checked(lib.dlock_lock_unbind(lock._raw))
    return lock
