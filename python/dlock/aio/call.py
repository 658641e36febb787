# SPDX-License-Identifier: Apache-2.0
"""An asynchronous call of dlock, and the future of the task that waits."""
import asyncio

from dlock._dlock import ffi, lib
from dlock.errors import Canceled, checked, failure, text


def running_loop():
    """This thread's, or None."""
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None


@ffi.def_extern()
def py_done(rc, raw, arg):
    call = ffi.from_handle(arg)
    message = text(lib.dlock_errmsg()) if rc < 0 else ""
    loop = call.client._loop
    if running_loop() is loop:
        call._end(rc, raw, message)
        return
    # On another thread: the client is being closed.
    if raw != ffi.NULL:
        lib.dlock_release(raw)
        rc, message = Canceled.code, "the client was closed"
    try:
        loop.call_soon_threadsafe(call._end, rc, ffi.NULL, message)
    except RuntimeError:
        pass  # the loop is closed, so no task waits


class Call:
    """Begun once.  `hold` is what an acquire fills, None for a release."""

    def __init__(self, client, hold=None):
        self.client = client
        self._hold = hold
        self._future = client._loop.create_future()
        self._handle = ffi.new_handle(self)
        self._raw = None
        self._is_dropped = False
        self._ms = 0

    def acquire(self, function, lock, ms):
        self._ms = ms
        out = ffi.new("dlock_async **")
        checked(function(lock, ms, lib.py_done, self._handle, out))
        self._raw = ffi.gc(out[0], lib.dlock_async_free)
        self.client._calls.add(self)  # until its callback

    def release(self, c):
        checked(lib.py_release_async(c, lib.py_done, self._handle))
        self.client._calls.add(self)

    async def result(self):
        """A task that is cancelled cancels its acquire."""
        try:
            await self._future
        except BaseException:
            self._drop()
            raise
        return self._hold

    def _drop(self):
        self._is_dropped = True
        if not self._future.done() or self._future.cancelled():
            # close() ends it as well, and the client may be gone after that.
            if self._raw and not self.client._closing:
                lib.dlock_async_cancel(self._raw)
        elif self._hold and not self._future.exception():
            self._hold._abandon()  # granted, and nobody has it yet

    def _end(self, rc, raw, message):
        """In the loop."""
        self.client._calls.discard(self)
        self._handle = None  # it refers to this call
        if raw != ffi.NULL:
            self._hold._take(raw)
        if self._is_dropped or self._future.done():
            if raw != ffi.NULL:
                self._hold._abandon()
        elif rc < 0:
            self._future.set_exception(failure(rc, message, self._ms != 0))
        else:
            self._future.set_result(None)
