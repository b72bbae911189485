//! numpy's types of elements, and which of them are types of this library.

use std::ffi::CStr;

use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use sparrow::ValueType;

use crate::errors::{Failure, Result};
use crate::numpy_module;

/// What an array's elements are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// One of the library's value types.
    Value(ValueType),
    /// Signed integers of so many bytes.
    Signed(usize),
    /// Unsigned integers of so many bytes.
    Unsigned(usize),
    /// Truth values, a byte each.
    Bool,
}

impl Kind {
    /// That of a format of the buffer protocol, in the machine's own order of bytes. `None` for what no product takes.
    pub(crate) fn of_format(format: &CStr, item_bytes: usize) -> Option<Self> {
        let format = format.to_bytes();
        let code = match format {
            [b'@' | b'=', code] | [code] => code,
            [b'<', code] if cfg!(target_endian = "little") => code,
            _ => return None,
        };
        Some(match code {
            b'e' => Kind::Value(ValueType::F16),
            b'f' => Kind::Value(ValueType::F32),
            b'd' => Kind::Value(ValueType::F64),
            b'?' => Kind::Bool,
            b'b' | b'h' | b'i' | b'l' | b'q' | b'n' => Kind::Signed(item_bytes),
            b'B' | b'H' | b'I' | b'L' | b'Q' | b'N' => Kind::Unsigned(item_bytes),
            _ => return None,
        })
    }

    /// Whether every number of it is one of `other`, so that a conversion loses nothing: numpy's rule of safe casts, in
    /// which 64-bit integers become float64.
    pub(crate) fn fits_in(self, other: ValueType) -> bool {
        match (self, other) {
            (Kind::Value(own), _) if own == other => true,
            (Kind::Value(own), ValueType::F64) => own != ValueType::F64,
            (Kind::Value(own), ValueType::F32) => own.size_bytes() == 2,
            (Kind::Bool, ValueType::F32 | ValueType::F64) => true,
            (Kind::Signed(_) | Kind::Unsigned(_), ValueType::F64) => true,
            (Kind::Signed(bytes) | Kind::Unsigned(bytes), ValueType::F32) => bytes <= 2,
            _ => false,
        }
    }
}

impl std::fmt::Display for Kind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Kind::Value(value_type) => f.write_str(name(*value_type)),
            Kind::Signed(bytes) => write!(f, "int{}", bytes * 8),
            Kind::Unsigned(bytes) => write!(f, "uint{}", bytes * 8),
            Kind::Bool => f.write_str("bool"),
        }
    }
}

/// numpy's name of a value type.
pub(crate) fn name(value_type: ValueType) -> &'static str {
    match value_type {
        ValueType::F16 => "float16",
        ValueType::F32 => "float32",
        ValueType::F64 => "float64",
        ValueType::Bf16 => "bfloat16",
    }
}

/// numpy's type object of a value type; that of bfloat16 is `ml_dtypes`'s, which must be installed then.
///
/// # Errors
/// numpy or `ml_dtypes` is not there.
pub(crate) fn numpy_type<'py>(
    py: Python<'py>,
    value_type: ValueType,
) -> Result<&'py Bound<'py, PyAny>> {
    static FOUND: [PyOnceLock<Py<PyAny>>; 4] = [const { PyOnceLock::new() }; 4];
    let index = ValueType::ALL.iter().position(|one| *one == value_type).unwrap_or_default();
    let make = || -> Result<Py<PyAny>> {
        let named = match value_type {
            ValueType::Bf16 => {
                let missing = |_| {
                    Failure::type_of(
                        "bfloat16 is a type of the package ml_dtypes, which is not installed",
                    )
                };
                py.import("ml_dtypes").map_err(missing)?.getattr("bfloat16")?
            }
            other => name(other).into_pyobject(py).map_err(PyErr::from)?.into_any(),
        };
        Ok(numpy_module::module(py)?.call_method1("dtype", (named,))?.unbind())
    };
    Ok(FOUND[index].get_or_try_init(py, make)?.bind(py))
}

/// What a type object of numpy's is; `None` for what no product takes.
///
/// # Errors
/// Python's own.
pub(crate) fn of_numpy(dtype: &Bound<'_, PyAny>) -> Result<Option<Kind>> {
    for value_type in [ValueType::F64, ValueType::F32] {
        if dtype.is(numpy_type(dtype.py(), value_type)?) {
            return Ok(Some(Kind::Value(value_type)));
        }
    }
    let text: String = dtype.getattr("name")?.extract()?;
    let known = ValueType::ALL.into_iter().find(|one| name(*one) == text);
    if let Some(value_type) = known {
        let is_native: bool = dtype.getattr("isnative")?.extract()?;
        return Ok(is_native.then_some(Kind::Value(value_type)));
    }
    let bytes: usize = dtype.getattr("itemsize")?.extract()?;
    Ok(match dtype.getattr("kind")?.extract::<String>()?.as_str() {
        "i" => Some(Kind::Signed(bytes)),
        "u" => Some(Kind::Unsigned(bytes)),
        "b" => Some(Kind::Bool),
        _ => None,
    })
}

/// A `dtype=` argument: whatever numpy takes for one, or the library's own names.
///
/// # Errors
/// A type that is none of the library's.
pub(crate) fn asked(dtype: &Bound<'_, PyAny>) -> Result<ValueType> {
    let refuse = |found: &str| {
        Failure::type_of(format!(
            "dtype is {found}, and values are float16, bfloat16 (of ml_dtypes), float32 or float64"
        ))
    };
    if let Ok(text) = dtype.extract::<String>() {
        let known = ValueType::ALL.into_iter().find(|one| one.name() == text || name(*one) == text);
        if let Some(value_type) = known {
            return Ok(value_type);
        }
    }
    let dtype = numpy_module::module(dtype.py())?.call_method1("dtype", (dtype,))?;
    match of_numpy(&dtype)? {
        Some(Kind::Value(value_type)) => Ok(value_type),
        _ => Err(refuse(&dtype.str()?.to_string_lossy())),
    }
}
