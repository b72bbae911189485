from collections.abc import Callable, Iterable, Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any, Literal, TypeAlias, final, overload

import numpy as np
import pyopencl as cl
import pyopencl.array as cl_array
from numpy.typing import ArrayLike, DTypeLike, NDArray

__all__ = [
    "Batch",
    "Device",
    "DeviceError",
    "Matrix",
    "Plan",
    "Solution",
    "Solver",
    "__version__",
    "_default_device",
    "_follow_table",
    "_stage_all",
    "_user_table",
    "devices",
    "read",
    "set_default_device",
    "solve",
]

_Reuse: TypeAlias = Literal["once", "several", "many"]
_Triple: TypeAlias = tuple[Any, Any, Any]

__version__: str

class DeviceError(RuntimeError):
    status: str | None
    code: int | None

@final
class Device:
    @property
    def position(self) -> str: ...
    @property
    def name(self) -> str: ...
    @property
    def platform(self) -> str: ...
    @property
    def driver(self) -> str: ...
    @property
    def type(self) -> str: ...
    @property
    def compute_units(self) -> int: ...
    @property
    def memory_bytes(self) -> int: ...
    @property
    def has_float64(self) -> bool: ...

@final
class Matrix:
    __array_ufunc__: None
    # scipy's classes have no common type that its own stubs name: whatever has `tocsr`, or three arrays.
    def __new__(
        cls,
        matrix: Any,
        *,
        shape: tuple[int, int] | None = None,
        dtype: DTypeLike | None = None,
        device: str | None = None,
        queue: cl.CommandQueue | None = None,
        check: bool = True,
    ) -> Matrix: ...
    @property
    def shape(self) -> tuple[int, int]: ...
    @property
    def nnz(self) -> int: ...
    @property
    def ndim(self) -> int: ...
    @property
    def dtype(self) -> np.dtype[Any]: ...
    @property
    def nbytes(self) -> int: ...
    @property
    def device(self) -> str: ...
    @property
    def queue(self) -> cl.CommandQueue: ...
    @property
    def T(self) -> Matrix: ...
    def transpose(self) -> Matrix: ...
    @overload
    def dot(
        self,
        x: cl_array.Array,
        out: cl_array.Array | None = None,
        *,
        alpha: float = 1.0,
        beta: float = 0.0,
        queue: cl.CommandQueue | None = None,
        wait_for: Iterable[cl.Event] | None = None,
    ) -> cl_array.Array: ...
    @overload
    def dot(self, x: Matrix) -> Matrix: ...
    @overload
    def dot(
        self,
        x: ArrayLike,
        out: NDArray[Any] | None = None,
        *,
        alpha: float = 1.0,
        beta: float = 0.0,
        queue: cl.CommandQueue | None = None,
        wait_for: Iterable[cl.Event] | None = None,
    ) -> NDArray[Any]: ...
    @overload
    def __matmul__(self, x: cl_array.Array, /) -> cl_array.Array: ...
    @overload
    def __matmul__(self, x: Matrix, /) -> Matrix: ...
    @overload
    def __matmul__(self, x: ArrayLike, /) -> NDArray[Any]: ...
    def __rmatmul__(self, x: NDArray[Any], /) -> NDArray[Any]: ...
    def plan(
        self,
        reuse: _Reuse = "many",
        *,
        algorithm: str | None = None,
        variant: str | None = None,
        choice: str | None = None,
        compensated: bool = False,
        measure: int | None = None,
        parameters: Mapping[str, int] | None = None,
        reordering: Literal["none", "rcm", "clusters"] | None = None,
        queue: cl.CommandQueue | None = None,
    ) -> Plan: ...
    def update_values(self, data: ArrayLike) -> None: ...
    def values_changed(self) -> None: ...
    # scipy.sparse.csr_array and scipy.sparse.linalg.LinearOperator.
    def to_scipy(self) -> Any: ...
    def as_linear_operator(self) -> Any: ...

@final
class Plan:
    @property
    def matrix(self) -> Matrix: ...
    @property
    def shape(self) -> tuple[int, int]: ...
    @property
    def algorithm(self) -> str: ...
    @property
    def choice(self) -> str: ...
    @property
    def parameters(self) -> dict[str, int]: ...
    @property
    def plan_bytes(self) -> int: ...
    @property
    def value_coding(self) -> str | None: ...
    @property
    def repeatable(self) -> bool: ...
    @property
    def compensated(self) -> bool: ...
    def explain(self) -> str: ...
    @overload
    def dot(
        self,
        x: cl_array.Array,
        out: cl_array.Array | None = None,
        *,
        alpha: float = 1.0,
        beta: float = 0.0,
        queue: cl.CommandQueue | None = None,
        wait_for: Iterable[cl.Event] | None = None,
    ) -> cl_array.Array: ...
    @overload
    def dot(
        self,
        x: ArrayLike,
        out: NDArray[Any] | None = None,
        *,
        alpha: float = 1.0,
        beta: float = 0.0,
        queue: cl.CommandQueue | None = None,
        wait_for: Iterable[cl.Event] | None = None,
    ) -> NDArray[Any]: ...
    @overload
    def __matmul__(self, x: cl_array.Array, /) -> cl_array.Array: ...
    @overload
    def __matmul__(self, x: ArrayLike, /) -> NDArray[Any]: ...
    def __rmatmul__(self, x: object, /) -> Any: ...

@final
class Batch:
    def __new__(
        cls,
        matrices: Sequence[Any] | _Triple | NDArray[Any],
        *,
        shape: tuple[int, int] | None = None,
        dtype: DTypeLike | None = None,
        device: str | None = None,
        queue: cl.CommandQueue | None = None,
        algorithm: str | None = None,
        parameters: Mapping[str, int] | None = None,
    ) -> Batch: ...
    def __len__(self) -> int: ...
    @property
    def shape(self) -> tuple[int, int] | None: ...
    @property
    def dtype(self) -> np.dtype[Any]: ...
    @property
    def algorithms(self) -> list[tuple[str, int]]: ...
    @overload
    def dot(
        self,
        x: cl_array.Array,
        out: cl_array.Array | None = None,
        *,
        alpha: float = 1.0,
        beta: float = 0.0,
        queue: cl.CommandQueue | None = None,
        wait_for: Iterable[cl.Event] | None = None,
    ) -> cl_array.Array: ...
    @overload
    def dot(
        self,
        x: ArrayLike,
        out: NDArray[Any] | None = None,
        *,
        alpha: float = 1.0,
        beta: float = 0.0,
        queue: cl.CommandQueue | None = None,
        wait_for: Iterable[cl.Event] | None = None,
    ) -> NDArray[Any]: ...
    @overload
    def __matmul__(self, x: cl_array.Array, /) -> cl_array.Array: ...
    @overload
    def __matmul__(self, x: ArrayLike, /) -> NDArray[Any]: ...
    def __rmatmul__(self, x: object, /) -> Any: ...
    def update_values(self, data: ArrayLike) -> None: ...

@final
class Solution:
    @property
    def x(self) -> Any: ...
    @property
    def converged(self) -> bool: ...
    @property
    def outcome(self) -> str: ...
    @property
    def reason(self) -> str: ...
    @property
    def iterations(self) -> int: ...
    @property
    def residual(self) -> float: ...
    @property
    def relative_residual(self) -> float: ...
    @property
    def seconds(self) -> float: ...
    @property
    def history(self) -> NDArray[np.float64]: ...

@final
class Solver:
    def __new__(
        cls,
        matrix: Any,
        *,
        method: Literal["cg", "bicgstab"] = "cg",
        preconditioner: Literal["none", "jacobi"] | None = None,
        compensated: bool = False,
        reordering: Literal["none", "rcm", "clusters"] | None = None,
        device: str | None = None,
        queue: cl.CommandQueue | None = None,
    ) -> Solver: ...
    def solve(
        self,
        b: ArrayLike | cl_array.Array,
        *,
        x0: ArrayLike | cl_array.Array | None = None,
        tol: float = 1e-8,
        atol: float = 0.0,
        max_iterations: int = 10_000,
        callback: Callable[[int, float], object] | None = None,
        queue: cl.CommandQueue | None = None,
        wait_for: Iterable[cl.Event] | None = None,
    ) -> Solution: ...

def solve(
    matrix: Any,
    b: ArrayLike | cl_array.Array,
    *,
    x0: ArrayLike | cl_array.Array | None = None,
    method: Literal["cg", "bicgstab"] = "cg",
    tol: float = 1e-8,
    atol: float = 0.0,
    max_iterations: int = 10_000,
    preconditioner: Literal["none", "jacobi"] | None = None,
    compensated: bool = False,
    callback: Callable[[int, float], object] | None = None,
    queue: cl.CommandQueue | None = None,
    wait_for: Iterable[cl.Event] | None = None,
) -> Solution: ...
def read(
    path: str | PathLike[str],
    *,
    dtype: DTypeLike | None = None,
    device: str | None = None,
    queue: cl.CommandQueue | None = None,
) -> Matrix: ...
def devices() -> list[Device]: ...
def _stage_all(stages: bool) -> None: ...
def _default_device() -> str | None: ...
def _follow_table(path: Path | None) -> None: ...
def _user_table() -> Path | None: ...
def set_default_device(device: str | None) -> None: ...
