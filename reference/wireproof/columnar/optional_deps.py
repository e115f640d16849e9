"""The packages of the extra `columnar`, and the decorators that compile kernels.

Without the packages the import fails with one line that names the extra.

numba compiles a kernel at its first call and keeps the code on disk (`cache=True`): beside the module, else
in the user's cache, or in `NUMBA_CACHE_DIR`. The code is thrown away when the file of the kernel changes, but
not when a kernel in another file that it calls changes. So after a change of `kernels`, touch the other
kernel files too.
"""

from collections.abc import Callable
from importlib.util import find_spec
from typing import Any, TypeVar, cast


def _require(name: str) -> None:
    """Find a package without its import, which takes long: verdicts do not need it."""
    if find_spec(name) is None:
        raise ImportError(f"No module named {name!r}")


try:
    import deflate
    import numba
    import numpy as np
    from numba.core import cgutils
    from numba.extending import intrinsic
    from zlib_ng import zlib_ng

    _require("pyarrow")
except ImportError as error:
    from wireproof.install_hint import install_command

    text = f"wireproof.columnar needs the packages of its extra: {install_command('columnar')} ({error})"
    raise ImportError(text) from None

__all__ = ["compile_kernel", "deflate", "inline_kernel", "move_sixteen", "np", "zlib_ng"]

F = TypeVar("F", bound=Callable[..., object])


def compile_kernel(function: F) -> F:
    """Compile `function` to machine code; it releases the interpreter lock while it runs."""
    return cast("F", numba.njit(cache=True, nogil=True)(function))


def inline_kernel(function: F) -> F:
    """Compile `function` into its callers, for parts of kernels that are too hot for a call."""
    return cast("F", numba.njit(nogil=True, inline="always")(function))


def _move(typing: Any, out: Any, to: Any, data: Any, at: Any) -> Any:  # noqa: ANN401, ARG001 - types of numba
    """Copy sixteen bytes of `data` from `at` to position `to` of `out`, without a check of bounds."""

    def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:  # noqa: ANN401 - as above
        kinds = signature.args[0], signature.args[2]
        arrays = (
            context.make_array(kind)(context, builder, value)
            for kind, value in zip(kinds, arguments[::2], strict=True)
        )
        there, here = (
            builder.gep(array.data, [index]) for array, index in zip(arrays, arguments[1::2], strict=True)
        )
        cgutils.raw_memcpy(builder, there, here, cgutils.intp_t(16), 1)  # type: ignore[no-untyped-call] # numba's
        return context.get_dummy_value()

    return numba.void(out, to, data, at), code


move_sixteen = cast("Callable[[Any, Any, Any, Any], None]", intrinsic(_move))
"""Copy sixteen bytes, in kernels: see `_move`."""
