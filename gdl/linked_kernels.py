"""Compiling a function twice over: for Python, and for the kernels that call it.

numba makes machine code of every function, of small ones that are only ever inlined as well, and
what a function calls is optimised again with it, level by level.  Here a function that is called by
a kernel is just translated; the kernel that Python calls is linked with all that it calls,
optimised as a whole, and alone becomes machine code.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numba import config, types
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler
from numba.core.registry import CPUDispatcher


class _LinkedLibrary(JITCodeLibrary):  # type: ignore[misc] # numba has no types
    """Code that becomes part of other libraries and is no machine code by itself."""

    def _optimize_final_module(self) -> None:
        pass

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()
        self._finalized = True


class _LinkedCompiler(Compiler):  # type: ignore[misc]
    """Translates functions for kernels that call them."""

    def __init__(
        self, typing: Any, target: Any, library: Any, args: Any, result: Any, flags: Any, local: Any
    ) -> None:
        flags.no_compile = True
        flags.no_cpython_wrapper = True
        flags.no_cfunc_wrapper = True
        library = _LinkedLibrary(target.codegen(), "linked")
        super().__init__(typing, target, library, args, result, flags, local)

    def compile_extra(self, function: Any) -> Any:
        result = super().compile_extra(function)
        key = object()  # by which callers find the function
        result.target_context.insert_user_function(key, result.fndesc, [result.library])
        return result._replace(entry_point=key)


class _Kernel(CPUDispatcher):  # type: ignore[misc]
    def __init__(self, function: Callable[..., Any], options: dict[str, Any], **how: Any) -> None:
        options = {"nopython": True, "boundscheck": None, **options}
        super().__init__(function, targetoptions=options, **how)


class _Linked(_Kernel):
    """A function that kernels alone can call."""

    def __init__(self, function: Callable[..., Any], options: dict[str, Any]) -> None:
        super().__init__(function, options, pipeline_class=_LinkedCompiler)

    def add_overload(self, result: Any) -> None:
        self.overloads[tuple(result.signature.args)] = result

    def get_call_template(self, arguments: Any, keywords: Any) -> Any:
        """See numba; the function is not compiled for each constant that is an argument."""
        arguments = tuple(_general(kind) for kind in arguments)
        keywords = {name: _general(kind) for name, kind in keywords.items()}
        return super().get_call_template(arguments, keywords)

    def __call__(self, *arguments: Any) -> Any:
        raise TypeError(f"{self.py_func.__qualname__} is for kernels to call, not for Python")


class _Entry(_Kernel):
    """A kernel for Python to call; to other kernels it is the function that is linked with them."""

    def __init__(self, function: Callable[..., Any], options: dict[str, Any]) -> None:
        super().__init__(function, options)
        self.linked = _Linked(function, options)

    @property
    def _numba_type_(self) -> Any:
        return types.Dispatcher(self.linked)


def _general(kind: Any) -> Any:
    """The type of any value of an argument's kind: integers with a sign are int64 in kernels."""
    kind = types.unliteral(kind)
    return types.int64 if isinstance(kind, types.Integer) and kind.signed else kind


def linked(**options: Any) -> Callable[[Callable[..., Any]], Any]:
    """A decorator for functions that kernels alone call, with options of `numba.njit`."""
    return lambda function: function if config.DISABLE_JIT else _Linked(function, options)


def entry(**options: Any) -> Callable[[Callable[..., Any]], Any]:
    """A decorator for functions that Python calls, and kernels may."""
    return lambda function: function if config.DISABLE_JIT else _Entry(function, options)
