//! Matrices in ELL, as entries, and in both, as applications hold them: right on every shape, the same bits every time, and
//! refused where arrays do not belong together.
#![expect(clippy::unwrap_used, reason = "a test panics when its claim is broken")]
#![expect(unsafe_code, reason = "arrays of an application")]

use cl_runtime::raw::copied_bytes;
use conformance::in_place::{InPlace, ways};
use conformance::{LIMITS, bits, check_product, csr, is_full, is_interpreter, queue, shapes};
use csr_core::batch::{Ell, PADDING};
use sparrow::{
    Accumulate, AnySlotsMatrix, AnySlotsPlan, Coo, Csr, DeviceArray, Entries, NoEvent, Number,
    Queue, RealValue, Slots, SlotsOperands, SlotsOptions, Value as _,
};

/// Groups so small that rows, tiles and groups end everywhere.
fn small(accumulate: Accumulate) -> SlotsOptions {
    let parameters = vec![("group_size".to_owned(), 16), ("nnz_per_item".to_owned(), 2)];
    SlotsOptions { accumulate, scalars_on_device: false, parameters }
}

/// Entries of a matrix; shuffled, those of a row in their order.
fn entries<V: RealValue>(matrix: &Csr<V>, shuffles: bool) -> Coo<V> {
    let sorted = matrix.clone().to_coo();
    if !shuffles {
        return sorted;
    }
    let (rows, cols, nnz) = (matrix.rows(), matrix.cols(), matrix.nnz());
    let (row_indices, columns, values) = sorted.into_arrays();
    let mut order: Vec<usize> = (0..nnz).collect();
    order.sort_by_key(|&entry| (row_indices[entry].wrapping_mul(0x9e37_79b9), entry));
    let of = |all: &[u32]| order.iter().map(|&at| all[at]).collect();
    let values = order.iter().map(|&at| values[at]).collect();
    Coo::new(rows, cols, of(&row_indices), of(&columns), values).unwrap()
}

/// Two products, of the same bits, held against the oracle of `host`.
fn check<V: RealValue>(
    queue: &Queue,
    host: &Csr<V>,
    matrix: &AnySlotsMatrix,
    options: &SlotsOptions,
    beta: f64,
) -> Vec<u64> {
    let real = V::Accum::from_f64;
    let host_x: Vec<V::Accum> = csr_core::random_vector(5, host.cols());
    let before: Vec<V::Accum> = match beta {
        0.0 => vec![real(f64::NAN); host.rows()],
        _ => csr_core::random_vector(7, host.rows()),
    };
    let x = DeviceArray::upload_blocking(queue, &host_x).unwrap();
    let mut y = DeviceArray::upload_blocking(queue, &before).unwrap();
    let copied = copied_bytes();
    let plan = AnySlotsPlan::new_blocking(queue, matrix, options).unwrap();
    assert_eq!(copied_bytes(), copied, "a plan has copied something");
    let mut workspace = plan.workspace_blocking(queue).unwrap();
    let mut first = None;
    for with_event in [true, false] {
        y.write_blocking(queue, &before).unwrap();
        let number = |value| Number::of(V::TYPE, value);
        let operands = SlotsOperands {
            alpha: number(1.5).into(),
            x: &x,
            beta: number(beta).into(),
            y: y.as_any_mut(),
        };
        let copied = copied_bytes();
        if with_event {
            plan.launch(queue, &mut workspace, operands, &[]).unwrap().wait().unwrap();
        } else {
            plan.launch(queue, &mut workspace, operands, NoEvent).unwrap();
        }
        assert_eq!(copied_bytes(), copied, "a product has copied something");
        let found = y.read_blocking(queue).unwrap();
        let accumulate = options.accumulate;
        check_product(host, real(1.5), &host_x, real(beta), &before, &found, accumulate);
        let found = bits(&found);
        assert_eq!(first.get_or_insert(found.clone()), &found);
    }
    first.unwrap()
}

#[test]
fn ell_and_entries_are_right_on_every_shape() {
    let queue = queue();
    let is_interpreted = is_interpreter(queue.context().device());
    for (number, shape) in shapes(&LIMITS).iter().enumerate() {
        if is_interpreted && !is_full() && number % 2 == 1 {
            continue;
        }
        let host: Csr<f32> = shape.matrix().unwrap();
        let beta = if number % 2 == 0 { 0.0 } else { 0.5 };
        let accumulate = [Accumulate::Plain, Accumulate::Compensated][number / 2 % 2];
        let options = small(accumulate);
        let coo = entries(&host, number % 3 == 1);
        let matrix = AnySlotsMatrix::upload_coo_blocking(&queue, &coo).unwrap();
        matrix.check_order_blocking(&queue).unwrap();
        check(&queue, &host, &matrix, &options, beta);
        // A row of many in ELL would pad all others.
        let longest = (0..host.rows()).map(|row| host.pattern().view().row_len(row)).max();
        if longest.unwrap_or(0) * host.rows() > 1 << 16 {
            continue;
        }
        let ell = Ell::from_csr(host.view()).unwrap();
        let matrix = AnySlotsMatrix::upload_ell_blocking(&queue, &ell).unwrap();
        assert_eq!((matrix.width(), matrix.entries()), (ell.width(), 0));
        check(&queue, &host, &matrix, &options, beta);
    }
}

#[test]
fn rows_of_many_groups_are_right_in_every_type() {
    fn are_right<V: RealValue>(queue: &Queue) {
        let host: Csr<V> = csr(97, &[3, 0, 700, 1, 0, 333, 65, 2, 0], 3);
        for accumulate in [Accumulate::Plain, Accumulate::Compensated] {
            for options in [small(accumulate), SlotsOptions { accumulate, ..Default::default() }] {
                let [sorted, shuffled] = [false, true].map(|shuffles| {
                    let coo = entries(&host, shuffles);
                    let matrix = AnySlotsMatrix::upload_coo_blocking(queue, &coo).unwrap();
                    check(queue, &host, &matrix, &options, 0.5)
                });
                // The order in which rows came says nothing.
                assert_eq!(sorted, shuffled);
            }
        }
    }
    let queue = queue();
    are_right::<f32>(&queue);
    are_right::<half::f16>(&queue);
    if queue.context().device().traits().has_f64 {
        are_right::<f64>(&queue);
    }
}

/// A matrix of an application in both parts: two slots a row, `pitch` apart, and entries.
struct Both {
    columns: Vec<u32>,
    values: Vec<f32>,
    entry_rows: Vec<u32>,
    entry_columns: Vec<u32>,
    entry_values: Vec<f32>,
}

impl Both {
    fn of(host: &Csr<f32>, pitch: usize) -> Self {
        // What lies between two slots of a row is no column.
        let (mut columns, mut values) = (vec![PADDING - 1; 2 * pitch], vec![f32::NAN; 2 * pitch]);
        let mut both = Both {
            columns: vec![],
            values: vec![],
            entry_rows: vec![],
            entry_columns: vec![],
            entry_values: vec![],
        };
        for row in 0..host.rows() {
            let (its_columns, its_values) = host.view().row(row);
            for slot in 0..2 {
                columns[slot * pitch + row] = its_columns.get(slot).copied().unwrap_or(PADDING);
                values[slot * pitch + row] = its_values.get(slot).copied().unwrap_or(f32::NAN);
            }
            for (&column, &value) in its_columns.iter().zip(its_values).skip(2) {
                both.entry_rows.push(row as u32);
                both.entry_columns.push(column);
                both.entry_values.push(value);
            }
        }
        Both { columns, values, ..both }
    }
}

#[test]
fn an_applications_slots_and_entries_are_multiplied_where_they_lie() {
    let queue = queue();
    let lengths: Vec<usize> = (0..300).map(|row| [2, 0, 5, 1, 90, 3][row % 6]).collect();
    let host: Csr<f32> = csr(200, &lengths, 3);
    let pitch = host.rows() + 3;
    let both = Both::of(&host, pitch);
    for lies in ways(&queue) {
        let columns = InPlace::new(&queue, lies, &both.columns);
        let values = InPlace::new(&queue, lies, &both.values);
        let entry_rows = InPlace::new(&queue, lies, &both.entry_rows);
        let entry_columns = InPlace::new(&queue, lies, &both.entry_columns);
        let entry_values = InPlace::new(&queue, lies, &both.entry_values);
        let slots = Slots {
            width: 2,
            pitch,
            columns: columns.array().as_any().alias(),
            values: values.array().as_any().alias(),
        };
        let entries = Entries {
            rows: entry_rows.array().as_any().alias(),
            columns: entry_columns.array().as_any().alias(),
            values: entry_values.array().as_any().alias(),
        };
        let shape = (host.rows(), host.cols());
        let (slots, entries) = (Some(slots), Some(entries));
        // SAFETY: the arrays of a checked matrix, which outlive this one.
        let matrix = unsafe { AnySlotsMatrix::from_arrays(queue.context(), shape, slots, entries) };
        let matrix = matrix.unwrap();
        check(&queue, &host, &matrix, &small(Accumulate::Plain), 0.5);
        check(&queue, &host, &matrix, &SlotsOptions::default(), 0.0);
    }
}

#[test]
fn what_does_not_belong_together_is_refused_by_name() {
    let queue = queue();
    let indices = |len: usize| DeviceArray::upload_blocking(&queue, &vec![0u32; len]).unwrap();
    let numbers = |len: usize| DeviceArray::upload_blocking(&queue, &vec![1f32; len]).unwrap();
    let refused = |shape, slots, entries| {
        // SAFETY: it is refused.
        let made = unsafe { AnySlotsMatrix::from_arrays(queue.context(), shape, slots, entries) };
        made.map(drop).unwrap_err().to_string()
    };
    let slots = |width, pitch, len| {
        let (columns, values) = (indices(len).into_any(), numbers(len).into_any());
        Some(Slots { width, pitch, columns, values })
    };
    let text = refused((4, 3), slots(2, 4, 7), None);
    assert_eq!(
        text,
        "the array of the slots' columns has 7 elements where 8 are needed: 4 rows of 2 slots each, 4 apart"
    );
    let text = refused((4, 3), slots(2, 3, 8), None);
    assert!(text.contains("3 is not allowed") && text.contains("there are 4 rows"), "{text}");
    let entries = |rows, columns, values| {
        let (rows, columns) = (indices(rows).into_any(), indices(columns).into_any());
        Some(Entries { rows, columns, values: numbers(values).into_any() })
    };
    let text = refused((4, 3), None, entries(2, 3, 3));
    assert_eq!(
        text,
        "the array of the entries' rows has 2 elements where 3 are needed: one for each value of the entries"
    );
    assert_eq!(refused((4, 3), None, None), "a matrix has neither slots nor entries");
    let text = refused((0, 3), None, entries(1, 1, 1));
    assert_eq!(
        text,
        "the array of the entries' rows has 1 element where 0 are needed: the matrix has no rows"
    );

    let rows = DeviceArray::upload_blocking(&queue, &[1u32, 0]).unwrap().into_any();
    let (columns, values) = (indices(2).into_any(), numbers(2).into_any());
    let entries = Some(Entries { rows, columns, values });
    // SAFETY: nothing is multiplied.
    let matrix = unsafe { AnySlotsMatrix::from_arrays(queue.context(), (4, 3), None, entries) };
    let matrix = matrix.unwrap();
    let text = matrix.check_order_blocking(&queue).unwrap_err().to_string();
    assert!(text.starts_with("row 0 of entry 1 follows row 1"), "{text}");

    let plan = AnySlotsPlan::new_blocking(&queue, &matrix, &SlotsOptions::default()).unwrap();
    let mut workspace = plan.workspace_blocking(&queue).unwrap();
    let (x, one) = (numbers(2), sparrow::Number::F32(1.0));
    let mut y = numbers(4);
    let operands = SlotsOperands { alpha: one.into(), x: &x, beta: one.into(), y: y.as_any_mut() };
    let text = plan.launch(&queue, &mut workspace, operands, &[]).unwrap_err().to_string();
    assert_eq!(text, "x has 2 elements where 3 are needed: one for each column");
    let mut both = numbers(7);
    let x = both.slice(0..3).unwrap();
    let operands = SlotsOperands {
        alpha: one.into(),
        x: &x,
        beta: one.into(),
        y: &mut both.as_any_mut().slice(2..6).unwrap(),
    };
    let text = plan.launch(&queue, &mut workspace, operands, &[]).unwrap_err().to_string();
    assert!(text.starts_with("x and y overlap"), "{text}");
}

#[test]
fn a_launch_that_never_ran_leaves_the_next_right() {
    let queue = queue();
    let host: Csr<f32> = csr(50, &[1, 40, 0, 3, 77], 3);
    let matrix = AnySlotsMatrix::upload_coo_blocking(&queue, &entries(&host, false)).unwrap();
    let plan = AnySlotsPlan::new_blocking(&queue, &matrix, &small(Accumulate::Plain)).unwrap();
    let mut workspace = plan.workspace_blocking(&queue).unwrap();
    let host_x: Vec<f32> = csr_core::random_vector(5, host.cols());
    let x = DeviceArray::upload_blocking(&queue, &host_x).unwrap();
    let mut y = DeviceArray::upload_blocking(&queue, &vec![f32::NAN; host.rows()]).unwrap();
    let one = Number::F32(1.0);
    let gate = conformance::Gate::new(queue.context());
    let wait = [gate.event()];
    let operands = SlotsOperands {
        alpha: one.into(),
        x: &x,
        beta: Number::F32(0.0).into(),
        y: y.as_any_mut(),
    };
    let event = plan.launch(&queue, &mut workspace, operands, &wait[..]).unwrap();
    gate.fail();
    if is_interpreter(queue.context().device()) {
        // Which reports the wait that fails as misuse.
        queue.finish_blocking().unwrap();
        assert!(event.failure().is_some());
    } else {
        assert!(event.wait().is_err());
    }
    let operands = SlotsOperands {
        alpha: one.into(),
        x: &x,
        beta: Number::F32(0.0).into(),
        y: y.as_any_mut(),
    };
    plan.launch(&queue, &mut workspace, operands, &[]).unwrap().wait().unwrap();
    let found = y.read_blocking(&queue).unwrap();
    check_product(&host, 1.0, &host_x, 0.0, &found, &found, Accumulate::Plain);
}
