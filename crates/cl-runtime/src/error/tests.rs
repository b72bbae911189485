//! What errors of things that do not belong together say.

use csr_core::{ColumnType, DenseShape, Layout, OffsetType, ValueType};

use super::*;

#[test]
fn what_does_not_belong_together_is_named_with_its_value_and_its_limit() {
    let types = |value_type, offset_type| MatrixTypes {
        value_type,
        offset_type,
        column_type: ColumnType::U32,
    };
    let (narrow, wide) =
        (types(ValueType::F32, OffsetType::U32), types(ValueType::F64, OffsetType::U64));
    let shape = DenseShape::new(30, 4, Layout::RowMajor, 5).unwrap();
    let overlap = |may_be_same| Error::Overlap {
        what: "x".to_owned(),
        result: "y".to_owned(),
        bytes: 0..8,
        result_bytes: 4..12,
        may_be_same,
    };
    let bytes = "(bytes 0 to 8 and 4 to 12 of the memory that they share)";
    let coefficient = |on_device| Error::Coefficient { name: "beta".to_owned(), on_device };
    let texts = [
        (Error::context("x", "the queue"), "x belongs to another context than the queue"),
        (
            Error::Device {
                what: "the plan".to_owned(),
                found: "one".to_owned(),
                needed: "two".to_owned(),
            },
            "the plan cannot run in a queue of the device one: another device is needed, two",
        ),
        (
            Error::element_type("x", ValueType::F16, ValueType::F32),
            "x is of type f16 where f32 is needed",
        ),
        (
            check_matrix_types(("A", narrow), ("B", wide)).unwrap_err(),
            "A stores f32 with offsets of u32, and B f64 with offsets of u64: they must be of the same types",
        ),
        (
            check_size("x", (1, "element"), 2, "one for each column").unwrap_err(),
            "x has 1 element where 2 are needed: one for each column",
        ),
        (
            Error::span("B", 150, &shape),
            "B has 150 elements where 149 are needed: 30 x 4 with a leading dimension of 5",
        ),
        (
            Error::NotSquare { what: "a solver", rows: 3, cols: 2 },
            "a solver needs a square matrix, and this one is 3 x 2",
        ),
        (overlap(false), &format!("x and y overlap {bytes}, and y is written")),
        (
            overlap(true),
            &format!("x and y overlap in part {bytes}, and they may be the same, or apart"),
        ),
        (Error::Pattern { what: "A" }, "A does not share the pattern the plan was made for"),
        (
            Error::StaleValues { copy: "the plan", remedy: "make another" },
            "the matrix's values have changed since the plan was made: make another",
        ),
        (
            Error::OtherPlan { what: "the workspace" },
            "the workspace was made by another plan than the one that launches",
        ),
        (
            coefficient(true),
            "beta came as a device array, but the plan takes alpha and beta by value; set scalars_on_device in its \
             options",
        ),
        (
            coefficient(false),
            "beta came by value, but the plan takes alpha and beta from the device",
        ),
        (Error::combination("this", "that", "no"), "this cannot go with that: no"),
        (Error::Incompatible("two things".to_owned()), "two things"),
    ];
    for (error, text) in texts {
        assert_eq!(error.to_string(), text);
        assert!(error.is_mismatch(), "{text}");
    }
    assert!(!Error::NoDevice.is_mismatch());
}
