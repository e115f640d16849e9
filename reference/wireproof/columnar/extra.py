"""What the extra `columnar` brings, or one line that names it; and how a kernel is compiled.

Kernels are compiled when they are first called and kept on disk (`cache=True`: beside their module, else
in the user's cache, or where `NUMBA_CACHE_DIR` says). The kept code of a kernel is thrown away when *its*
file changes and not when a kernel of another file that it calls does: `heka_kernels` calls `kernels`, so who
edits that touches both.
"""

from collections.abc import Callable
from typing import Any, TypeVar, cast

try:
    import numba
    import numpy as np
    import pyarrow as pa
    from numba.core import cgutils
    from numba.extending import intrinsic
except ImportError as error:
    text = f"wireproof.columnar needs numba and pyarrow: pip install 'wireproof[columnar]' ({error})"
    raise ImportError(text) from None

__all__ = ["compiled", "inlined", "move", "np", "pa"]

F = TypeVar("F", bound=Callable[..., object])


def compiled(function: F) -> F:
    """`function` in machine code; it holds no lock of the interpreter while it runs."""
    return cast("F", numba.njit(cache=True, nogil=True)(function))


def inlined(function: F) -> F:
    """A part of kernels that is too hot to be called: it is put where it is used."""
    return cast("F", numba.njit(nogil=True, inline="always")(function))


@intrinsic  # type: ignore[untyped-decorator] # numba ships no types
def move(typing: Any, out: Any, to: Any, data: Any, at: Any) -> Any:  # noqa: ANN401, ARG001 - types of numba
    """Sixteen bytes of `data` from `at` on, to `out` from `to` on; nobody looks whether they are there."""

    def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:  # noqa: ANN401 - as above
        kinds = signature.args[0], signature.args[2]
        arrays = (
            context.make_array(kind)(context, builder, value)
            for kind, value in zip(kinds, arguments[::2], strict=True)
        )
        there, here = (
            builder.gep(array.data, [index]) for array, index in zip(arrays, arguments[1::2], strict=True)
        )
        cgutils.raw_memcpy(builder, there, here, cgutils.intp_t(16), 1)
        return context.get_dummy_value()

    return numba.void(out, to, data, at), code
