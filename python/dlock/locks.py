# SPDX-License-Identifier: Apache-2.0
"""Handles of locks."""
import threading
import time
import weakref
from collections import namedtuple

from dlock._dlock import ffi, lib
from dlock.errors import (Busy, Canceled, Invalid, Unreachable, c_label, c_text,
                          checked, collected, failure, from_ms, keep_failure,
                          of_type, raise_kept, text, to_length_ms, to_ms,
                          to_permits)
from dlock.hold import Hold, HoldRef, Unique
from dlock.wait import Signals

Participant = namedtuple("Participant",
                         "label id token remaining shared waiting since "
                         "permits limit")
Permits = namedtuple("Permits", "limit held free")
LOCK = "a lock of a dlock.Client"
every_lock = weakref.WeakSet()


def _own_ms(seconds, what):
    """0: none of its own."""
    return 0 if seconds is None else to_length_ms(seconds, what)


def with_options(call, shared, *, lease=None, max_hold=None, renew=True,
                 label=None, permits=None):
    """As `call`, for a lock, milliseconds and so on."""
    text_of_label = c_label(label, "the label")
    options = ffi.new("dlock_acquire_options *", {
        "size": ffi.sizeof("dlock_acquire_options"), "shared": shared,
        "lease_ms": _own_ms(lease, "a lease"),
        "max_hold_ms": _own_ms(max_hold, "a max_hold"),
        "no_renew": not renew, "label": text_of_label,
        "permits": 0 if permits is None else to_permits(permits)})

    def called(raw, ms, *more, kept=text_of_label):
        options.timeout_ms = ms
        return call(raw, options, *more)

    return called


@ffi.def_extern(onerror=keep_failure)
def py_participant(p, arg):
    ffi.from_handle(arg)[0].append(Participant(
        text(p.label), text(p.id), p.token, from_ms(p.remaining_ms),
        bool(p.shared), bool(p.waiting), p.since_ms / 1000 or None,
        p.permits, p.limit))


class Lock(Unique):
    """What every kind of lock can do.  Threads may share one.

    `with lock:` acquires for this thread and releases at the end; several
    threads may do so with the same object."""
    _n_members = 0

    def __init__(self, name, client, make, *args, sticky_cancel=False):
        out = ffi.new("dlock_lock **")
        checked(make(out, *args))
        self._raw = ffi.gc(out[0], lib.dlock_lock_free)
        self._client = client  # not closed before its locks are forgotten
        self.name = name
        self._mu = threading.RLock()
        self._cancels = (0, 0)  # by cancel(), and for signals
        self._answered = (0, 0) if sticky_cancel else None
        self._signalled = False  # a signal's cancel may have come too late
        self._mine = threading.local()
        every_lock.add(self)
        if sticky_cancel:
            checked(lib.dlock_lock_sticky_cancel(self._raw))

    def acquire(self, timeout=None, **options):
        """A Hold, in `timeout` seconds; None waits for ever.  Raises Busy if
        others hold the lock; TimedOut, a Busy, unless the timeout is 0.
        lease=, max_hold= (seconds), renew=False and label= are the hold's own,
        and permits= is for a semaphore: see dlock_acquire_opts()."""
        return self._acquire(lib.dlock_acquire, timeout, options)

    def try_acquire(self, timeout=0, **options):
        """As acquire(), but None if others hold the lock."""
        try:
            return self.acquire(timeout, **options)
        except Busy:
            return None

    def _acquire(self, call, timeout, options, shared=False):
        if options:
            call = with_options(lib.dlock_acquire_opts, shared, **options)
        hold = Hold(self)
        try:
            self._fill(hold, call, to_ms(timeout))
            return hold._identify()
        except BaseException:
            hold._let_go()  # what was granted nobody would have
            raise

    def _fill(self, hold, call, ms):
        begun, cancels = time.monotonic(), self._cancels[0]

        def left():
            took = time.monotonic() - begun
            return ms if ms < 0 else max(0, ms - int(took * 1000))

        wait = self._wait
        if threading.current_thread() is threading.main_thread():
            wait = self._wait_for_signals
            if ms == 0 or not self._answered:
                # Most often that is all, and signals need no thread.
                rc = call(self._raw, 0, hold._out)
                raise_kept()
                if rc not in (Busy.code, Unreachable.code) or left() == 0:
                    checked(rc, ms != 0)
                    return
        while not wait(call, left(), hold, ms != 0, cancels):
            pass

    def _before(self, cancels):
        """The cancels ahead of a wait, of an acquire that began after
        `cancels` of the program."""
        before = self._answered or self._cancels
        if not self._answered and before[0] != cancels:
            raise Canceled(f"the wait for '{self.name}' was cancelled")
        return before

    def _wait(self, call, ms, hold, waited, cancels):
        """False: it was ended for a signal, and is not over."""
        before = self._before(cancels)
        rc = call(self._raw, ms, hold._out)
        message = text(lib.dlock_errmsg()) if rc < 0 else ""
        return self._ended(rc, message, waited, before)

    def _wait_for_signals(self, call, ms, hold, waited, cancels):
        """In the main thread: a signal's handler runs as soon as it comes."""
        signals = Signals(lambda: self._cancel(0, 1))
        try:
            signals.start()
            before = self._before(cancels)
            rc = call(self._raw, ms, hold._out)
            message = text(lib.dlock_errmsg()) if rc < 0 else ""
            raise_kept()
        finally:
            try:
                signals.stop()
            finally:
                signals.stop()
        return self._ended(rc, message, waited, before)

    def _ended(self, rc, message, waited, before):
        """A sticky cancel for a signal that came behind the end of a wait has
        ended this wait, and is counted already."""
        if rc == Canceled.code:
            with self._mu:
                now, late = self._cancels, self._signalled
                self._signalled = False
                if self._answered:
                    self._answered = now
                    self._signalled = now[1] != before[1]
            if now == before and late:
                return False
            if now[0] == before[0] and now[1] != before[1]:
                return False
        if rc < 0:
            raise failure(rc, message, waited)
        return True

    def _cancel(self, by_program, for_signal):
        with self._mu:
            self._cancels = (self._cancels[0] + by_program,
                             self._cancels[1] + for_signal)
            lib.dlock_cancel(self._raw)

    def cancel(self):
        """End the waits that are under way with Canceled; with sticky_cancel
        the next one, if there is none."""
        self._cancel(1, 0)

    @property
    def held(self):
        """How many times this thread holds it: dlock_lock_held()."""
        return checked(lib.dlock_lock_held(self._raw))

    def inspect(self, timeout=5):
        """The participants, as the store sees them now."""
        return collected(lib.dlock_inspect, self._raw, lib.py_participant,
                         timeout)

    def revoke(self, timeout=5):
        """dlock_revoke(): ask its holder to give it up."""
        checked(lib.dlock_revoke(self._raw, to_ms(timeout)))

    def take_away(self, timeout=5):
        """dlock_break(): take the lock away from the holders.  True: there was
        a holder; False: there was no holder, and no break; None: the store
        cannot say."""
        ms, begun = to_ms(timeout), time.monotonic()
        held = None
        if self._n_members == 0 and "INSPECT" in self._client.caps:
            held = any(not p.waiting for p in self.inspect(timeout))
        if held is not False:
            if ms >= 0:
                ms = max(0, ms - int((time.monotonic() - begun) * 1000))
            checked(lib.dlock_break(self._raw, ms))
        return held

    def __repr__(self):
        return f"<dlock.{type(self).__name__} '{self.name}'>"

    def __enter__(self):
        if not hasattr(self._mine, "holds"):
            self._mine.holds = []
        holds = self._mine.holds
        before = len(holds)
        try:
            holds.append(self.acquire())
            return holds[-1]
        except BaseException:  # a signal's handler: the block does not begin
            while len(holds) > before:
                holds.pop()._let_go()
            raise

    def __exit__(self, kind, value, trace):
        holds = getattr(self._mine, "holds", None)
        if not holds:
            raise Invalid(f"the lock '{self.name}': `with` ends in a thread "
                          "without a block")
        return holds.pop().__exit__(kind, value, trace)


class SharedLock(Lock):
    """A read-write lock; acquire() takes the write side."""

    def use_read_side(self):
        """From now on acquire() takes the read side, and so does a MultiLock
        that is made of this object later.  Returns the object."""
        checked(lib.dlock_lock_use_read_side(self._raw))
        return self

    def acquire_shared(self, timeout=None, **options):
        return self._acquire(lib.dlock_acquire_shared, timeout, options, True)

    def try_acquire_shared(self, timeout=0, **options):
        try:
            return self.acquire_shared(timeout, **options)
        except Busy:
            return None


class Upgradeable(Lock):
    """The upgradeable read side of a SharedLock: acquire() takes that side, and
    upgrade() adds the write side."""

    def __init__(self, lock, *, sticky_cancel=False):
        self._n_members = 2
        of_type(lock, Lock, "the lock of an Upgradeable", LOCK)
        super().__init__(lock.name, lock._client, lib.dlock_upgradeable_new,
                         lock._raw, sticky_cancel=sticky_cancel)

    def upgrade(self, hold, timeout=None):
        """The write side, beside `hold`, as a Hold: dlock_upgrade().  Release
        the result first.  Errors are as for acquire()."""
        of_type(hold, HoldRef, "the hold of an upgrade", "a Hold")

        def call(raw, ms, out):
            return lib.py_upgrade(raw, hold._c, ms, out)

        writes = self._acquire(call, timeout, {})
        writes._beside = hold  # not collected before
        return writes

    def try_upgrade(self, hold, timeout=0):
        """As upgrade(), but None if plain readers hold the lock."""
        try:
            return self.upgrade(hold, timeout)
        except Busy:
            return None


class Semaphore(Lock):
    """Many holders.  acquire(permits=n) takes several permits at once: all or
    none."""

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

    def __init__(self, locks, *, sticky_cancel=False):
        locks = list(locks)
        raws = [of_type(lock, Lock, "a member", LOCK)._raw for lock in locks]
        if not raws:
            raise Invalid("a multi-lock of no locks")
        self._n_members = len(raws)
        super().__init__(", ".join(lock.name for lock in locks),
                         [lock._client for lock in locks],
                         lib.dlock_multi_new,
                         ffi.new("dlock_lock *[]", raws), len(raws),
                         sticky_cancel=sticky_cancel)


Name = namedtuple("Name", "text made")
MADE = ("same", "escaped", "hashed")


def make_name(data):
    """A legal name of a lock for a str, or bytes of any kind; and what was
    made of it: "same", "escaped" or "hashed".  See dlock_name_make()."""
    if isinstance(data, str):
        data = data.encode("utf-8", "surrogatepass")
    data = ffi.from_buffer(data)
    out = ffi.new("char[]", lib.DLOCK_NAME_SIZE)
    made = checked(lib.dlock_name_make(out, data, len(data)))
    return Name(text(out), MADE[made])


def make(raw, kind, client, name, *args, unbound=False, sticky_cancel=False):
    calls = {"mutex": (Lock, lib.dlock_mutex_new),
             "rwlock": (SharedLock, lib.dlock_rwlock_new),
             "semaphore": (Semaphore, lib.dlock_semaphore_new)}
    cls, call = calls[kind]
    lock = cls(name, client, call, raw, c_text(name, "the name"), *args,
               sticky_cancel=sticky_cancel)
    if unbound:
        checked(lib.dlock_lock_unbind(lock._raw))
    return lock
