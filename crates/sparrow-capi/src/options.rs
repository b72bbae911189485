//! What plans are asked for.

use std::ffi::c_char;
use std::str::FromStr;

use sparrow::{
    Algorithm, BatchOptions, BatchedVariant, Choice, DenseShape, Measuring, ParameterList,
    PlanOptions, Reordering, SpmmOptions, Tables, ValueType, Variant, VectorOrder,
};

use crate::context::{Home, tables};
use crate::failure::{Failure, Result};
use crate::pointer::{
    Growing, PathSetting, flag, path_setting, read, read_optional, size, starts, text,
};
use crate::types::{accumulate, layout, operation, planning, products, value_type};
use crate::{
    sparrow_accumulate, sparrow_layout, sparrow_operation, sparrow_planning, sparrow_products,
    sparrow_value_type,
};

/// What a plan is asked for; all other fields 0 or NULL are the automatic choice.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct sparrow_plan_options {
    /// sizeof(sparrow_plan_options).
    pub size: usize,
    /// The algorithm: "csr_scalar", "csr_vector", "csr_adaptive", "csr_flat", "csr_pieces",
    /// "segmented_sum", "evc_hyb", "hyb", "sell", "sell_sigma", "csr_tiles"; NULL chooses one for the matrix and the device.
    pub algorithm: *const c_char,
    /// The way in which that algorithm runs, as `sparrow bench --variant` spells it; NULL is its default way.
    pub variant: *const c_char,
    /// Hyper-parameters over what the device table says: "group_size=256,nnz_per_wg=1024"; or NULL.
    pub parameters: *const c_char,
    /// The user's device table, as in sparrow_context_options; NULL is the context's.
    pub device_table: *const c_char,
    /// How many products will follow.
    pub products: sparrow_products,
    /// How products are summed.
    pub accumulate: sparrow_accumulate,
    /// Which matrix multiplies x.
    pub operation: sparrow_operation,
    /// Where the plan is computed.
    pub planning: sparrow_planning,
    /// 1: alpha and beta of each launch lie on the device. 0: they come by value.
    pub scalars_on_device: u32,
    /// What an earlier plan chose, `choice` of its sparrow_plan_info: that runs, and nothing is chosen or timed. `algorithm`
    /// and `variant` must be NULL then, `parameters` go over it. Or NULL.
    pub choice: *const c_char,
    /// 1: SPARROW_PRODUCTS_MANY times nothing on the matrix. 0: the best few candidates, by 40 products at most;
    /// none where a product takes much less than its launch.
    pub never_measure: u32,
    /// How rows and columns are put in another order first, in a copy that the plan keeps: "rcm" (reverse Cuthill-McKee, of
    /// square matrices), "clusters" (of rows that share columns); NULL leaves them as they are. The product is the same; new
    /// values need sparrow_plan_update_values_blocking. Unless `vectors_in_order` is 1, a launch moves x and y too.
    pub reordering: *const c_char,
    /// 1: x and y of each launch are in the plan's order of rows, of a square matrix that was reordered or of "evc_hyb": y
    /// can be the next product's x. sparrow_plan_row_order_blocking says which it is; a solver's is that of a plan with the
    /// same options. 0: as the matrix has them.
    pub vectors_in_order: u32,
}

// SAFETY: `repr(C)`, its size first, and any bits are numbers and pointers.
unsafe impl Growing for sparrow_plan_options {
    const NAME: &'static str = "sparrow_plan_options";
    const STARTS: &'static [usize] = starts!(sparrow_plan_options {
        size,
        algorithm;
        variant,
        parameters,
        device_table,
        products,
        accumulate,
        operation,
        planning,
        scalars_on_device,
        choice,
        never_measure,
        reordering,
        vectors_in_order
    });
}

/// Where the elements of a dense matrix lie.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct sparrow_dense_shape {
    /// Rows.
    pub rows: u64,
    /// Columns.
    pub cols: u64,
    /// Elements from the beginning of one row (column) to that of the next; 0 is as many as it has. What lies
    /// between is neither read nor written.
    pub leading: u64,
    /// What lies side by side: SPARROW_LAYOUT_ROW_MAJOR or SPARROW_LAYOUT_COLUMN_MAJOR.
    pub layout: sparrow_layout,
}

/// What a plan for C = alpha A B + beta C is asked for; `size`, `b`, `c` and `b_type` must be set.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct sparrow_spmm_options {
    /// sizeof(sparrow_spmm_options).
    pub size: usize,
    /// Where the elements of B lie.
    pub b: sparrow_dense_shape,
    /// Where the elements of C lie.
    pub c: sparrow_dense_shape,
    /// The algorithm: "spmm_row_split", "spmm_merge"; NULL chooses one for the matrix and the device.
    pub algorithm: *const c_char,
    /// Hyper-parameters over what the device table says; or NULL.
    pub parameters: *const c_char,
    /// The user's device table, as in sparrow_context_options; NULL is the context's.
    pub device_table: *const c_char,
    /// What B stores: the type of C (double for SPARROW_VALUE_TYPE_F64, else float), or with float 16 bits.
    pub b_type: sparrow_value_type,
    /// Which matrix multiplies B.
    pub operation: sparrow_operation,
    /// 1: alpha and beta of each launch lie on the device. 0: they come by value.
    pub scalars_on_device: u32,
}

// SAFETY: `repr(C)`, its size first, and any bits are numbers and pointers.
unsafe impl Growing for sparrow_spmm_options {
    const NAME: &'static str = "sparrow_spmm_options";
    const STARTS: &'static [usize] = starts!(sparrow_spmm_options {
        size,
        b;
        c,
        algorithm,
        parameters,
        device_table,
        b_type,
        operation,
        scalars_on_device
    });
}

/// What a plan for a batch is asked for; all other fields 0 or NULL are the automatic choice.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct sparrow_batch_options {
    /// sizeof(sparrow_batch_options).
    pub size: usize,
    /// The algorithm, for the problems whose format it reads: "batched_csr_scalar", "batched_csr_vector",
    /// "batched_csr_smart", "batched_csr_i", "batched_coo", "batched_ell"; NULL chooses one for each problem.
    pub algorithm: *const c_char,
    /// "atomic" adds cut rows by float atomics, as they come; NULL in their order.
    pub variant: *const c_char,
    /// Hyper-parameters over what the device table says; or NULL.
    pub parameters: *const c_char,
    /// The user's device table, as in sparrow_context_options; NULL is the context's.
    pub device_table: *const c_char,
    /// 1: alpha and beta of each launch lie on the device. 0: they come by value.
    pub scalars_on_device: u32,
}

// SAFETY: `repr(C)`, its size first, and any bits are numbers and pointers.
unsafe impl Growing for sparrow_batch_options {
    const NAME: &'static str = "sparrow_batch_options";
    const STARTS: &'static [usize] = starts!(sparrow_batch_options {
        size,
        algorithm;
        variant,
        parameters,
        device_table,
        scalars_on_device
    });
}

/// # Safety
/// NULL, or valid options.
pub(crate) unsafe fn plan_options(
    options: *const sparrow_plan_options,
    home: &Home,
) -> Result<PlanOptions> {
    // SAFETY: the caller's promise.
    let Some(options) = (unsafe { read_optional(options, "options")? }) else {
        return Ok(PlanOptions { tables: Some(home.tables.clone()), ..PlanOptions::default() });
    };
    // SAFETY: texts of valid options are valid.
    let (algorithm, variant, choice) = unsafe {
        (
            named::<Algorithm>(options.algorithm, "options->algorithm")?,
            named::<Variant>(options.variant, "options->variant")?,
            named::<Choice>(options.choice, "options->choice")?,
        )
    };
    if choice.is_some() && (algorithm.is_some() || variant.is_some()) {
        let text =
            "options->choice says what runs: options->algorithm and options->variant must be NULL";
        return Err(Failure::argument(text.to_owned()));
    }
    // SAFETY: texts of valid options are valid.
    let reordering = unsafe { named::<Reordering>(options.reordering, "options->reordering")? };
    let order = match flag(options.vectors_in_order, "options->vectors_in_order")? {
        true => VectorOrder::Symmetric,
        false => VectorOrder::Original,
    };
    let measuring = match flag(options.never_measure, "options->never_measure")? {
        true => Measuring::Never,
        false => Measuring::Automatic,
    };
    Ok(PlanOptions {
        choice,
        measuring,
        algorithm,
        variant: variant_of(algorithm, variant)?,
        op: operation(options.operation, "options->operation")?,
        accumulate: accumulate(options.accumulate, "options->accumulate")?,
        scalars_on_device: flag(options.scalars_on_device, "options->scalars_on_device")?,
        reuse: products(options.products, "options->products")?,
        planning: planning(options.planning, "options->planning")?,
        reordering: reordering.unwrap_or_default(),
        order,
        // SAFETY: texts of valid options are valid.
        parameters: unsafe { parameters(options.parameters)? },
        // SAFETY: as above.
        tables: Some(unsafe { own_tables(options.device_table, home)? }),
        ..PlanOptions::default()
    })
}

/// A variant that the algorithm has; the face takes any other for the default one, which here would hide a mistake.
fn variant_of(algorithm: Option<Algorithm>, variant: Option<Variant>) -> Result<Variant> {
    let refuse = |text: String| Err(Failure::argument(format!("options->variant: {text}")));
    match (algorithm, variant) {
        (_, None) => Ok(Variant::default()),
        (None, Some(variant)) => refuse(format!("\"{variant}\" needs options->algorithm")),
        (Some(algorithm), Some(variant)) => {
            let known = Variant::of(algorithm);
            if known.contains(&variant) {
                return Ok(variant);
            }
            let names: Vec<_> = known.iter().map(|variant| variant.name()).collect();
            refuse(match names.is_empty() {
                true => format!("{algorithm} has none, and \"{variant}\" was asked for"),
                false => {
                    format!("\"{variant}\" is none of {algorithm}'s: {}", names.join(", "))
                }
            })
        }
    }
}

/// Options of a plan for a dense B, with the shapes of B and C and what B stores.
#[derive(Debug)]
pub(crate) struct DenseOptions {
    pub(crate) b: DenseShape,
    pub(crate) c: DenseShape,
    pub(crate) b_type: ValueType,
    pub(crate) options: SpmmOptions,
}

/// # Safety
/// NULL, or valid options.
pub(crate) unsafe fn spmm_options(
    options: *const sparrow_spmm_options,
    home: &Home,
) -> Result<DenseOptions> {
    // SAFETY: the caller's promise.
    let options = unsafe { read(options, "options")? };
    Ok(DenseOptions {
        b: shape(options.b, "options->b")?,
        c: shape(options.c, "options->c")?,
        b_type: value_type(options.b_type, "options->b_type")?,
        options: SpmmOptions {
            // SAFETY: texts of valid options are valid.
            algorithm: unsafe { named(options.algorithm, "options->algorithm")? },
            op: operation(options.operation, "options->operation")?,
            scalars_on_device: flag(options.scalars_on_device, "options->scalars_on_device")?,
            // SAFETY: as above.
            parameters: unsafe { parameters(options.parameters)? },
            // SAFETY: as above.
            tables: Some(unsafe { own_tables(options.device_table, home)? }),
            ..SpmmOptions::default()
        },
    })
}

pub(crate) fn shape(shape: sparrow_dense_shape, name: &str) -> Result<DenseShape> {
    let layout = layout(shape.layout, &format!("{name}.layout"))?;
    let rows = size(shape.rows, &format!("{name}.rows"))?;
    let cols = size(shape.cols, &format!("{name}.cols"))?;
    let made = match size(shape.leading, &format!("{name}.leading"))? {
        0 => DenseShape::packed(rows, cols, layout),
        leading => DenseShape::new(rows, cols, layout, leading),
    };
    made.map_err(|error| Failure::from(error).of(name))
}

/// # Safety
/// NULL, or valid options.
pub(crate) unsafe fn batch_options(
    options: *const sparrow_batch_options,
    home: &Home,
) -> Result<BatchOptions> {
    // SAFETY: the caller's promise.
    let Some(options) = (unsafe { read_optional(options, "options")? }) else {
        return Ok(BatchOptions { tables: Some(home.tables.clone()), ..BatchOptions::default() });
    };
    // SAFETY: texts of valid options are valid.
    let variant = match unsafe { text(options.variant, "options->variant")? } {
        None => BatchedVariant::Ordered,
        Some("atomic") => BatchedVariant::Atomic,
        Some(other) => {
            let text = format!("options->variant is \"{other}\", and neither \"atomic\" nor NULL");
            return Err(Failure::argument(text));
        }
    };
    Ok(BatchOptions {
        // SAFETY: texts of valid options are valid.
        algorithm: unsafe { named(options.algorithm, "options->algorithm")? },
        variant,
        scalars_on_device: flag(options.scalars_on_device, "options->scalars_on_device")?,
        // SAFETY: as above.
        parameters: unsafe { parameters(options.parameters)? },
        // SAFETY: as above.
        tables: Some(unsafe { own_tables(options.device_table, home)? }),
    })
}

/// What a name stands for; NULL is `None`.
///
/// # Safety
/// NULL, or characters that end with a zero.
unsafe fn named<T: FromStr<Err = String>>(pointer: *const c_char, name: &str) -> Result<Option<T>> {
    // SAFETY: the caller's promise.
    let text = unsafe { text(pointer, name)? };
    let parsed = text.map(str::parse).transpose();
    parsed.map_err(|error| Failure::argument(format!("{name}: {error}")))
}

/// Hyper-parameters: "name=value,name=value".
///
/// # Safety
/// NULL, or characters that end with a zero.
pub(crate) unsafe fn parameters(pointer: *const c_char) -> Result<Vec<(String, u32)>> {
    // SAFETY: the caller's promise.
    let text = unsafe { text(pointer, "options->parameters")? }.unwrap_or("");
    let list = text.parse::<ParameterList>();
    let list = list.map_err(|error| Failure::argument(format!("options->parameters: {error}")))?;
    Ok(list.0)
}

/// The tables of a plan: the context's where it names none.
///
/// # Safety
/// NULL, or characters that end with a zero.
unsafe fn own_tables(pointer: *const c_char, home: &Home) -> Result<Tables> {
    // SAFETY: the caller's promise.
    match unsafe { path_setting(pointer, "options->device_table")? } {
        PathSetting::Default => Ok(home.tables.clone()),
        named => tables(&named),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &std::ffi::CStr) -> Result<Vec<(String, u32)>> {
        // SAFETY: a text that ends with a zero.
        unsafe { parameters(text.as_ptr()) }
    }

    #[test]
    fn parameters_are_read_and_what_is_none_is_named() {
        let both = vec![("group_size".to_owned(), 64), ("width".to_owned(), 4)];
        assert_eq!(parsed(c"group_size=64, width=4,").unwrap(), both);
        assert_eq!(parsed(c"").unwrap(), []);
        let text = format!("{:?}", parsed(c"group_size=64,width").unwrap_err());
        assert!(text.contains("options->parameters: \\\"width\\\" is not NAME=VALUE"), "{text}");
    }

    #[test]
    fn a_variant_of_another_algorithm_is_refused_with_those_there_are() {
        let refusal =
            |algorithm, variant| format!("{:?}", variant_of(algorithm, Some(variant)).unwrap_err());
        assert!(refusal(None, Variant::Fused).contains("needs options->algorithm"));
        assert!(refusal(Some(Algorithm::CsrScalar), Variant::Fused).contains("has none"));
        let text = refusal(Some(Algorithm::EvcHyb), Variant::Fused);
        assert!(text.contains("is none of evc_hyb's: hybrid, sorted-csr"), "{text}");
        let device = variant_of(Some(Algorithm::SegmentedSum), Some(Variant::Device));
        assert_eq!(device.unwrap(), Variant::Device);
    }
}
