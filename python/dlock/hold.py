# SPDX-License-Identifier: Apache-2.0
"""A lock while we have it."""
import itertools
import threading
import weakref

from dlock._dlock import ffi, lib
from dlock.errors import (CLASSES, Forked, Invalid, Lost, checked, from_ms,
                          shown, to_index, to_length_ms)

NOT_HELD = {Invalid.code: "is not held any more",
            Lost.code: "was lost while it was held",
            Forked.code: "is held by the parent process, if at all"}

every = weakref.WeakSet()                # of what acquire() and member() made
_by_raw = weakref.WeakValueDictionary()  # one of them for each hold of dlock
_numbers = itertools.count()


def _address(raw):
    return int(ffi.cast("uintptr_t", raw))


def listed(weak_set):
    while True:
        try:
            return list(weak_set)
        except RuntimeError:
            pass  # another thread has added one


def known(raw):
    """The HoldRef of what dlock calls `raw`: of several, the first that is not
    over.  None if the program has dropped it."""
    found = _by_raw.get(_address(raw))
    if found is not None and found._has(raw):
        return found
    # Released, with an event after that; or another one is left; or acquire()
    # is about to return it.
    refs = listed(every)
    one = min((ref for ref in refs if ref._has(raw)),
              key=lambda ref: ref._number, default=None)
    if one is None:
        one = next((m for ref in refs for m in ref._each_member()
                    if m._has(raw)), found)
    return one


class Unique:
    """An object of the library, of which a copy would be a second owner."""

    def __reduce_ex__(self, protocol):
        raise TypeError(f"a dlock.{type(self).__name__} cannot be copied or "
                        "pickled")


class HoldRef(Unique):
    """A hold that somebody else releases.  From then on it answers as one that
    was released: not held."""

    def __init__(self, raw, of=None):
        self._number = next(_numbers)
        self._c = ffi.new("struct py_hold *")
        self._c.now = raw
        self._of = of  # the hold whose member it is
        self._members = weakref.WeakValueDictionary()
        # It is not released while another thread asks it, or, with _slow,
        # has it ask the store.  _slow is locked first.
        self._mu = of._mu if of else threading.RLock()
        self._slow = of._slow if of else threading.RLock()
        self._asking = of._asking if of else []  # an item for each _ask_store()
        self._token = lib.dlock_token(raw)

    def _note(self):
        """Have on_event() find it."""
        raw = self._c.now
        every.add(self)
        found = _by_raw.get(_address(raw))
        if found is None or not found._has(raw):
            _by_raw[_address(raw)] = self

    def _has(self, raw):
        """Is that what it stands for, and not over?"""
        return self._c.now == raw and (
            self._of is None or not self._of._is_over())

    def _end(self):
        with self._slow, self._mu:
            self._c.now = ffi.NULL

    def _now(self):
        ended = self._of is not None and self._of._c.now == ffi.NULL
        return ffi.NULL if ended else self._c.now

    def _ask(self, call, *args):
        with self._mu:
            return call(self._now(), *args)

    def _ask_store(self, call):
        """Other threads may ask it meanwhile."""
        self._asking.append(True)
        try:
            with self._slow:
                return call(self._now())
        finally:
            self._asking.pop()

    def _what(self):
        return "the lock"

    def _checked(self, rc):
        if rc == Invalid.code and self._now() == ffi.NULL:
            raise Invalid(f"{self._what()} {NOT_HELD[rc]}")
        return checked(rc)

    def check(self):
        """Raise Lost if the lock was lost.  Never asks the store."""
        rc = self._ask(lib.dlock_check)
        if rc < 0:
            raise CLASSES[rc](f"{self._what()} {NOT_HELD[rc]}")

    @property
    def held(self):
        return self._ask(lib.dlock_check) == 0

    @property
    def token(self):
        """The fencing token; 0 if there is none."""
        return self._token

    @property
    def remaining(self):
        """Seconds left on the lease; None if it does not expire."""
        return from_ms(self._ask(lib.dlock_remaining_ms))

    @property
    def warning(self):
        """Begin to stop when `remaining` falls below this."""
        return from_ms(self._ask(lib.dlock_warning_ms))

    def extend(self, seconds):
        """dlock_extend(): its end is so far away from now on."""
        self._checked(self._ask(lib.dlock_extend,
                                to_length_ms(seconds, "an extension")))

    def fileno(self):
        """Polls readable once the hold is lost: for select and asyncio."""
        return self._checked(self._ask(lib.dlock_hold_fd))

    def revocable(self):
        """Have on_event told ("wanted") when others want the lock."""
        self._checked(self._ask_store(lib.dlock_revocable))

    def wanted_fileno(self):
        """Polls readable once others want the lock; calls revocable()."""
        return self._checked(self._ask_store(lib.dlock_wanted_fd))

    def member(self, i):
        """The hold of a multi-lock's member, each time the same; None past the
        end."""
        i = to_index(i, "a member's number")
        if i < 0:
            raise Invalid(f"member {shown(i)}: the first one is member 0")
        with self._mu:
            ref = self._members.get(i)
            raw = ffi.NULL
            if ref is None and i < self._n_members():
                raw = self._ask(lib.dlock_member, i)
            if raw != ffi.NULL:
                ref = self._members[i] = HoldRef(raw, self)
                ref._note()
            return ref

    def _n_members(self):
        return 0

    def _each_member(self):
        return (m for m in map(self.member, range(self._n_members())) if m)


class OwnHold(HoldRef):
    """A hold that is released by its methods, or when nothing refers to it."""

    def __init__(self, lock):
        super().__init__(ffi.NULL)
        self._c = ffi.gc(self._c, lib.py_drop)
        self._c.name = lock.name.encode()[:299]
        self._out = ffi.addressof(self._c, "now")
        self._lock = lock  # and with it the client
        every.add(self)    # an event may come before acquire() returns

    def _identify(self):
        self._token = lib.dlock_token(self._c.now)
        self._note()
        return self

    def _n_members(self):
        return self._lock._n_members

    def _has(self, raw):
        c = self._c
        return raw in (c.now, c.left, c.going)

    def _what(self):
        return f"the lock '{self._lock.name}'"

    def __repr__(self):
        state = "held" if self.held else "not held"
        return f"<dlock.Hold of {self._lock!r}: {state}, token {self._token}>"

    def _let_go(self):
        with self._slow, self._mu:
            if not lib.py_leave_hold(self._c):
                raise Invalid(f"{self._what()} is being upgraded: release it "
                              "after that")
        return lib.py_release(self._c)

    def _is_over(self):
        c = self._c
        return c.now == c.left == c.going == ffi.NULL

    def _refuse_if_over(self):
        if self._is_over():
            raise Invalid(f"{self._what()} was released before")


class Hold(OwnHold):
    """What acquire() returns.  As a context manager it releases at the end, and
    raises Lost if the lock was lost meanwhile, unless the block raised."""

    def release(self):
        """As dlock_release(): raises Lost, or Unreachable if others have to
        wait for the lease to run out.  Also then it is over: another release
        raises Invalid and changes nothing, and the end of a `with` of the
        hold releases it no more."""
        self._refuse_if_over()
        checked(self._let_go())

    def __enter__(self):
        self._refuse_if_over()
        return self

    def __exit__(self, kind, value, trace):
        if self._is_over():
            return
        try:
            self.release()
        except Exception:
            if value is None:
                raise
