# SPDX-License-Identifier: Apache-2.0
"""An operation of dlock, and the future of the task that waits for it."""
import asyncio

from dlock._dlock import ffi, lib
from dlock.errors import Canceled, checked, failure, keep, text

_done = ffi.addressof(lib, "py_done")


def running_loop():
    """This thread's, or None."""
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None


@ffi.def_extern(error=0, onerror=keep)
def py_try_done(result, arg):
    """Each step may be repeated."""
    call = ffi.from_handle(arg)
    rc, raw, message = result.code, result.hold, text(result.message)
    loop = call.client._loop
    in_loop = running_loop() is loop
    if raw != ffi.NULL:
        call._hold._take(raw)
        if call.client._closing or not in_loop:
            call._hold._abandon()
            rc, message = Canceled.code, "the client was closed"
    if in_loop:
        call._end(rc, message)
        return 1
    # In dlock_close(), on another thread.
    try:
        loop.call_soon_threadsafe(call._end, rc, message)
    except RuntimeError:
        pass  # the loop is closed, so no task waits
    return 1


@ffi.def_extern(onerror=keep)
def py_forget(arg):
    ffi.from_handle(arg)._handle = None  # which refers to the call


class Call:
    """Begun once.  `hold` is what an acquire fills, or None."""

    def __init__(self, client, hold=None):
        self.client = client
        self._hold = hold
        self._future = client._loop.create_future()
        self._handle = ffi.new_handle(self)
        self._op = 0
        self._is_dropped = False
        self._ms = 0

    def begin(self, function, *args):
        """`function` gets the callback and its argument behind `args`."""
        self.client._calls.add(self)  # until its callback
        rc = function(*args, _done, self._handle)
        if rc < 0:
            self.client._calls.discard(self)
        checked(rc)

    def acquire(self, function, lock, ms):
        op = ffi.new("dlock_op *")
        self._ms = ms
        self.begin(lambda *begin: function(lock, ms, *begin, op))
        self._op = op[0]

    def fail(self, failure):
        """Instead of begin()."""
        if not self._future.done():
            self._future.set_exception(failure)

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
            # A close ends it as well.
            client = self.client._client
            with client._mu:
                lib.dlock_cancel_op(client._cell[0], self._op)
        elif self._hold and not self._future.exception():
            self._hold._abandon()  # granted, and nobody has it yet

    def _end(self, rc, message):
        """In the loop; once more if a signal's handler raised in it."""
        if self._is_dropped or self._future.cancelled():
            if self._hold:
                self._hold._abandon()
        elif self._future.done():
            pass
        elif rc < 0:
            self._future.set_exception(failure(rc, message, self._ms != 0))
        else:
            self._future.set_result(None)
        self.client._calls.discard(self)
