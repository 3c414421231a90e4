"""Decorated callables of jaxprof_annotate: what can be decorated, and what stands in for it where a tool listens.

A program must behave alike with a tool and without, where the decorator returns the function itself. A wrapper as
functools.wraps makes it has a copy of the function's attributes, which goes stale, and other parameters; a generator
function that types.coroutine has marked loses that. So a function gets one in its place that is compiled for its
parameters and shares its attributes, a function made in C an object that passes everything on to it, and what cannot
be replaced without a difference is refused, tool or not.

Internal to jaxprof_annotate, which is the module to import. Any thread; Python 3.9 or newer.
"""

import ast
import functools
import inspect
import sys
import textwrap
import types

# Any other callable object has a class that knows more about it than how to call it: torch modules, Mocks. What stood
# in for such an object would behave otherwise somewhere, and only in jobs that are profiled.
_METHODS = (staticmethod, classmethod, types.MethodType)
_MADE_IN_C = (types.BuiltinFunctionType, type(functools.lru_cache(lambda: None)))


def _is_function_made_in_c(thing):
    """It has attributes of its own, such as `lower` and `cache_clear`, but Python code can see no more inside."""
    kind = type(thing)
    is_jitted = str(kind.__module__).startswith("jaxlib.") and kind.__name__ in ("PjitFunction", "PmapFunction")
    return is_jitted or kind in _MADE_IN_C or kind is _MarkedObject


def refuse_others(thing):
    """TypeError for what cannot be decorated."""
    while type(thing) in _METHODS or type(thing) is functools.partial:
        thing = thing.func if type(thing) is functools.partial else thing.__func__
    if isinstance(thing, type):
        raise TypeError(f"annotate marks functions: decorate the methods of class {thing.__name__} instead")
    if type(thing) is not types.FunctionType and not _is_function_made_in_c(thing):
        kind = f"{type(thing).__module__}.{type(thing).__qualname__}"
        raise TypeError(f"annotate marks functions, not objects of class {kind}: decorate the function below it, or "
                        "use `with annotate(...)` inside")


def marked(mark, thing):
    """`thing` with a mark around its calls; refuse_others has passed it."""
    kind = type(thing)
    if kind in (staticmethod, classmethod):
        return kind(marked(mark, thing.__func__))
    if kind is types.MethodType:
        return kind(marked(mark, thing.__func__), thing.__self__)
    if kind is functools.partial:
        partial = functools.partial(thing.func)
        partial.__setstate__((marked(mark, thing.func), thing.args, thing.keywords, thing.__dict__))
        return partial
    return _marked_function(mark, thing) if kind is types.FunctionType else _MarkedObject(mark, thing)


# A generator or coroutine is suspended in the midst of its work, and others run on its thread meanwhile: hence one
# range for each run, and none while it is suspended. It must not nest: a `with annotate(...)` inside may stay open
# across the suspension, and is what a pop would then end. $turn holds what goes in or out next; in a variable it would
# live on while the generator is suspended, and so would arguments. $NAME is a name that no parameter has.
_FUNCTION = """
def marked({parameters}):
    with $mark:
        return $function({arguments})
"""
_GENERATOR = """
def marked({parameters}):
    $inner = $function({arguments})
    {forget_parameters}
    $resume, $turn = $inner.send, [None]
    while True:
        $begun = $mark.begin()
        try:
            $turn.append($resume($turn.pop()))
        except StopIteration as $end:
            return $end.value
        finally:
            $mark.end($begun)
        try:
            $turn.append((yield $turn.pop()))
            $resume = $inner.send
        except BaseException as $error:
            $resume = $inner.throw
            $turn.append($error)
"""
_COROUTINE = """
async def marked({parameters}):
    $inner = $function({arguments})
    {forget_parameters}
    return await $each_run($mark, $inner)
"""
_ASYNC_GENERATOR = """
async def marked({parameters}):
    $inner = $function({arguments})
    {forget_parameters}
    $turn = [$first_turn($inner)]
    while True:
        try:
            $turn.append(await $each_run($mark, $turn.pop()))
        except StopAsyncIteration:
            return
        try:
            $turn.append((yield $turn.pop()))
            $turn.append($inner.asend($turn.pop()))
        except BaseException as $error:
            $turn.append($inner.athrow($error))
"""
_TEMPLATES = {0: _FUNCTION, inspect.CO_GENERATOR: _GENERATOR, inspect.CO_COROUTINE: _COROUTINE,
              inspect.CO_ASYNC_GENERATOR: _ASYNC_GENERATOR}


def _made(template, **texts):
    """The function `make` that binds what the template needs, since names of builtins may mean other things where the
    marked function lives. All of it is on the line of {line} in {file}, as far as tracebacks and inspect can tell."""
    file, line = texts.pop("file"), texts.pop("line")
    source = ("def make($mark, $function, $each_run, $first_turn, BaseException, StopIteration, StopAsyncIteration):\n"
              + textwrap.indent(template.format(**texts), "    ") + "    return marked\n")
    tree = ast.parse(source.replace("$", "_jaxprof_"))
    for node in ast.walk(tree):
        if hasattr(node, "lineno"):
            node.lineno = node.end_lineno = line
            node.col_offset = node.end_col_offset = 0
    scope = {}
    exec(compile(tree, file, "exec", dont_inherit=True), scope)
    return scope["make"]


def _marked_function(mark, function):
    """A function of the same kind, name, place and parameters as `function`, and with its very attributes: of copies
    one would be stale as soon as the program assigns to the other."""
    code = function.__code__
    kind = code.co_flags & (inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR)
    make = _made(_TEMPLATES[kind], file=code.co_filename, line=code.co_firstlineno, **_parameter_texts(code))
    made = make(mark, function, _each_run, _first_turn, BaseException, StopIteration, StopAsyncIteration)
    flags = made.__code__.co_flags | code.co_flags & inspect.CO_ITERABLE_COROUTINE  # what types.coroutine sets
    result = types.FunctionType(made.__code__.replace(co_name=code.co_name, co_flags=flags), function.__globals__,
                                function.__name__, function.__defaults__, made.__closure__)
    functools.update_wrapper(result, function)
    result.__kwdefaults__ = function.__kwdefaults__
    result.__dict__ = function.__dict__  # without `__wrapped__`: nothing has to look through
    return result


def _parameter_texts(code):
    """The parameters of a function, and the arguments that pass them on: "a, /, *, b" and "a, b=b"."""
    n_positional, n_named = code.co_argcount, code.co_argcount + code.co_kwonlyargcount
    positional, keywords = list(code.co_varnames[:n_positional]), list(code.co_varnames[n_positional:n_named])
    rest = iter(code.co_varnames[n_named:])
    parameters, arguments, names = positional.copy(), positional.copy(), positional + keywords
    if code.co_posonlyargcount:
        parameters.insert(code.co_posonlyargcount, "/")
    if code.co_flags & inspect.CO_VARARGS:
        names.append(next(rest))
        parameters.append("*" + names[-1])
        arguments.append("*" + names[-1])
    elif keywords:
        parameters.append("*")
    parameters += keywords
    arguments += [f"{name}={name}" for name in keywords]
    if code.co_flags & inspect.CO_VARKEYWORDS:
        names.append(next(rest))
        parameters.append("**" + names[-1])
        arguments.append("**" + names[-1])
    return {"parameters": ", ".join(parameters), "arguments": ", ".join(arguments),
            "forget_parameters": "del " + ", ".join(names) if names else ""}


@types.coroutine
def _each_run(mark, inner):
    """Drives `inner`, which has send and throw, as `await` does."""
    resume, turn = inner.send, [None]
    while True:
        begun = mark.begin()
        try:
            turn.append(resume(turn.pop()))
        except StopIteration as end:
            return end.value
        finally:
            mark.end(begun)
        try:
            turn.append((yield turn.pop()))
            resume = inner.send
        except BaseException as error:
            resume = inner.throw
            turn.append(error)


def _first_turn(inner):
    """What runs the asynchronous generator `inner` to its first item. The event loop must not get to know it: at its
    end it closes all that it knows at once, and the one around `inner` closes it too."""
    hooks = sys.get_asyncgen_hooks()
    sys.set_asyncgen_hooks(None, None)
    try:
        return inner.asend(None)
    finally:
        sys.set_asyncgen_hooks(*hooks)


class _MarkedObject:
    """Stands in for a function made in C. Whatever is asked of it but a call, the function itself answers: attributes,
    its class, equality, pickling. It binds to instances where the function does."""

    __slots__ = ("mark", "target", "__weakref__")

    def __init__(self, mark, target):
        _MarkedObject.mark.__set__(self, mark)
        _MarkedObject.target.__set__(self, target)

    def __call__(self, /, *args, **kwargs):
        with _mark_of(self):
            return _target_of(self)(*args, **kwargs)

    def __get__(self, instance, owner=None):
        is_bound = instance is not None and hasattr(type(_target_of(self)), "__get__")
        return types.MethodType(self, instance) if is_bound else self

    def __getattribute__(self, name):
        return getattr(_target_of(self), name)

    def __setattr__(self, name, value):
        setattr(_target_of(self), name, value)

    def __delattr__(self, name):
        delattr(_target_of(self), name)

    def __dir__(self):
        return dir(_target_of(self))

    def __repr__(self):
        return repr(_target_of(self))

    def __eq__(self, other):
        return _target_of(self) == (_target_of(other) if type(other) is _MarkedObject else other)

    def __hash__(self):
        return hash(_target_of(self))

    def __reduce_ex__(self, protocol):
        return _target_of(self).__reduce_ex__(protocol)


_mark_of = _MarkedObject.mark.__get__
_target_of = _MarkedObject.target.__get__
