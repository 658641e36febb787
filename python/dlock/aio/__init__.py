# SPDX-License-Identifier: Apache-2.0
"""dlock for asyncio: no thread waits.

    async with dlock.aio.Client("redis://cache/0") as store:
        nightly = store.mutex("billing/nightly")
        async with nightly.acquire(timeout=5) as hold:
            await run_billing(hold.token)

What a task holds belongs to no task and no thread: any task may release it, and
a task that acquires what it holds waits for itself."""
from dlock.aio.client import Client
from dlock.aio.hold import Hold
from dlock.aio.locks import (Lock, MultiLock, Semaphore, SharedLock,
                             Upgradeable)

__all__ = ["Client", "Hold", "Lock", "MultiLock", "Semaphore", "SharedLock",
           "Upgradeable"]
