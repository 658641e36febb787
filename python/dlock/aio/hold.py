# SPDX-License-Identifier: Apache-2.0
"""A lock while a task has it."""
import asyncio

from dlock._dlock import lib
from dlock.aio.call import Call
from dlock.errors import Error, checked
from dlock.hold import OwnHold


class Hold(OwnHold):
    """What acquire() returns.  `async with` releases at the end, and raises
    Lost if the lock was lost meanwhile, unless the block raised."""

    def __init__(self, lock, beside=None):
        super().__init__(lock)
        self._c.in_loop = True
        self._beside = beside  # the read side of an upgrade
        self._above = set()    # futures: the write side is on its way out

    def _take(self, raw):
        self._c.now = raw
        self._identify()

    def _abandon(self):
        if self._beside:
            call = Call(self._lock._client)
            call._is_dropped = True
            try:
                self._begin_release(call)
                return
            except Error:
                pass  # it is held as before
        with self._mu:
            lib.py_let_go(self._c)

    def _begin_release(self, call):
        with self._mu:
            lib.py_leave_hold(self._c)
            call.begin(lib.py_release_start, self._c)
        self._hold_back(call)

    def _hold_back(self, call):
        """dlock refuses the release of the read side until the call is over."""
        if self._beside:
            above, over = self._beside._above, call.over()
            above.add(over)
            over.add_done_callback(above.discard)

    async def revocable(self):
        """Have on_event told ("wanted") when others want the lock."""
        await self._lock._client._in_thread(super().revocable)

    async def wanted_fileno(self):
        """Polls readable once others want the lock; calls revocable()."""
        return await self._lock._client._in_thread(super().wanted_fileno)

    async def release(self):
        """As dlock_release(): raises Lost, or Unreachable if others have to
        wait for the lease to run out.  Goes on if the task is cancelled.
        Another release raises Invalid and changes nothing."""
        client = self._lock._client
        self._refuse_if_over()
        closing = [c for c in self._lock._clients if c._closing]
        if closing:
            for c in closing:
                await c.close()
            checked(self._let_go())
            return
        client._check_loop()
        if self._above:
            await client._go_on(self._release_behind())
        else:
            await self._release()

    async def _release_behind(self):
        while self._above:
            await asyncio.wait(self._above)
        self._refuse_if_over()
        await self._release()

    async def _release(self):
        call = Call(self._lock._client)
        self._begin_release(call)
        await call.result()

    async def __aenter__(self):
        return self

    async def __aexit__(self, kind, value, trace):
        if self._is_over():
            return
        try:
            await self.release()
        except Exception:
            if value is None:
                raise
