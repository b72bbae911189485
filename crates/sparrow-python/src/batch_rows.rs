//! Batches from what Python has: lists of matrices, one pattern with many values, three-dimensional arrays.

use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use sparrow::host::batch::HostBatch;
use sparrow::host::{CsrView, for_pattern, for_value_type};
use sparrow::{AnyBatch, ColumnWidth, Queue, ValueType, counted};

use crate::errors::{Failure, Result, detached};
use crate::host_array::elements;
use crate::numpy_module;
use crate::rows::{Rows, Triple, values};

/// What a batch is made of.
pub(crate) enum Parts {
    /// A matrix each.
    Each(Vec<Rows>),
    /// One pattern, with the values of so many problems one after the other.
    OnePattern(Rows, usize),
}

impl Parts {
    /// Of a list of sparse matrices, of `(data, indices, indptr)` with a row of data for each problem, or of an array
    /// of dense matrices, whose common pattern is every place where one of them is not 0.
    ///
    /// # Errors
    /// Something else, or parts that do not belong together.
    pub(crate) fn of(
        object: &Bound<'_, PyAny>,
        shape: Option<(usize, usize)>,
        value_type: Option<ValueType>,
    ) -> Result<Self> {
        let py = object.py();
        if let Ok(triple) = object.cast::<PyTuple>()
            && triple.len() == 3
            && !triple.get_item(0)?.hasattr(intern!(py, "tocsr"))?
        {
            let [data, indices, indptr] = [0, 1, 2].map(|index| triple.get_item(index));
            return Self::of_pattern((&data?, &indices?, &indptr?), shape, value_type);
        }
        if object.hasattr(intern!(py, "ndim"))? {
            return Self::of_dense(object, value_type);
        }
        let mut parts = Vec::new();
        let mut value_type = value_type;
        for matrix in object.try_iter()? {
            let rows = Rows::of_sparse(&matrix?, value_type)
                .map_err(|failure| failure.within(&format!("matrix {}", parts.len())))?;
            value_type = Some(rows.value_type);
            parts.push(rows);
        }
        Ok(Parts::Each(parts))
    }

    fn of_pattern(
        (data, indices, indptr): Triple<'_, '_>,
        shape: Option<(usize, usize)>,
        value_type: Option<ValueType>,
    ) -> Result<Self> {
        let (data, value_type) = values(data, value_type)?;
        let &[problems, entries] = data.shape() else {
            let text = format!(
                "data has the shape {:?}, and one pattern needs (problems, entries)",
                data.shape()
            );
            return Err(Failure::value(text));
        };
        let rows = Rows::of_values(data, value_type, (indices, indptr), shape)?;
        if entries != rows.nnz() {
            let text = format!(
                "data has {} a problem, and the pattern {}",
                counted(entries, "value"),
                counted(rows.nnz(), "entry")
            );
            return Err(Failure::value(text));
        }
        Ok(Parts::OnePattern(rows, problems))
    }

    fn of_dense(dense: &Bound<'_, PyAny>, value_type: Option<ValueType>) -> Result<Self> {
        let py = dense.py();
        let shape: Vec<usize> = dense.getattr(intern!(py, "shape"))?.extract()?;
        let &[_, rows, cols] = shape.as_slice() else {
            let text =
                format!("an array of the shape {shape:?} is no batch: (problems, rows, cols) is");
            return Err(Failure::value(text));
        };
        let numpy = numpy_module::module(py)?;
        // Every place where one of the problems is not 0.
        let places = numpy.call_method1("any", (dense.call_method1("__ne__", (0,))?, 0))?;
        let found = numpy.call_method1("nonzero", (&places,))?;
        let (row, col) = (found.get_item(0)?, found.get_item(1)?);
        let everything = pyo3::types::PySlice::full(py);
        let data = dense.get_item((everything, &row, &col))?;
        let lengths = places.call_method1("sum", (1,))?;
        let zero = numpy.call_method1("zeros", (1, "int64"))?;
        let ends = numpy.call_method1("cumsum", (lengths,))?;
        let offsets = numpy.call_method1("concatenate", ((zero, ends),))?;
        Self::of_pattern((&data, &col, &offsets), Some((rows, cols)), value_type)
    }

    /// Uploads it.
    ///
    /// # Errors
    /// Patterns that break a rule, or the driver's own failure.
    pub(crate) fn upload(&self, py: Python<'_>, queue: &Queue) -> Result<AnyBatch> {
        detached(py, || {
            let value_type = match self {
                Parts::Each(parts) => parts.first().map_or(ValueType::F64, |rows| rows.value_type),
                Parts::OnePattern(rows, _) => rows.value_type,
            };
            for_value_type!(value_type, V => {
                let mut batch = HostBatch::<V>::new();
                match self {
                    Parts::Each(parts) => {
                        for (index, rows) in parts.iter().enumerate() {
                            let values: &[V] = elements(rows.value_bytes());
                            let pushed = rows.with_pattern(|pattern| for_pattern!(pattern, pattern => {
                                Ok(batch.push_csr(CsrView::from_pattern(pattern, values)?)?)
                            }));
                            pushed.map_err(|failure| failure.within(&format!("matrix {index}")))?;
                        }
                    }
                    Parts::OnePattern(rows, problems) => {
                        let values: &[V] = elements(rows.value_bytes());
                        rows.with_pattern(|pattern| for_pattern!(pattern, pattern => {
                            Ok(batch.push_pattern(pattern, values, *problems)?)
                        }))?;
                    }
                }
                Ok(AnyBatch::upload_blocking(queue, (&batch).into(), ColumnWidth::Automatic)?)
            })
        })
    }
}
