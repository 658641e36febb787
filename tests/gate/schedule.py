# SPDX-License-Identifier: Apache-2.0
"""Which programs run beside each other.

Most tests wait most of the time, so several run for each processor.
Those that take long begin first, and those that must be alone run at the end.
No program overtakes another: a program that needs two places would starve.
"""
import os
import threading


def run_all(programs, run, per_processor):
    """Call run(program) for each of them, several side by side."""
    width = per_processor * (os.cpu_count() or 1)
    alone = [p for p in programs if p.alone]
    beside = sorted(
        (p for p in programs if not p.alone), key=lambda p: -p.cost
    )
    free = width
    change = threading.Condition()
    errors = []

    def one(program, places):
        nonlocal free
        try:
            run(program)
        except Exception as error:  # for the thread that waits
            errors.append(error)
        with change:
            free += places
            change.notify_all()

    for program in beside:
        places = min(program.processors, width)
        with change:
            while places > free:
                change.wait()
            free -= places
        threading.Thread(target=one, args=(program, places)).start()
    with change:
        change.wait_for(lambda: free == width)
    for program in alone:
        one(program, 0)
    if errors:
        raise errors[0]
