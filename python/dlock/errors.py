# SPDX-License-Identifier: Apache-2.0
"""An exception class for each code of dlock.h, and what goes there and back."""
import math
import operator
import threading
import traceback

from dlock._dlock import ffi, lib


class Error(Exception):
    """A call of dlock failed.  `code` and `name` are those of dlock.h."""
    code = 0
    name = ""


class Busy(Error):
    """Others held the lock until the deadline."""
    code = -1


class TimedOut(Busy, TimeoutError):
    """... and there was time: the timeout was not 0."""


class Unreachable(Error):
    """The store gave no answer by the deadline."""
    code = -2


class Canceled(Error):
    """The wait was cancelled, or the client closed."""
    code = -3


class Lost(Error):
    """The lock was lost while it was held."""
    code = -4


class Deadlock(Error):
    """This thread would wait for itself."""
    code = -5


class Invalid(Error, ValueError):
    """An invalid argument."""
    code = -6


class NotSupported(Error):
    """This store cannot do that."""
    code = -7


class Denied(Error, PermissionError):
    """The store refused the credentials."""
    code = -8


class Exhausted(Error):
    """A limit of the store or of this process."""
    code = -9


class Protocol(Error):
    """dlock does not understand the store's answer."""
    code = -10


class Forked(Error):
    """The client belongs to the parent process."""
    code = -11


class NoMemory(Error, MemoryError):
    """Out of memory."""
    code = -12


class System(Error):
    """A system call failed."""
    code = -13


CLASSES = {c.code: c for c in (
    Busy, Unreachable, Canceled, Lost, Deadlock, Invalid, NotSupported, Denied,
    Exhausted, Protocol, Forked, NoMemory, System)}
for _class in CLASSES.values():
    _class.name = ffi.string(lib.dlock_errname(_class.code)).decode()


def text(c_string):
    return ffi.string(c_string).decode("utf-8", "replace")


def failure(rc, message, waited=False):
    """The exception that `rc` stands for; `waited`: the timeout was not 0."""
    if rc == Busy.code and waited:
        return TimedOut(message)
    return CLASSES.get(rc, Error)(message)


_kept = threading.local()


def keep(kind, failure, trace):
    """In a callback inside a call of C: a signal's handler may raise there, and
    the thread raises it behind the call."""
    _kept.failure = failure


def keep_for_the_call(kind, failure, trace):
    """The same, where a thread of dlock may call back."""
    if threading.current_thread() is threading.main_thread():
        keep(kind, failure, trace)
    else:
        traceback.print_exception(kind, failure, trace)


def raise_kept():
    """Behind a call of C that may have called back."""
    failure = getattr(_kept, "failure", None)
    if failure:
        _kept.failure = None
        raise failure


def checked(rc, waited=False):
    """`rc`, or raises; on the calling thread, at once: the message is the
    thread's last one."""
    raise_kept()
    if rc < 0:
        raise failure(rc, text(lib.dlock_errmsg()), waited)
    return rc


def wrong_type(what, wanted, value):
    return TypeError(f"{what} must be {wanted}, not {type(value).__name__}")


def of_type(value, kind, what, wanted):
    """`value`, an instance of `kind`."""
    if not isinstance(value, kind):
        raise wrong_type(what, wanted, value)
    return value


def to_hook(call, what):
    """None: there is no callback."""
    if call is not None and not callable(call):
        raise wrong_type(what, "a function", call)
    return call


def c_text(string, what):
    """What follows a NUL must not vanish without a word."""
    of_type(string, str, what, "a str")
    bad = None
    try:
        data = string.encode()
    except UnicodeEncodeError as e:  # it has the string: maybe a password
        bad = e.start
    if bad is not None:
        raise Invalid(f"character {bad + 1} of {what} cannot be UTF-8")
    if b"\0" in data:
        raise Invalid(f"{what} has a NUL character in it")
    return data


def c_label(string, what):
    """NULL for None and for an empty string."""
    data = None if string is None else c_text(string, what)
    return ffi.new("char[]", data) if data else ffi.NULL


def shown(number):
    """Python refuses to write very long ones."""
    try:
        return str(number)
    except ValueError:
        return "such a size"


def _is_time(seconds, what):
    try:
        return not isinstance(seconds, bool) and seconds >= 0
    except ArithmeticError:
        return False  # NaN as a Decimal
    except TypeError:
        raise wrong_type(what, "a number of seconds", seconds) from None


def _rounded(seconds):
    """Up, and never for ever by accident."""
    return 2 ** 62 if seconds > 2 ** 52 else math.ceil(seconds * 1000)


def to_ms(seconds):
    """None waits for ever."""
    if seconds is None:
        return -1
    if not _is_time(seconds, "a timeout"):
        raise Invalid(f"a timeout of {shown(seconds)}: write seconds, 0 to ask "
                      "once, or None to wait for ever")
    return _rounded(seconds)


def to_length_ms(seconds, what):
    """A time that a hold has."""
    if not _is_time(seconds, what) or seconds == 0:
        raise Invalid(f"{what} of {shown(seconds)} seconds: write more than 0")
    return _rounded(seconds)


def to_index(number, what):
    try:
        return operator.index(number)
    except TypeError:
        raise wrong_type(what, "an int", number) from None


def to_permits(number):
    """For a semaphore."""
    permits = to_index(number, "the number of permits")
    if isinstance(number, bool) or not 1 <= permits < 2 ** 32:
        raise Invalid(f"a semaphore with {shown(number)} permits: there are 1 "
                      "to 4294967295")
    return permits


def from_ms(ms):
    """None: does not expire."""
    return None if ms < 0 else ms / 1000


def collected(call, raw, each, timeout):
    """What `each`, a callback of `call`, appends to the first list of `arg`."""
    found, failed = both = [], []
    arg = ffi.new_handle(both)
    checked(call(raw, each, arg, to_ms(timeout)))
    if failed:
        raise failed[0]
    return found


def keep_failure(kind, failure, trace):
    """In such a callback: a signal's handler may raise there."""
    ffi.from_handle(trace.tb_frame.f_locals["arg"])[1].append(failure)
