"""A program of annotate_test.py that decorates all kinds of callables with launcher/python/jaxprof_annotate.py, looks
at them and uses them as programs do. It prints, as JSON, what it saw, which must not depend on whether a tool listens,
and how often it was in each range: the places that are inside say so themselves (ran), calls of what is made in C are
counted where they are made.

    annotate_alike_job.py
"""

import abc
import asyncio
import collections
import copy
import functools
import inspect
import json
import pickle
import types
import typing
import weakref

import jax
import jax.numpy as jnp
import numpy

import jaxprof_annotate
from jaxprof_annotate import annotate

seen, runs = {}, collections.Counter()


def ran(name):
    runs[name] += 1


def see(what, *values):
    """Keeps `values` as they are now."""
    seen[what] = [value if isinstance(value, (bool, int, str)) else repr(value) for value in values]


def error_of(call, *args, **kwargs):
    try:
        return call(*args, **kwargs)
    except Exception as error:
        return f"{type(error).__name__}: {error}"


# ---------------------------------------------------------------- functions
def counted(function):
    """A decorator whose function keeps state in its own attributes, as many do."""

    @functools.wraps(function)
    def inner(*args, **kwargs):
        inner.n_calls += 1
        return function(*args, **kwargs)

    inner.n_calls = 0
    return inner


@annotate("counted")
@counted
def with_state(value: int = 3, *, scale: "float" = 2.0) -> float:
    ran("counted")
    return value * scale


@annotate("parameters")
def with_parameters(first, second=2, /, third=3, *more, fourth, fifth=5, **others):
    """A doc."""
    ran("parameters")
    return [first, second, third, *more, fourth, fifth, *others.items()]


@annotate("singledispatch")
@functools.singledispatch
def dispatched(value):
    ran("singledispatch")
    return "any"


@dispatched.register
def _(value: int):
    ran("singledispatch")
    return "int"


def use_functions():
    with_state(), with_state(4, scale=1)
    with_state.label = "mine"
    see("state", with_state.n_calls, with_state.__wrapped__.__name__, sorted(vars(with_state)))
    see("hints", typing.get_type_hints(with_state), inspect.signature(with_state))
    see("parameters", with_parameters(1, fourth=4), with_parameters(1, 2, 3, 4, fourth=5, fifth=6, sixth=7))
    see("wrong calls", error_of(with_parameters), error_of(with_parameters, 1, second=2, fourth=4),
        error_of(with_parameters, 1))
    code = with_parameters.__code__
    see("code", code.co_name, code.co_varnames[:code.co_argcount], code.co_firstlineno)
    see("source", inspect.getsource(with_parameters))
    with_parameters.__kwdefaults__["fifth"] = 50
    with_parameters.__defaults__ = (20, 30)
    see("defaults", with_parameters(1, fourth=4), str(inspect.signature(with_parameters)), with_parameters.__doc__)
    see("pickled", pickle.loads(pickle.dumps(with_parameters)) is with_parameters, copy.copy(with_state) is with_state)
    see("dispatched", dispatched("x"), dispatched(1), sorted(map(repr, dispatched.registry)))
    double = annotate("lambda")(lambda value: ran("lambda") or 2 * value)
    see("lambda", double(4), double.__name__)


class Base(abc.ABC):
    @annotate("subclass")
    def __init_subclass__(cls, **_words):
        ran("subclass")

    @annotate("abstract")
    @abc.abstractmethod
    def method(self):
        ran("abstract")

    @property
    @annotate("getter")
    def value(self):
        ran("getter")
        return 7

    @functools.cached_property
    @annotate("cached getter")
    def cached(self):
        ran("cached getter")
        return 8


class Derived(Base):
    @annotate("derived")
    def method(self):
        ran("derived")
        super().method()
        return self

    @annotate("cached")
    @functools.lru_cache(maxsize=2)
    def of_cache(self, value):
        return value

    length = annotate("length")(len)


def use_methods():
    see("abstract", error_of(Base), sorted(Base.__abstractmethods__))
    it = Derived()
    see("methods", it.method() is it, it.method == it.method, hash(it.method) == hash(it.method), it.value,
        it.cached + it.cached)
    bound = annotate("bound")(it.method)
    ran("bound")
    see("bound", bound() is it, type(bound), bound.__self__ is it, bound.__name__)
    for value in (1, 1, 2):
        ran("cached")
        it.of_cache(value)
    see("bound cache", it.of_cache.cache_info(), it.of_cache == it.of_cache)
    ran("length")
    see("a built-in function does not bind", it.length([1, 2]))


# ---------------------------------------------------------------- objects
@annotate("lru_cache")
@functools.lru_cache
def cache(value):
    return value + 1


@functools.lru_cache
def unmarked(value):
    return value


@annotate("twice")
@annotate("once")
@functools.lru_cache
def twice(value):
    return value


def use_objects():
    runs.update({"lru_cache": 3, "twice": 1, "once": 1})
    cache(1), cache(1), cache(2), twice(1)
    cache.label = "mine"
    see("cache", cache.cache_info(), cache.label, cache.__wrapped__.__name__, isinstance(cache, type(unmarked)),
        cache.__doc__, callable(cache), inspect.signature(cache), "cache_clear" in dir(cache), hasattr(cache, "other"))
    del cache.label
    cache.cache_clear()
    see("cleared", cache.cache_info().currsize, hasattr(cache, "label"))
    see("equality", cache == cache, cache != twice, cache != 1, len({cache, cache, twice}))
    see("copies", copy.copy(cache) is cache, pickle.loads(pickle.dumps(cache)) is cache, weakref.ref(cache)() is cache)

    items = []
    append = annotate("append")(items.append)
    ran("append")
    append(5)
    see("built-in", items, append.__self__ is items, append == items.append, inspect.isbuiltin(append), append.__name__)

    def added(left, right=0, *, sign=1):
        ran("partial")
        return left + sign * right

    original = functools.partial(added, 1, sign=1)
    original.label = "mine"
    partial = annotate("partial")(original)
    original.keywords["sign"] = -1
    see("partial", partial(5), partial.args, partial.keywords, partial.label, type(partial),
        str(inspect.signature(partial)), partial.func.__name__, functools.partial(partial, 2)())


def use_jitted():
    traces = []

    @annotate("jitted")
    @functools.partial(jax.jit, static_argnames="power")
    def jitted(value, power=2):
        traces.append(power)
        return jnp.sum(value ** power)

    class Model:
        @annotate("jitted method")
        @functools.partial(jax.jit, static_argnums=0)
        def loss(self, value):
            traces.append("method")
            return 3 * value

    value, model = jnp.arange(3.0), Model()
    runs.update({"jitted": 3, "jitted method": 2})
    results = [float(jitted(value)), float(jitted(value)), float(jitted(value, power=3))]
    see("jitted", results, traces, jitted._cache_size())
    see("jitted method", float(model.loss(2.0)), float(model.loss(2.0)), model.loss == model.loss, traces)
    see("stages", jitted.lower(value).as_text(), jitted.eval_shape(value), jitted.trace(value).jaxpr)
    see("class", isinstance(jitted, type(jax.jit(len))), isinstance(jitted, jax.stages.Wrapped), callable(jitted))
    see("names", inspect.signature(jitted), jitted.__name__, jitted.__module__, repr(jitted).partition(" at ")[0])
    runs["jitted"] += 4  # while the outer functions are traced
    see("inside others", jax.grad(jitted)(value).tolist(), jax.vmap(jitted)(jnp.ones((2, 3))).tolist(),
        float(jax.jit(jitted)(value)), float(jax.jit(lambda x: jitted(x))(value)), traces)
    see("exported", jax.export.export(jitted)(value).out_avals)
    jitted.label = "mine"
    see("label", jitted.label, jitted.__wrapped__.__name__, type(copy.copy(jitted)))
    jitted.clear_cache()
    see("cleared jitted", jitted._cache_size())


# ---------------------------------------------------------------- generators, coroutines
class Batch:
    pass


class Thrown(Exception):
    pass


@annotate("generator")
def batches(source):
    """Lasts until it is closed, and says so."""
    del source
    while True:
        ran("generator")
        try:
            yield Batch()
        except Thrown:
            pass
        except GeneratorExit:
            ran("generator")
            return "closed"


@annotate("types.coroutine")
@types.coroutine
def turn():
    ran("types.coroutine")
    yield
    ran("types.coroutine")
    return "turned"


@annotate("coroutine")
async def coroutine(value):
    ran("coroutine")
    return await turn(), value


@annotate("async generator")
async def async_generator(n):
    for number in range(n):
        ran("async generator")
        try:
            answer = yield number
        except KeyError:
            answer = "thrown"
        ran("async generator")
        yield answer
    ran("async generator")


def use_generators():
    source = Batch()
    generator, source_alive = batches(source), weakref.ref(source)
    del source
    alive = weakref.ref(next(generator))
    see("what a suspended generator keeps", source_alive() is None, alive() is None)
    thrown = Thrown("thrown")
    see("thrown", type(generator.throw(thrown)))
    alive = weakref.ref(thrown)
    del thrown
    see("an error that has passed", alive() is None)
    see("close", generator.close(), inspect.isgenerator(generator))
    see("wrong arguments", error_of(batches), error_of(coroutine), error_of(async_generator))
    kinds = (inspect.isgeneratorfunction, inspect.iscoroutinefunction, inspect.isasyncgenfunction)
    see("kinds", *[[kind(function) for kind in kinds] for function in (batches, turn, coroutine, async_generator)])
    see("awaitable", inspect.isawaitable(turn()), turn().gi_code.co_name)


left_open = []


@annotate("slow to close")
async def slow_to_close():
    ran("slow to close")
    try:
        yield
    finally:
        ran("slow to close")
        await asyncio.sleep(0)
        ran("slow to close")


async def use_coroutines():
    see("awaited", *await coroutine(5))
    generator = async_generator(9)
    runs["coroutine"] += 1  # turn() suspends it once
    see("sent", await generator.asend(None), await generator.asend("sent"), await generator.asend(None),
        await generator.athrow(KeyError()))
    runs["async generator"] += 1  # closed while it has no place of its own
    await generator.aclose()
    see("closed", [number async for number in generator], [number async for number in async_generator(1)])
    complaints = []
    asyncio.get_running_loop().set_exception_handler(lambda _loop, context: complaints.append(context["message"]))
    left_open.append(slow_to_close())
    await left_open[0].asend(None)
    return complaints


# ---------------------------------------------------------------- what is refused
class Module:
    """As torch's: it has state that its own methods assign to, and others hold it."""

    training = True

    def __call__(self):
        return self.training


def see_refusals():
    things = {"property": property(len), "cached property": functools.cached_property(len), "class": Module,
              "singledispatchmethod": functools.singledispatchmethod(with_state), "callable object": Module(),
              "partialmethod": functools.partialmethod(len), "ufunc": numpy.add, "method descriptor": str.upper,
              "staticmethod of a property": staticmethod(property(len)),
              "partial of an object": functools.partial(Module()), "method of an object": types.MethodType(Module(), 1),
              "none": None, "range": annotate("x")}
    for what, thing in things.items():
        see(f"refused: {what}", error_of(annotate("x"), thing))


def main():
    use_functions()
    use_methods()
    use_objects()
    use_jitted()
    use_generators()
    see("complaints at the end of the loop", asyncio.run(use_coroutines()))
    see_refusals()
    print(json.dumps({"is_attached": jaxprof_annotate._domain is not None, "seen": seen, "runs": runs}))


main()
