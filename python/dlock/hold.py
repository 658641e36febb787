# SPDX-License-Identifier: Apache-2.0
"""A lock while we have it."""
import threading

from dlock._dlock import ffi, lib
from dlock.errors import CLASSES, Invalid, checked, from_ms


class HoldRef:
    """A hold that somebody else releases.  From then on it answers as one that
    was released: not held."""

    def __init__(self, raw, of=None):
        self._c = ffi.new("struct py_hold *")
        self._c.now = raw
        self._of = of  # the hold whose member it is
        # It is not released while another thread asks it.
        self._mu = of._mu if of else threading.RLock()
        self._identify()

    def _identify(self):
        raw = self._c.now
        self._token = lib.dlock_token(raw)
        # The address alone is another hold's, later.
        self._key = int(ffi.cast("uintptr_t", raw)), self._token
        return self

    def _end(self):
        with self._mu:
            self._c.now = ffi.NULL

    def _ask(self, call, *args):
        with self._mu:
            ended = self._of is not None and self._of._c.now == ffi.NULL
            return call(ffi.NULL if ended else self._c.now, *args)

    def _what(self):
        return "the lock"

    def check(self):
        """Raise Lost if the lock was lost.  Never asks the store."""
        rc = self._ask(lib.dlock_check)
        if rc < 0:
            raise CLASSES[rc](self._what() + (
                " is not held any more" if rc == Invalid.code else
                " was lost while it was held"))

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

    def fileno(self):
        """Polls readable once the hold is lost: for select and asyncio."""
        return checked(self._ask(lib.dlock_hold_fd))

    def revocable(self):
        """Have on_event told ("wanted") when others want the lock."""
        checked(self._ask(lib.dlock_revocable))

    def wanted_fileno(self):
        """Polls readable once others want the lock; calls revocable()."""
        return checked(self._ask(lib.dlock_wanted_fd))

    def member(self, i):
        """The hold of a multi-lock's member; None past the end."""
        raw = self._ask(lib.dlock_member, i)
        return None if raw == ffi.NULL else HoldRef(raw, self)

    def __eq__(self, other):
        return isinstance(other, HoldRef) and self._key == other._key

    def __hash__(self):
        return hash(self._key)


class OwnHold(HoldRef):
    """A hold that is released by its methods, or when nothing refers to it."""

    def __init__(self, lock):
        super().__init__(ffi.NULL)
        self._c = ffi.gc(self._c, lib.py_drop)
        self._c.name = lock.name.encode()[:299]
        self._out = ffi.addressof(self._c, "now")
        self._lock = lock  # and with it the client

    def _what(self):
        return f"the lock '{self._lock.name}'"

    def __repr__(self):
        state = "held" if self.held else "not held"
        return f"<dlock.Hold of {self._lock!r}: {state}, token {self._token}>"

    def _let_go(self):
        with self._mu:
            lib.py_leave_hold(self._c)
        return lib.py_release(self._c)

    def _is_over(self):
        return self._c.now == ffi.NULL and self._c.left == ffi.NULL

    def _refuse_if_over(self):
        if self._is_over():
            raise Invalid(f"{self._what()} was released before")


class Hold(OwnHold):
    """What acquire() returns.  As a context manager it releases at the end, and
    raises Lost if the lock was lost meanwhile, unless the block raised."""

    def release(self):
        """As dlock_release(): raises Lost, or Unreachable if others have to
        wait for the lease to run out."""
        self._refuse_if_over()
        checked(self._let_go())

    def __enter__(self):
        return self

    def __exit__(self, kind, value, trace):
        if self._is_over():
            return
        try:
            self.release()
        except Exception:
            if value is None:
                raise
