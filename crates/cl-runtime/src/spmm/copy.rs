//! Copies of B in rows that begin where vectors may: when a product makes one, and its program.

use std::sync::Arc;

use cl_kernels::dense_rows::{self, DenseRows};
use cl_kernels::spmm::{halves_width, shared_width};
use cl_kernels::spmm_copy::RowsOfB;
use cl_kernels::{Accumulate, DeviceTraits, DeviceType, KernelKey};
use csr_core::{Layout, OffsetType};

use super::{DenseOperands, SpmmParameters};
use crate::{Context, Program, Result};

/// Columns an item loads at once of a copy of a row-major B, up to `most`: as many as of the next number of columns that
/// whole vectors have.
pub(super) fn copied_width(most: u32, columns: u32, device_type: DeviceType) -> u32 {
    match device_type {
        DeviceType::Cpu => halves_width(most, columns),
        _ => shared_width(most, columns),
    }
}

/// Whether a product copies B to rows of its own: a column-major one, and by the parameters' rule a row-major one whose
/// rows do not begin where vectors may. `loads` rows of B are loaded.
pub(super) fn copies_b(
    device: &DeviceTraits,
    dense: &DenseOperands,
    parameters: &SpmmParameters,
    loads: f64,
) -> bool {
    let b = &dense.b;
    if b.layout() == Layout::ColumnMajor {
        return true;
    }
    let rows = RowsOfB {
        rows: b.rows(),
        columns: b.cols(),
        leading: b.leading(),
        element_bytes: dense.b_type.size_bytes(),
        loads,
    };
    let [most, _] = parameters.widths();
    let width = copied_width(most, b.cols() as u32, device.device_type);
    let by_rule = match parameters.copy_b() {
        0 => false,
        1 => rows.copy_pays(width, device),
        _ => true,
    };
    by_rule && rows.is_uneven(width)
}

/// A copy of B in the workspace: row-major, with rows that begin where vectors may, made by each launch.
#[derive(Debug)]
pub(super) struct Copy {
    pub(super) program: Arc<Program>,
    pub(super) parameters: DenseRows,
    /// Elements from one row to the next.
    pub(super) leading: usize,
}

impl Copy {
    /// Builds the program for a copy with rows that are `leading` elements apart.
    pub(super) fn build(context: &Context, dense: &DenseOperands, leading: usize) -> Result<Self> {
        let (device, layout) = (context.device().traits(), dense.b.layout());
        let parameters = match layout {
            Layout::RowMajor => DenseRows::of_rows(device),
            Layout::ColumnMajor => {
                DenseRows::for_device(device, dense.b.cols() * dense.b_type.size_bytes())
            }
        };
        let mut key = KernelKey::new(
            dense_rows::SOURCE,
            dense.b_type,
            OffsetType::U32,
            Accumulate::Plain,
            false,
            &parameters,
        );
        key.features.extend((layout == Layout::RowMajor).then_some(dense_rows::FEATURE_ROW_MAJOR));
        Ok(Copy { program: context.program(&key)?, parameters, leading })
    }
}
