//! Facts of a plan, kept with it as texts for C.

use std::ffi::{CStr, CString, c_char};

use sparrow::ValueCoding;

use crate::context::c_text;
use crate::pointer::{Growing, starts};

/// Facts of a plan. Texts are valid until the plan is released.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct sparrow_plan_info {
    /// sizeof(sparrow_plan_info); set by the caller.
    pub size: usize,
    /// The algorithm that runs; of a batch, each that runs.
    pub algorithm: *const c_char,
    /// The way in which it runs; empty where it has only one.
    pub variant: *const c_char,
    /// Why it was chosen.
    pub reason: *const c_char,
    /// Its hyper-parameters: "group_size=256,...".
    pub parameters: *const c_char,
    /// Bytes of the plan on the device, beyond the matrix's own; a transposed copy included.
    pub plan_bytes: u64,
    /// Bytes that each workspace takes on the device.
    pub workspace_bytes: u64,
    /// 1 where the same launch always gives the same bits, else 0.
    pub repeatable: u32,
    /// All that runs, as text that sparrow_plan_options takes as `choice`; empty where that has none: of a batch and of a
    /// product with a dense matrix.
    pub choice: *const c_char,
    /// Products by which it was chosen; 0 where nothing was timed.
    pub measured_products: u32,
    /// How the plan's copy of the values stores them now: "as they are", "one value", "a dictionary", or f64 as "f32"; empty
    /// where it has no copy in an order of its own. New values may change it.
    pub value_coding: *const c_char,
    /// Bytes that this saves: `plan_bytes` would be as much more with values as they are.
    pub saved_bytes: u64,
}

// SAFETY: `repr(C)`, its size first, and any bits are numbers and pointers.
unsafe impl Growing for sparrow_plan_info {
    const NAME: &'static str = "sparrow_plan_info";
    const STARTS: &'static [usize] = starts!(sparrow_plan_info {
        size,
        algorithm;
        variant,
        reason,
        parameters,
        plan_bytes,
        workspace_bytes,
        repeatable,
        choice,
        measured_products,
        value_coding,
        saved_bytes
    });
}

/// The words of [`ValueCoding`], which live for ever.
pub(crate) fn coding_text(coding: Option<ValueCoding>) -> &'static CStr {
    match coding {
        None => c"",
        Some(ValueCoding::AsTheyAre) => c"as they are",
        Some(ValueCoding::OneValue) => c"one value",
        Some(ValueCoding::Dictionary) => c"a dictionary",
        Some(ValueCoding::F32) => c"f32",
    }
}

/// What [`sparrow_plan_info`] points to.
#[derive(Debug)]
pub(crate) struct Facts {
    algorithm: CString,
    variant: CString,
    reason: CString,
    parameters: CString,
    plan_bytes: usize,
    workspace_bytes: usize,
    is_repeatable: bool,
    choice: CString,
    measured_products: u32,
}

/// Algorithm, variant, reason and hyper-parameters.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Texts<'a> {
    pub(crate) algorithm: &'a str,
    pub(crate) variant: &'a str,
    pub(crate) reason: &'a str,
    pub(crate) parameters: &'a str,
}

impl Facts {
    pub(crate) fn new(
        texts: Texts<'_>,
        (plan_bytes, workspace_bytes): (usize, usize),
        is_repeatable: bool,
    ) -> Self {
        Facts {
            algorithm: c_text(texts.algorithm),
            variant: c_text(texts.variant),
            reason: c_text(texts.reason),
            parameters: c_text(texts.parameters),
            plan_bytes,
            workspace_bytes,
            is_repeatable,
            choice: c_text(""),
            measured_products: 0,
        }
    }

    /// The same with what a plan chose, and by how many products.
    pub(crate) fn with_choice(self, choice: &str, measured_products: u32) -> Self {
        Facts { choice: c_text(choice), measured_products, ..self }
    }

    pub(crate) fn info(&self) -> sparrow_plan_info {
        sparrow_plan_info {
            size: size_of::<sparrow_plan_info>(),
            algorithm: self.algorithm.as_ptr(),
            variant: self.variant.as_ptr(),
            reason: self.reason.as_ptr(),
            parameters: self.parameters.as_ptr(),
            plan_bytes: self.plan_bytes as u64,
            workspace_bytes: self.workspace_bytes as u64,
            repeatable: self.is_repeatable.into(),
            choice: self.choice.as_ptr(),
            measured_products: self.measured_products,
            value_coding: coding_text(None).as_ptr(),
            saved_bytes: 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codings_have_the_words_that_the_command_uses() {
        use ValueCoding::{AsTheyAre, Dictionary, F32, OneValue};
        for coding in [AsTheyAre, OneValue, Dictionary, F32] {
            assert_eq!(coding_text(Some(coding)).to_str(), Ok(coding.to_string().as_str()));
        }
        assert!(coding_text(None).is_empty());
    }
}
