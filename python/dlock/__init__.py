# SPDX-License-Identifier: Apache-2.0
"""One interface to distributed locks.

    with dlock.Client("redis://cache/0") as store:
        nightly = store.mutex("billing/nightly")
        with nightly.acquire(timeout=5) as hold:
            run_billing(hold.token)

Timeouts are seconds; None waits for ever.  dlock.h says what each call
promises.  A mutex belongs to the thread that acquired it."""
import sys as _sys

if _sys.implementation.name == "cpython":
    import ctypes as _ctypes

    _get = _ctypes.pythonapi["PyInterpreterState_Get"]
    _id = _ctypes.pythonapi["PyInterpreterState_GetID"]
    _get.restype, _id.argtypes = _ctypes.c_void_p, (_ctypes.c_void_p,)
    if _id(_get()) != 0:
        raise ImportError(
            "this is a sub-interpreter, where callbacks would be lost: import "
            "dlock in the main interpreter (mod_wsgi: WSGIApplicationGroup "
            "%{GLOBAL})")

from dlock._dlock import lib as _lib
from dlock.client import Client, LockInfo, LogLine, Stats, Times
from dlock.errors import (Busy, Canceled, Deadlock, Denied, Error, Exhausted,
                          Forked, Invalid, Lost, NoMemory, NotSupported,
                          Protocol, System, TimedOut, Unreachable,
                          text as _text)
from dlock.hold import Hold, HoldRef
from dlock.locks import (Lock, MultiLock, Name, Participant, Permits,
                         Semaphore, SharedLock, Upgradeable, make_name)

__version__ = _text(_lib.dlock_version())
__all__ = ["Busy", "Canceled", "Client", "Deadlock", "Denied", "Error",
           "Exhausted", "Forked", "Hold", "HoldRef", "Invalid", "Lock",
           "LockInfo", "LogLine", "Lost", "MultiLock", "Name", "NoMemory",
           "NotSupported", "Participant", "Permits", "Protocol", "Semaphore",
           "SharedLock", "Stats", "System", "TimedOut", "Times",
           "Unreachable", "Upgradeable", "make_name"]
