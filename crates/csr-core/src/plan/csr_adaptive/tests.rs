//! Claims about row blocks, on drawn examples and on random row lengths.

use expect_test::{Expect, expect};
use proptest::prelude::*;

use super::*;

const RULES: RowBlockRules = RowBlockRules {
    nnz_per_block: 512,
    num_rows_stream: 2,
    share: Some(1024),
    length_break: LengthBreak::On,
    reduction: StreamReduction::Logarithmic { group_size: 64 },
};

fn offsets(lengths: &[usize]) -> Vec<u32> {
    let mut sum = 0;
    std::iter::once(0)
        .chain(lengths.iter().map(|length| {
            sum += *length as u32;
            sum
        }))
        .collect()
}

fn blocks(lengths: &[usize], rules: RowBlockRules) -> RowBlocks {
    RowBlocks::from_offsets(&offsets(lengths), rules).unwrap()
}

/// One word a block: kind, first row, rows, group.
fn check(lengths: &[usize], rules: RowBlockRules, expected: Expect) {
    let blocks = blocks(lengths, rules);
    let words: Vec<_> = (0..blocks.count())
        .map(|block| {
            let entry = blocks.entries()[block];
            let rows = blocks.rows_of(block);
            format!("{:?}({}+{rows},{})", blocks.kind(block), entry.row(), entry.group())
        })
        .collect();
    expected.assert_eq(&words.join(" "));
}

#[test]
fn the_papers_figure_5_cuts_long_rows_into_shares_of_one_workgroup() {
    // Figure 5c: rows of 2048, 3072 and 512 nonzeros, 512 a work-group.
    let rules = RowBlockRules { share: Some(512), ..RULES };
    check(
        &[2048, 3072, 512],
        rules,
        expect![
            "VectorL(0+0,0) VectorL(0+0,1) VectorL(0+0,2) VectorL(0+1,3) VectorL(1+0,0) VectorL(1+0,1) VectorL(1+0,2) VectorL(1+0,3) VectorL(1+0,4) VectorL(1+1,5) Vector(2+1,0)"
        ],
    );
}

#[test]
fn without_shares_a_long_row_takes_one_group_whatever_its_length() {
    let rules = RowBlockRules { share: None, ..RULES };
    check(&[40, 1 << 20, 40], rules, expect!["Vector(0+1,0) Vector(1+1,0) Vector(2+1,0)"]);
}

#[test]
fn the_last_block_counts_its_rows_and_not_the_last_row_index() {
    // clSPARSE took the loop's last index for the number of rows here.
    check(&[4; 20], RULES, expect!["Stream(0+20,1)"]);
    check(&[256, 256, 40, 40, 40], RULES, expect!["Stream(0+2,5) Stream(2+3,4)"]);
}

#[test]
fn rows_that_just_fill_a_block_share_it_and_one_nonzero_more_does_not_fit() {
    check(&[256, 256], RULES, expect!["Stream(0+2,5)"]);
    check(&[256, 257], RULES, expect!["Vector(0+1,0) Vector(1+1,0)"]);
    check(&[512], RULES, expect!["Vector(0+1,0)"]);
    check(&[1024], RULES, expect!["Vector(0+1,0)"]);
    check(&[1025], RULES, expect!["VectorL(0+0,0) VectorL(0+1,1)"]);
}

#[test]
fn a_block_ends_where_rows_above_128_are_next_to_rows_below_32() {
    check(&[129, 31], RULES, expect!["Vector(0+1,0) Vector(1+1,0)"]);
    check(&[31, 40, 129], RULES, expect!["Stream(0+2,5) Vector(2+1,0)"]);
    check(&[128, 31, 129, 32], RULES, expect!["Stream(0+2,5) Stream(2+2,5)"]);
    let off = RowBlockRules { length_break: LengthBreak::Off, ..RULES };
    check(&[129, 31], off, expect!["Stream(0+2,5)"]);
}

#[test]
fn fewer_rows_than_num_rows_stream_take_vector() {
    let rules = RowBlockRules { num_rows_stream: 3, ..RULES };
    check(&[200, 200, 200, 100, 100], rules, expect!["Vector(0+2,0) Stream(2+3,4)"]);
}

#[test]
fn the_scalar_reduction_gives_every_row_one_item() {
    let rules = RowBlockRules { reduction: StreamReduction::Scalar, ..RULES };
    check(&[256, 256], rules, expect!["Stream(0+2,0)"]);
}

#[test]
fn no_rows_make_no_blocks_and_empty_rows_fill_them() {
    check(&[], RULES, expect![""]);
    check(&[0; 3], RULES, expect!["Stream(0+3,4)"]);
    check(&vec![0; ROWS_PER_CHUNK + 1], RULES, expect!["Stream(0+4096,0) Vector(4096+1,0)"]);
}

#[test]
fn rules_no_kernel_can_follow_are_refused() {
    let refusal = |rules| RowBlocks::from_offsets(&[0u32], rules).unwrap_err().to_string();
    assert_eq!(
        refusal(RowBlockRules { num_rows_stream: 1, ..RULES }),
        "num_rows_stream is 1, below the limit of 2"
    );
    assert_eq!(
        refusal(RowBlockRules { share: Some(511), ..RULES }),
        "the share of a CSR-VectorL group is 511, below the limit of 512"
    );
}

fn row_lengths() -> impl Strategy<Value = Vec<usize>> {
    let length = prop_oneof![
        6 => 0usize..40,
        3 => 20usize..200,
        1 => 400usize..600,
        1 => 1000usize..5000,
    ];
    proptest::collection::vec(length, 0..9000)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn every_row_has_blocks_that_cover_it_once_within_the_rules(lengths in row_lengths()) {
        let blocks = blocks(&lengths, RULES);
        let mut row = 0;
        let mut block = 0;
        while block < blocks.count() {
            prop_assert_eq!(blocks.entries()[block].row(), row);
            if blocks.kind(block) == BlockKind::VectorL {
                let shares = lengths[row].div_ceil(1024);
                prop_assert!(shares >= 2);
                for share in 0..shares {
                    prop_assert_eq!(blocks.entries()[block + share].group(), share as u64);
                    prop_assert_eq!(blocks.entries()[block + share].row(), row);
                }
                block += shares;
                row += 1;
                continue;
            }
            let rows = blocks.rows_of(block);
            let mine = &lengths[row..row + rows];
            prop_assert!(rows == 1 || mine.iter().sum::<usize>() <= 512);
            prop_assert!(rows == 1 || !(mine.iter().any(|l| *l > 128) && mine.iter().any(|l| *l < 32)));
            prop_assert!(rows << blocks.entries()[block].group() <= 64.max(rows));
            row += rows;
            block += 1;
        }
        prop_assert_eq!(row, lengths.len());
    }

    #[test]
    fn the_number_of_threads_does_not_change_the_blocks(lengths in row_lengths()) {
        let offsets = offsets(&lengths);
        let build = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| RowBlocks::from_offsets(&offsets, RULES).unwrap())
        };
        prop_assert_eq!(build(1), build(3));
    }
}
