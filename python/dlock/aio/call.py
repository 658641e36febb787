# SPDX-License-Identifier: Apache-2.0
"""An operation of dlock, and the future of the task that waits for it."""
import asyncio

from dlock._dlock import ffi, lib
from dlock.errors import Canceled, checked, failure, text


def running_loop():
    """This thread's, or None."""
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None


def _interrupted(kind, e, trace):
    """A signal's handler may raise in the callback, which is called again."""
    names = trace.tb_frame.f_locals
    call = names.get("call") or ffi.from_handle(names["arg"])
    call.client._raised = e
    _ended(call, names["result"])


@ffi.def_extern(onerror=_interrupted)
def py_done(result, arg):
    call = ffi.from_handle(arg)
    _ended(call, result)


def _ended(call, result):
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
        return
    # In dlock_close(), on another thread.
    try:
        loop.call_soon_threadsafe(call._end, rc, message)
    except RuntimeError:
        pass  # the loop is closed, so no task waits


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
        rc = function(*args, lib.py_done, self._handle)
        if rc < 0:
            self.client._calls.discard(self)
        checked(rc)

    def acquire(self, function, lock, ms):
        op = ffi.new("dlock_op *")
        self._ms = ms
        self.begin(lambda *begin: function(lock, ms, *begin, op))
        self._op = op[0]

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
        self._handle = None  # it refers to this call
