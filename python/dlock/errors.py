# SPDX-License-Identifier: Apache-2.0
"""An exception class for each code of dlock.h, and what goes there and back."""
import math

from dlock._dlock import ffi, lib


class Error(Exception):
    """A call of dlock failed.  `code` and `name` are those of dlock.h."""
    code = 0
    name = ""


class Busy(Error):
    """Others held the lock until the deadline."""
    code = -1


class Unreachable(Error, TimeoutError):
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


def checked(rc):
    """`rc`, or the exception that it stands for; on the calling thread, at
    once: the message is the thread's last one."""
    if rc < 0:
        raise CLASSES.get(rc, Error)(text(lib.dlock_errmsg()))
    return rc


def c_text(string, what):
    """What follows a NUL must not vanish without a word."""
    if not isinstance(string, str):
        raise TypeError(f"{what} must be a str, not {type(string).__name__}")
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


def to_ms(seconds):
    """None waits for ever; rounded up, and never for ever by accident."""
    if seconds is None:
        return -1
    if isinstance(seconds, bool) or not seconds >= 0:
        raise Invalid(f"a timeout of {seconds}: write seconds, 0 to ask once, "
                      "or None to wait for ever")
    return 2 ** 62 if seconds > 2 ** 52 else math.ceil(seconds * 1000)


def from_ms(ms):
    """None: does not expire."""
    return None if ms < 0 else ms / 1000
