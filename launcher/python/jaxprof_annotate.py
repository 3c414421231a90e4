"""Marks the steps and phases of a Python program, for jaxprof and any other tool that reads NVTX.

A profile tells when things happened; only the program knows which training step they belong to and what its phases are
called. This module says both through the PyPI package ``nvtx``, with registered strings in the domain "jaxprof":

    from jaxprof_annotate import annotate, step

    for number in range(n_steps):
        with step(number):                  # the step marker: message "step", the number as integer payload
            with annotate("load"):          # a phase; annotate("load") may as well be made once and kept
                batch = next(batches)
            train(batch)

    @annotate("train")
    def train(batch): ...

Where no tool listens (NVTX_INJECTION64_PATH is not set, NVTX_DISABLE is), or the package ``nvtx`` is missing, nothing
is marked: a decorated function is the function itself, and a ``with`` costs what an empty context manager costs. The
program behaves alike either way: what cannot be decorated without a difference is refused, tool or not. What stays is
that a decorated function is a new object with one more frame below it, so that a recursion reaches its limit sooner.
Marks are host ranges: in a function that jax.jit traces they would mark the tracing; use jax.named_scope there.

Any thread may use any of this at any time. Python 3.9 or newer.
"""

import functools
import inspect
import operator
import os
import sys

import jaxprof_decorate

__all__ = ["annotate", "step"]

DOMAIN = "jaxprof"
STEP = "step"
ADVICE = f"install nvtx 0.2.13 or newer into {sys.executable}"


def _attached_domain():
    """The NVTX domain, or None where no tool listens. A tool that could not be told is worth one line on stderr: a
    warning could be made an error, and a job must not fail for being profiled."""
    try:
        import nvtx

        domain = nvtx.get_domain(DOMAIN)
        if isinstance(domain, nvtx.Domain) and nvtx.enabled():
            return domain
        fault = _why_not()
    except Exception as error:  # without the package, with one from before it had domains, or for another numpy
        fault = f"{error}; {ADVICE}"
    if fault and os.environ.get("NVTX_INJECTION64_PATH") and _speaks_for_all():
        _say(f"jaxprof_annotate: steps and phases are not recorded: {fault}")
    return None


def _speaks_for_all():
    """What one rank finds all of them find: a rank that some launcher numbers above 0 leaves it to rank 0."""
    ranks = (os.environ.get(name, "0") for name in ("SLURM_PROCID", "OMPI_COMM_WORLD_RANK", "PMI_RANK", "RANK"))
    return all(rank == "0" for rank in ranks)


def _why_not():
    """Why `nvtx` sees no tool, if not because there is none, or none for this process."""
    if os.environ.get("NVTX_DISABLE"):
        return "NVTX_DISABLE is set, which the package nvtx obeys whatever the value"
    from importlib.metadata import version

    installed = version("nvtx")  # 0.2.12 has domains, but takes all of them for disabled
    is_old = [int(number) for number in installed.split(".")[:3]] < [0, 2, 13]
    return f"nvtx {installed} is too old; {ADVICE}" if is_old else None


def _say(line):
    """To the descriptor: what Python could not write it would try again at exit, and change the exit status then."""
    try:
        if sys.__stderr__ is not None:
            os.write(sys.__stderr__.fileno(), f"{line}\n".encode(errors="backslashreplace"))
    except (OSError, ValueError):  # full or closed
        pass


_domain = _attached_domain()


def _enter_nothing():
    return None


def _leave_nothing(_type, _error, _traceback):
    return None


def _fastest_calls(domain):
    """(push, pop, where), to be called as push(attributes, *where) and pop(*where). With the functions that
    nvtx.annotate is made of a `with` takes 140 ns instead of 175 ns with the methods of Domain. They are not public, so
    they are used only as long as they take the arguments that they took."""
    try:
        from nvtx._lib import pop_range, push_range

        words = [list(inspect.signature(call).parameters) for call in (push_range, pop_range)]
        if words == [["attributes", "domain"], ["domain"]]:
            return push_range, pop_range, (domain.handle,)
    except (ImportError, AttributeError, TypeError, ValueError):
        pass
    return domain.push_range, domain.pop_range, ()


def _make_leave(pop, where):
    if where:
        handle, = where

        def leave(_type, _error, _traceback):
            pop(handle)
    else:

        def leave(_type, _error, _traceback):
            pop()

    return leave


if _domain is None:
    _leave = _leave_nothing
else:
    _push, _pop, _where = _fastest_calls(_domain)
    _leave = _make_leave(_pop, _where)


class _RangeClass(type):
    """`with` looks for a slot in Range itself. Others, such as contextlib.ExitStack, read `type(manager).__enter__` and
    call that with the manager: they get a function, since a property of a class's class comes first."""

    __enter__ = property(lambda _class: lambda mark: mark.__enter__())
    __exit__ = property(lambda _class: lambda mark, *error: mark.__exit__(*error))


class Range(metaclass=_RangeClass):
    """What annotate() and step() return: for ``with`` and as a decorator, any number of times, nested, on any thread.

    ``with`` looks for the two methods in the class, and finds slots, whose value in this object it then calls. So the
    push goes from the interpreter straight into nvtx, and only the pop has a Python frame: with jaxprof's agent
    attached a ``with`` costs about what two empty methods cost (tests/bench/annotate_bench.py).
    """

    __slots__ = ("__enter__", "__exit__", "_made_of")

    def __init__(self, name, number=None):
        self._made_of = (name, number)
        self.__exit__ = _leave
        if _domain is None:
            self.__enter__ = _enter_nothing
        else:
            text = name.encode(errors="backslashreplace").decode()  # a lone surrogate cannot be told to a tool
            has_payload = number is not None and abs(number) < 2**63  # a step without one is numbered by its ordinal
            attributes = _domain.get_event_attributes(text, payload=number if has_payload else None)
            self.__enter__ = functools.partial(_push, attributes, *_where)

    def __reduce__(self):  # pickled by what it says, since the other process may have no tool, or another one
        return Range, self._made_of

    def begin(self):
        """Begins a range that does not nest with others of its thread; end() takes what this returns. Where a tool
        listens only."""
        return _domain.start_range(self.__enter__.args[0])

    def end(self, begun):
        _domain.end_range(begun)

    def __call__(self, function):
        """Decorates: a range around each call, or each run of a generator or coroutine between two suspensions. Takes
        Python functions and functions made in C (jax.jit's, lru_cache's, built-in ones), methods and partials of them;
        TypeError for anything else."""
        jaxprof_decorate.refuse_others(function)
        if _domain is None:
            return function
        try:
            return jaxprof_decorate.marked(self, function)
        except Exception as error:  # such as for a function that some library has put together from bytecode
            _say(f"jaxprof_annotate: calls of {function!r} are not recorded: {type(error).__name__}: {error}")
            return function


@functools.lru_cache(maxsize=None)
def annotate(name):
    """A range called `name`, the same object for the same name. Names are kept for good, here and by tools: what varies
    without end does not belong into a name."""
    if not isinstance(name, str):
        raise TypeError(f'annotate needs a name, as in annotate("load"), not {name!r}')
    return Range(name)


def step(number):
    """The marker of training step `number` (any integer type): a range "step" that has the number as its payload, or
    none if it does not fit into int64."""
    return Range(STEP, int(operator.index(number)))  # before Python 3.10 an index may be a bool
