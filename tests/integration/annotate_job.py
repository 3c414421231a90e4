"""The program of annotate_test.py: uses launcher/python/jaxprof_annotate.py in every way that there is and prints, as
JSON, what ranges it must have made: [message, payload, depth] in the order of their beginnings, by thread. That is the
truth because each place that is inside a range says so by itself (Expected); and how long some of them took at least.

    annotate_job.py ranges|identity|no-nvtx|broken-nvtx [full]        without stderr, or with one that takes nothing
"""

import asyncio
import contextlib
import copy
import json
import pickle
import sys
import threading
import time
import unittest

import numpy

if sys.argv[1] == "no-nvtx":
    sys.modules["nvtx"] = None  # what the import system takes for "there is none"
elif sys.argv[1] == "broken-nvtx":

    class BuiltForAnother:
        @staticmethod
        def find_spec(name, _path, _target=None):
            if name == "nvtx":
                raise ValueError("numpy.dtype size changed")  # what an extension for another numpy says

    sys.meta_path.insert(0, BuiltForAnother)
    sys.stderr = sys.__stderr__ = None  # what Python makes of a closed descriptor
    if sys.argv[2:] == ["full"]:
        sys.stderr = sys.__stderr__ = open("/dev/full", "w")

import jaxprof_annotate
from jaxprof_annotate import annotate, step

truth, at_least_ns = {}, {}
depths = threading.local()


class Expected:
    """Stands where a range is, and keeps the truth about it."""

    def __init__(self, message, payload=None):
        self.entry = (message, payload)

    def __enter__(self):
        depths.now = getattr(depths, "now", 0)
        truth.setdefault(threading.get_native_id(), []).append([*self.entry, depths.now])
        depths.now += 1

    def __exit__(self, *_):
        depths.now -= 1


class ExpectedRun(Expected):
    """Stands in a run of a generator or coroutine. Its range has no depth: it nests in no other, and none in it."""

    def __enter__(self):
        truth.setdefault(threading.get_native_id(), []).append([*self.entry, 0])

    def __exit__(self, *_):
        pass


# ---------------------------------------------------------------- decorated callables
@annotate("function")
def function(value):
    """Doc of function."""
    with Expected("function"):
        return value


@annotate("failing")
def failing():
    with Expected("failing"):
        raise KeyError("failing")


@annotate("recursive")
def recursive(depth):
    with Expected("recursive"):
        return recursive(depth - 1) if depth else 0


class Methods:
    @annotate("method")
    def method(self):
        with Expected("method"):
            return self

    @annotate("static")
    @staticmethod
    def static():
        with Expected("static"):
            return "static"

    @annotate("class method")
    @classmethod
    def of_class(cls):
        with Expected("class method"):
            return cls


@annotate("generator")
def generator(n):
    """Each run, from a resumption to the next suspension, is one range."""
    received = []
    try:
        for number in range(n):
            with ExpectedRun("generator"):
                pass
            try:
                received.append((yield number))
            except ValueError as error:
                received.append(str(error))
    finally:
        with ExpectedRun("generator"):
            pass
    return received


@annotate("coroutine")
async def coroutine(n):
    for _ in range(n):
        with ExpectedRun("coroutine"):
            pass
        await asyncio.sleep(0)
    with ExpectedRun("coroutine"):
        return n


@annotate("async generator")
async def async_generator(n):
    for number in range(n):
        with ExpectedRun("async generator"):
            pass
        yield number
    with ExpectedRun("async generator"):
        pass


def check(condition, what):
    if not condition:
        sys.exit(f"annotate_job: {what}")


def drive_generators():
    run = generator(3)
    check(next(run) == 0, "first value")
    with Expected("between"), annotate("between"):  # while the generator is suspended none of its ranges is open
        check(run.send("sent") == 1, "value after send")
    check(run.throw(ValueError("thrown")) == 2, "value after throw")
    try:
        next(run)
        check(False, "the generator has an end")
    except StopIteration as end:
        check(end.value == ["sent", "thrown", None], f"return value {end.value}")
    abandoned = generator(3)
    next(abandoned)
    abandoned.close()
    check(list(generator(2)) == [0, 1], "iteration")


PAUSE_SECONDS = 0.02


@annotate("holds a step")
def holds_a_step(n):
    for number in range(n):
        with ExpectedRun("holds a step"), Expected("step", 100 + number), step(100 + number):
            yield number
    with ExpectedRun("holds a step"):
        pass


@annotate("holds a phase")
async def holds_a_phase():
    with ExpectedRun("holds a phase"), Expected("held"), annotate("held"):
        await asyncio.sleep(PAUSE_SECONDS)
        with ExpectedRun("holds a phase"):
            pass


def hold_ranges_across_suspensions():
    for _ in holds_a_step(2):
        time.sleep(PAUSE_SECONDS)
    asyncio.run(holds_a_phase())
    half = int(PAUSE_SECONDS / 2 * 1e9)  # a loop's timers may be early by a clock tick
    at_least_ns.update({"step 100": half, "step 101": half, "held None": half})


def enter_by_others():
    """They read the methods from the class; a failure that a stack passes on has to reach the end of the range."""
    with contextlib.ExitStack() as stack:
        for name in ("first", "second"):
            stack.enter_context(Expected(name))
            check(stack.enter_context(annotate(name)) is None, "a range has no value")
    try:
        with contextlib.ExitStack() as stack:
            stack.enter_context(Expected("step", 3))
            stack.enter_context(step(3))
            raise KeyError
    except KeyError:
        pass
    if hasattr(unittest.TestCase, "enterContext"):  # Python 3.11
        case = unittest.TestCase()
        case.enterContext(Expected("of a test"))
        case.enterContext(annotate("of a test"))
        case.doCleanups()


async def drive_coroutines():
    async with contextlib.AsyncExitStack() as stack:
        stack.enter_context(Expected("asynchronous stack"))
        stack.enter_context(annotate("asynchronous stack"))
    check(await asyncio.gather(coroutine(2), coroutine(3)) == [2, 3], "results of coroutines that take turns")
    check([number async for number in async_generator(2)] == [0, 1], "asynchronous iteration")


def use_all():
    odd = ((numpy.uint8(5), 5), (True, 1), (2**63 - 1, 2**63 - 1), (2**63, None), (-(2**63), None))
    for number, payload in odd:
        with Expected("step", payload), step(number):
            pass
    for number in (0, 1, 2**40, -1):
        with Expected("step", number), step(number):
            with Expected("phase"), annotate("phase"):
                check(function("value") == "value", "result of a function")
    for _ in range(2):
        try:
            failing()
            check(False, "the error goes on")
        except KeyError:
            pass
    try:
        with Expected("left by an error"), annotate("left by an error"):
            raise ValueError
    except ValueError:
        pass
    check(recursive(2) == 0, "recursion")
    methods = Methods()
    check(methods.method() is methods and Methods.static() == "static" and Methods.of_class() is Methods, "methods")
    check((function.__name__, function.__doc__) == ("function", "Doc of function."), "name and doc of a function")
    with Expected("straße 中"), annotate("straße 中"):
        pass
    with Expected(r"lone \udc80"), annotate("lone \udc80"):  # from os.fsdecode, say
        pass
    for again in (pickle.loads(pickle.dumps(step(7))), copy.deepcopy(step(7))):
        with Expected("step", 7), again:
            pass
    drive_generators()
    enter_by_others()
    hold_ranges_across_suspensions()
    asyncio.run(drive_coroutines())


def use_in_threads():
    """All with the same objects at once."""
    barrier = threading.Barrier(4)

    def work():
        barrier.wait()
        for _ in range(200):
            function(1)
            recursive(1)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def check_refusals():
    for wrong in (lambda: annotate(function), lambda: annotate("x")(Methods), lambda: step(1.5), lambda: step("1")):
        try:
            wrong()
        except TypeError:
            continue
        check(False, "a wrong use is refused")


def check_identity():
    """Without a tool a decorated callable is the callable itself."""
    originals = [use_all, Methods().method, len, staticmethod(check), drive_coroutines, generator, async_generator]
    check(all(annotate("x")(original) is original for original in originals), "a decorator made something new")


def main():
    check(annotate("phase") is annotate("phase"), "one object a name")
    check_refusals()
    if sys.argv[1] != "ranges":
        check_identity()
    use_all()
    use_in_threads()
    print(json.dumps({"is_attached": jaxprof_annotate._domain is not None, "ranges": truth,
                      "at_least_ns": at_least_ns}))


main()
