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
        self._is_waiting = False  # to be released

    def _take(self, raw):
        lib.py_take(self._c, raw)
        self._identify()

    def _abandon(self):
        with self._mu:
            lib.py_let_go(self._c)

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
            loop = asyncio.get_running_loop()
            await asyncio.shield(loop.run_in_executor(None, self._let_go_now))
            return
        client._check_loop()
        call = Call(client)
        with self._mu:
            lib.py_leave_hold(self._c)
        if self._asking:
            answered = client._begin_in_thread(self._await_answer)
            self._is_waiting = True
            answered.add_done_callback(lambda _: self._begin(call))
        else:
            self._begin(call)
        await call.result()

    def _let_go_now(self):
        checked(self._let_go())

    def _await_answer(self):
        """In a thread of its own: another one uses the hold."""
        with self._slow:
            pass

    def _begin(self, call):
        self._is_waiting = False
        try:
            with self._slow, self._mu:
                call.begin(lib.py_release_start, self._c)
        except Error as e:
            call.fail(e)

    def _is_over(self):
        return self._is_waiting or super()._is_over()

    async def __aenter__(self):
        self._refuse_if_over()
        return self

    async def __aexit__(self, kind, value, trace):
        if self._is_over():
            return
        try:
            await self.release()
        except Exception:
            if value is None:
                raise
