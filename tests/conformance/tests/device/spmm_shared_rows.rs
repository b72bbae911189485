//! SpMM of few columns, or of few rows: rows that several sub-groups share.

use conformance::{device, is_interpreter, queue, whole_device};
use sparrow::{
    Context, Csr, DenseShape, Device, DeviceType, Layout, Matrix, Queue, SpmmAlgorithm,
    SpmmOptions, SpmmPlan, ValueType,
};
use sparrow_bench::selftest::{SpmmCase, run_spmm};

use crate::spmm::{check, csr};

/// As on a GPU, where few columns leave sub-groups of one or two items, and few rows leave it idle: several sub-groups
/// share a row's nonzeros, some have none, and groups take long rows.
#[test]
fn rows_that_sub_groups_share_are_right_with_few_columns_and_with_many() {
    let queue = as_on_a_gpu(&device());
    let uneven = csr(97, 45, |row| row * row % 90);
    // The three rows of a node have the same columns.
    let nodes = {
        let (lengths, mut offsets, mut columns) = ([31, 8, 64, 1], vec![0], Vec::new());
        for row in 0..36 {
            let length = lengths[row / 3 % lengths.len()];
            columns.extend((0..length).map(|k| ((row / 3 * 31 + k * 7) % 97) as u32));
            offsets.push(columns.len() as u32);
        }
        let values = csr_core::random_vector(5, columns.len());
        Csr::new(97, offsets, columns, values).unwrap()
    };
    let set = |name: &str, value| (name.to_owned(), value);
    let row_split = Some(SpmmAlgorithm::RowSplit);
    let is_slow = is_interpreter(queue.context().device());
    let columns: &[usize] = if is_slow { &[3] } else { &[2, 3, 4, 6, 8, 13, 24] };
    for (matrix, columns) in
        [&uneven, &nodes].into_iter().flat_map(|matrix| columns.iter().map(move |c| (matrix, *c)))
    {
        for (items, part) in [(8, 256), (32, 32)] {
            let parameters = vec![set("items_per_row", items), set("part_nnz", part)];
            let case = SpmmCase { parameters, beta: 0.5, ..SpmmCase::new(row_split, columns) };
            check(&queue, matrix, &case);
        }
    }

    // Elsewhere than where vectors may lie, C by columns, coefficients on the device; B in 16 bits.
    let narrow = nodes.map_values::<f32>();
    for (b_type, columns) in [(ValueType::F32, 4), (ValueType::Bf16, 3), (ValueType::F16, 6)] {
        let case = SpmmCase {
            c: (Layout::ColumnMajor, 1),
            shift: 1,
            scalars_on_device: true,
            ..SpmmCase::new(row_split, columns)
        };
        run_spmm(&queue, narrow.view().into(), b_type, false, &case)
            .unwrap_or_else(|error| panic!("{error}; {case:?}"));
    }

    // And they are shared, with more of a row under way, but where a row is to be one sub-group's.
    let matrix = Matrix::upload_blocking(&queue, nodes.view()).unwrap();
    let key = |columns, parameters: &[(String, u32)]| {
        let shape = |rows| DenseShape::new(rows, columns, Layout::RowMajor, columns).unwrap();
        let parameters = parameters.to_vec();
        let options = SpmmOptions { algorithm: row_split, parameters, ..SpmmOptions::default() };
        let (b, c) = (shape(97), shape(36));
        SpmmPlan::<f64, u32, f64>::new_blocking(&queue, &matrix, b, c, &options)
            .unwrap()
            .key()
            .to_string()
    };
    for columns in [3, 24] {
        let default = key(columns, &[]);
        assert!(default.contains("sub_groups_per_row"), "{default}");
        let single = key(columns, &[set("items_per_row", 1)]);
        assert!(!single.contains("sub_groups_per_row"), "{single}");
        assert!(single.contains("nnz_at_once-8"), "{single}");
        let as_given = key(columns, &[set("items_per_row", 1), set("least_iterations", 0)]);
        assert!(as_given.contains("nnz_at_once-2"), "{as_given}");
    }
}

/// Rows of a sub-group, of a group, and of several groups in one product; alike in pairs, and with a row of each alone; as
/// on a GPU, and with parts a team each, as on a CPU.
#[test]
fn rows_that_a_group_takes_are_right_beside_shorter_and_longer_ones() {
    let lengths = [3, 16, 17, 60, 64, 65, 700, 0, 1000, 5];
    let single = csr(1500, lengths.len(), |row| lengths[row]);
    let pairs = {
        let (mut offsets, mut columns) = (vec![0], Vec::new());
        for length in lengths.into_iter().flat_map(|length| [length, length]) {
            columns.extend((0..length).map(|k| (length * 31 + k) as u32 % 1500));
            offsets.push(columns.len() as u32);
        }
        let values = csr_core::random_vector(5, columns.len());
        Csr::new(1500, offsets, columns, values).unwrap()
    };
    let named = |items| {
        [("group_size", 32), ("part_nnz", 16), ("items_per_row", items), ("rows_at_once", 2)]
            .map(|(name, value)| (name.to_owned(), value))
            .to_vec()
    };
    let is_slow = is_interpreter(&device());
    let columns: &[usize] = if is_slow { &[3, 20] } else { &[1, 2, 3, 8, 20, 33] };
    for queue in [as_on_a_gpu(&device()), queue()] {
        for (matrix, columns) in [&single, &pairs]
            .into_iter()
            .flat_map(|matrix| columns.iter().map(move |columns| (matrix, *columns)))
        {
            for (items, shift) in [(1, 0), (8, 1)] {
                let case = SpmmCase {
                    parameters: named(items),
                    beta: 0.5,
                    shift,
                    ..SpmmCase::new(Some(SpmmAlgorithm::RowSplit), columns)
                };
                check(&queue, matrix, &case);
            }
        }
    }
}

/// Nothing is stored for a second kernel to add up, where a group takes the longest row: of 128 items, or of 256 on a device
/// that is idle.
#[test]
fn a_group_that_takes_the_longest_row_needs_no_second_kernel() {
    let queue = as_on_a_gpu(&whole_device());
    for (longest_row, group_size, stores) in [
        (200, "group_size-128", false),
        (1_000, "group_size-128", false),
        (1_700, "group_size-256", false),
        (3_000, "group_size-128", true),
    ] {
        let matrix = csr(3_100, 40, |row| if row == 7 { longest_row } else { 9 });
        let matrix = Matrix::upload_blocking(&queue, matrix.view()).unwrap();
        let shape = |rows| DenseShape::new(rows, 32, Layout::RowMajor, 32).unwrap();
        let options =
            SpmmOptions { algorithm: Some(SpmmAlgorithm::RowSplit), ..SpmmOptions::default() };
        let plan = SpmmPlan::<f64, u32, f64>::new_blocking(
            &queue,
            &matrix,
            shape(3_100),
            shape(40),
            &options,
        )
        .unwrap();
        let key = plan.key().to_string();
        assert!(key.contains(group_size), "{longest_row} nonzeros: {key}");
        assert_eq!(plan.workspace_bytes() > 0, stores, "{longest_row} nonzeros: {key}");
    }
}

/// A device made to look like a GPU.
#[expect(clippy::unwrap_used, reason = "support code of tests")]
fn as_on_a_gpu(device: &Device) -> Queue {
    let device = device.masked(|traits| traits.device_type = DeviceType::Gpu);
    Queue::new(&Context::new(&device).unwrap()).unwrap()
}
