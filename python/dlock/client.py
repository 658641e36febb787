# SPDX-License-Identifier: Apache-2.0
"""A connection to one store."""
import atexit
import os
import threading
import traceback
import weakref
from collections import namedtuple
from collections.abc import Iterable

from dlock._dlock import ffi, lib
from dlock.errors import (Invalid, c_label, c_text, checked, collected, from_ms,
                          keep_failure, keep_for_the_call, of_type, text,
                          to_hook, to_permits)
from dlock.hold import HoldRef, Unique, every, known, listed
from dlock.locks import every_lock, make

LockInfo = namedtuple("LockInfo", "name kind permits")
LogLine = namedtuple("LogLine", "level code text lock label uri")
Stats = namedtuple("Stats", [
    name for name, _ in ffi.typeof("struct dlock_stats").fields
    if name != "size"])
Times = namedtuple("Times", "count total buckets")
EVENTS = ("at_risk", "safe", "lost", "wanted", "unconfirmed")
CAPS = {text(lib.dlock_cap_name(1 << i)): 1 << i for i in range(32)
        if lib.dlock_cap_name(1 << i) != ffi.NULL}

_here = threading.local()
_open = weakref.WeakSet()
_Hooks = namedtuple("_Hooks", "on_event on_log")


@atexit.register
def _close_all():
    """No thread of dlock may call an interpreter that is gone."""
    for client in listed(_open):
        client.close()


def _free_mutexes():
    """In a forked child, which lacks the threads that locked them."""
    for asked in listed(_open) + listed(every) + listed(every_lock):
        asked._mu = threading.RLock()
    for hold in listed(every):
        hold._slow = threading.RLock()


os.register_at_fork(after_in_child=_free_mutexes)


def _close(cell, handle):
    lib.py_close(cell)
    del handle  # the callbacks needed it until now


def _caps(names):
    bits = 0
    if isinstance(names, str):
        names = (names,)
    for name in of_type(names, Iterable, "require", "names of capabilities"):
        if name not in CAPS:
            raise Invalid(f"no capability is called '{name}': there are " +
                          ", ".join(CAPS))
        bits |= CAPS[name]
    return bits


def _stat(value):
    if isinstance(value, int):
        return value
    return Times(value.count, value.sum_us / 1e6, tuple(value.bucket))


def _callback():
    """The callback in which this thread is, or None.  An on_event may have a
    line for on_log."""
    return getattr(_here, "callback", None)


def tell_event(hold, event, why, arg):
    mine = known(hold)
    ref = mine or HoldRef(hold)
    _here.callback = "on_event"
    try:
        ffi.from_handle(arg).on_event(ref, EVENTS[event], text(why))
    finally:
        _here.callback = None
        if not mine:
            ref._end()


@ffi.def_extern()
def py_event(hold, event, why, arg):
    tell_event(hold, event, why, arg)


@ffi.def_extern(onerror=keep_for_the_call)
def py_log(line, arg):
    outer, _here.callback = _callback(), "on_log"
    try:
        ffi.from_handle(arg).on_log(LogLine(
            line.level, line.code, text(line.text),
            None if line.lock == ffi.NULL else text(line.lock),
            text(line.label), text(line.uri)))
    except Exception:
        traceback.print_exc()
    finally:
        _here.callback = outer


@ffi.def_extern(onerror=keep_failure)
def py_lock(entry, arg):
    ffi.from_handle(arg)[0].append(
        LockInfo(text(entry.name), text(entry.kind), entry.permits))


class Client(Unique):
    """A store, by its URI.  Close it, or use it as a context manager.

    `require` names capabilities ("FENCE", "EXPIRE") that the store must have.
    on_event(hold, event, why) and on_log(line) are called on threads of
    dlock; what they raise is printed and goes no further.  `hold` is what
    acquire() returned; of several for one thread, the first that is not
    released.  If the program has dropped it, it is one for the call only."""
    _event = lib.py_event

    def __init__(self, uri, *, require=(), label=None, password=None,
                 on_event=None, on_log=None):
        options = ffi.new("dlock_options *")
        self._cell = ffi.new("dlock_client *[2]")
        self._mu = threading.RLock()
        self._handle = ffi.new_handle(_Hooks(to_hook(on_event, "on_event"),
                                             to_hook(on_log, "on_log")))
        kept = [c_label(label, "the label"), c_label(password, "the password")]
        options.size = ffi.sizeof("dlock_options")
        options.require = _caps(require)
        options.label, options.password = kept
        options.on_event = ffi.NULL if on_event is None else self._event
        options.on_log = lib.py_log if on_log is not None else ffi.NULL
        options.arg = self._handle
        self._open(c_text(uri, "the URI"), options)
        _open.add(self)

    def _open(self, uri, options):
        checked(lib.dlock_open(self._cell, uri, options))

    def close(self):
        """Release all holds, end all waits with Canceled.  list() must
        not begin at the same moment."""
        if _callback():
            raise Invalid(f"a client cannot be closed in {_callback()}")
        with self._mu:
            lib.py_leave_client(self._cell)
        _close(self._cell, self._handle)

    def _is_closed(self):
        """Not being closed, either."""
        return self._cell[0] == ffi.NULL and self._cell[1] == ffi.NULL

    def __del__(self):
        cell = getattr(self, "_cell", None)
        if cell is None or self._is_closed():
            return
        lib.py_leave_client(cell)
        # The garbage collector may be at work in a callback.
        if _callback():
            threading.Thread(target=_close, args=(cell, self._handle)).start()
        else:
            _close(cell, self._handle)

    @property
    def _raw(self):
        if self._cell[0] == ffi.NULL:
            raise Invalid("the client is closed")
        return self._cell[0]

    def _ask(self, call, *args, **more):
        """Not while another thread closes it."""
        with self._mu:
            return call(self._raw, *args, **more)

    def __enter__(self):
        return self

    def __exit__(self, kind, value, trace):
        self.close()

    def __repr__(self):
        with self._mu:
            if self._cell[0] == ffi.NULL:
                return "<dlock.Client: closed>"
            return f"<dlock.Client '{self.uri}'>"

    def mutex(self, name, *, unbound=False, sticky_cancel=False):
        """One holder; a thread that holds it may take it again.  unbound: the
        holds belong to no thread, so that any may release them.  sticky_cancel:
        a cancel() that meets no wait ends the next one."""
        return self._ask(make, "mutex", self, name, unbound=unbound,
                         sticky_cancel=sticky_cancel)

    def rwlock(self, name, *, unbound=False, sticky_cancel=False):
        """One writer or many readers; else as mutex()."""
        return self._ask(make, "rwlock", self, name, unbound=unbound,
                         sticky_cancel=sticky_cancel)

    def semaphore(self, name, permits, *, sticky_cancel=False):
        """`permits` holders; any thread may release."""
        return self._ask(make, "semaphore", self, name, to_permits(permits),
                         sticky_cancel=sticky_cancel)

    @property
    def caps(self):
        """The names of the store's capabilities."""
        bits = self._ask(lib.dlock_caps)
        return frozenset(name for name, bit in CAPS.items() if bits & bit)

    @property
    def uri(self):
        """As the library read it, without its password."""
        return self._ask(lambda raw: text(lib.dlock_uri(raw)))

    @property
    def ttl(self):
        """The lease in seconds; None if holds do not expire."""
        return from_ms(self._ask(lib.dlock_ttl_ms)) or None

    @property
    def linger(self):
        """For how many seconds longer a dead holder's lock may be taken."""
        return from_ms(self._ask(lib.dlock_linger_ms))

    def stats(self):
        """What the client has done since it was opened.  Times have their
        `total` in seconds, and count in buckets[i] those below 4 ** (i + 1)
        microseconds that no earlier one counts."""
        out = ffi.new("struct dlock_stats *")
        out.size = ffi.sizeof("struct dlock_stats")
        checked(self._ask(lib.dlock_get_stats, out))
        return Stats(*(_stat(getattr(out, name)) for name in Stats._fields))

    def list(self, timeout=5):
        """The locks that the store knows."""
        return collected(lib.dlock_list, self._raw, lib.py_lock, timeout)
