//! Two devices on one product, and stage 2 on the CPU: right on every shape at every share, and without a
//! copy where memory is shared.

#![expect(clippy::unwrap_used, reason = "a test panics when its claim is broken")]

use conformance::{
    LIMITS, check_product, csr, is_full, is_interpreter, options, queue, say, shapes,
};
use csr_core::Csr;
use sparrow::{
    Accumulate, Algorithm, Context, DeviceArray, HeteroPlan, HostAccess, LEARNING_PRODUCTS, Matrix,
    Operands, Partner, Plan, PlanOptions, Queue, RealValue, Share, Shared, Variant,
};

fn small() -> PlanOptions {
    options(Algorithm::SegmentedSum, Variant::Device, Accumulate::Plain)
}

/// A y that is NaN where it must not be read.
fn y_before<V: RealValue<Accum = V>>(rows: usize, beta: f64) -> Vec<V> {
    match beta {
        0.0 => vec![V::from_f64(f64::NAN); rows],
        _ => {
            csr_core::random_vector::<f64>(3, rows).into_iter().map(V::from_f64).collect::<Vec<V>>()
        }
    }
}

/// One product, with nothing else in flight.
fn multiply<V: RealValue>(
    plan: &mut HeteroPlan<'_, V>,
    queue: &Queue,
    product: Operands<'_, V, u32>,
) -> Shared {
    // SAFETY: the tests have waited for what they enqueued.
    #[expect(unsafe_code, reason = "nothing that was enqueued touches the operands")]
    let done = unsafe { plan.product_blocking(queue, product, &[]) };
    done.unwrap()
}

/// One product by `queue`'s device and `partner`, at a fixed share, held against the oracle.
fn check_share<V: RealValue<Accum = V>>(
    queue: &Queue,
    matrix: &Csr<V>,
    partner: Partner<'_>,
    share: f64,
    beta: f64,
) {
    let (alpha, beta_value) = (V::from_f64(1.5), V::from_f64(beta));
    let host_x: Vec<V> =
        csr_core::random_vector::<f64>(5, matrix.cols()).into_iter().map(V::from_f64).collect();
    let before = y_before::<V>(matrix.rows(), beta);
    let a = Matrix::upload_blocking(queue, matrix.view()).unwrap();
    let x = DeviceArray::upload_blocking(queue, &host_x).unwrap();
    let mut y = DeviceArray::upload_blocking(queue, &before).unwrap();
    let share = Share::Fixed(share);
    let mut plan = HeteroPlan::new_blocking(queue, &a, partner, share, &small()).unwrap();
    assert!(plan.is_repeatable());
    let mut first = None;
    for _ in 0..2 {
        y.write_blocking(queue, &before).unwrap();
        let product =
            Operands { alpha: alpha.into(), a: &a, x: &x, beta: beta_value.into(), y: &mut y };
        multiply(&mut plan, queue, product);
        let found = y.read_blocking(queue).unwrap();
        check_product(matrix, alpha, &host_x, beta_value, &before, &found, Accumulate::Plain);
        let bits: Vec<u64> = found.iter().map(|value| value.to_f64().to_bits()).collect();
        assert_eq!(first.get_or_insert(bits.clone()), &bits);
    }
}

#[test]
fn two_devices_are_right_on_every_shape_at_every_share() {
    let queue = queue();
    let second = Queue::new(&Context::new(queue.context().device()).unwrap()).unwrap();
    let is_interpreted = is_interpreter(queue.context().device());
    if is_interpreted {
        say(
            "skipped: a second device that reads y: Oclgrind takes what is written in part for uninitialised",
        );
    }
    for (number, shape) in shapes(&LIMITS).iter().enumerate() {
        // An interpreter takes long: every other shape will do where other implementations take all.
        if is_interpreted && !is_full() && number % 2 == 1 {
            continue;
        }
        let matrix: Csr<f32> = shape.matrix().unwrap();
        // Which partner, and whether y is read, change from share to share.
        for (turn, share) in [0.0, 0.03, 0.25, 0.5, 0.9, 1.0].into_iter().enumerate() {
            // And of the shares every other, in turn.
            if is_interpreted && !is_full() && (number / 2 + turn) % 2 == 1 {
                continue;
            }
            let partner = match (number + turn) % 3 {
                0 => Partner::Device(&second),
                _ => Partner::Host,
            };
            let reads_y = (number + turn) % 2 == 1;
            let is_skipped = is_interpreted && matches!(partner, Partner::Device(_));
            let beta = if reads_y && !is_skipped { 0.5 } else { 0.0 };
            check_share(&queue, &matrix, partner, share, beta);
        }
    }
}

#[test]
fn alone_the_first_device_computes_as_a_plan_by_default_does() {
    let queue = queue();
    let lengths: Vec<usize> = (0..600).map(|row| row % 37).collect();
    let host: Csr<f32> = csr(500, &lengths, 7);
    let a = Matrix::upload_blocking(&queue, host.view()).unwrap();
    let host_x = csr_core::random_vector::<f32>(5, host.cols());
    let x = DeviceArray::upload_blocking(&queue, &host_x).unwrap();
    let mut y = DeviceArray::upload_blocking(&queue, &vec![f32::NAN; host.rows()]).unwrap();
    let (one, zero) = (1.0_f32, 0.0_f32);
    let plan = Plan::new_blocking(&queue, &a, &PlanOptions::default()).unwrap();
    let mut workspace = plan.workspace_blocking(&queue).unwrap();
    let product = Operands { alpha: one.into(), a: &a, x: &x, beta: zero.into(), y: &mut y };
    plan.launch(&queue, &mut workspace, product, &[]).unwrap().wait().unwrap();
    let by_plan = y.read_blocking(&queue).unwrap();
    let alone = Share::Fixed(0.0);
    // Whatever is asked of pieces.
    let mut both = HeteroPlan::new_blocking(&queue, &a, Partner::Host, alone, &small()).unwrap();
    y.write_blocking(&queue, &vec![f32::NAN; host.rows()]).unwrap();
    let product = Operands { alpha: one.into(), a: &a, x: &x, beta: zero.into(), y: &mut y };
    multiply(&mut both, &queue, product);
    assert!(y.read_blocking(&queue).unwrap() == by_plan, "other bits than the plan's");
}

#[test]
fn f64_is_shared_too() {
    let queue = queue();
    if !queue.context().device().traits().has_f64 {
        say("a shared product in f64: not applicable, the device has no f64");
        return;
    }
    let second = Queue::new(&Context::new(queue.context().device()).unwrap()).unwrap();
    let all = shapes(&LIMITS);
    let shape = all.iter().find(|shape| shape.name == "rows_around_every_limit").unwrap();
    let matrix: Csr<f64> = shape.matrix().unwrap();
    check_share(&queue, &matrix, Partner::Host, 0.4, 0.5);
    check_share(&queue, &matrix, Partner::Device(&second), 0.4, 0.0);
}

#[test]
fn a_share_is_learnt_within_its_products_and_then_kept() {
    let queue = queue();
    let matrix: Csr<f32> = shapes(&LIMITS)[11].matrix().unwrap();
    let a = Matrix::upload_blocking(&queue, matrix.view()).unwrap();
    let x = DeviceArray::upload_blocking(&queue, &vec![1.0f32; matrix.cols()]).unwrap();
    let mut y = DeviceArray::upload_blocking(&queue, &vec![f32::NAN; matrix.rows()]).unwrap();
    let share = Share::Learnt { device: 1.0, partner: 1.0 };
    let mut plan = HeteroPlan::new_blocking(&queue, &a, Partner::Host, share, &small()).unwrap();
    assert!(!plan.is_repeatable());
    let mut shares = Vec::new();
    for _ in 0..LEARNING_PRODUCTS {
        let product = Operands { alpha: 1.0.into(), a: &a, x: &x, beta: 0.0.into(), y: &mut y };
        shares.push(multiply(&mut plan, &queue, product).share);
    }
    assert!(plan.is_settled());
    // The first products are the first device's alone, and then the partner gets its part.
    assert_eq!(shares[0], 0.0);
    assert!(shares.iter().any(|&share| share > 0.0), "{shares:?}");
    let settled = plan.share();
    let product = Operands { alpha: 1.0.into(), a: &a, x: &x, beta: 0.0.into(), y: &mut y };
    multiply(&mut plan, &queue, product);
    assert_eq!(plan.share(), settled);
}

/// Arrays for one product, in shared virtual memory.
fn in_shared_memory(queue: &Queue, data: &[f32]) -> DeviceArray<f32> {
    let mut array = DeviceArray::allocate_svm(queue.context(), data.len()).unwrap();
    array.write_blocking(queue, data).unwrap();
    array
}

fn address_of(array: &DeviceArray<f32>) -> usize {
    match array.memory() {
        (cl_runtime::raw::Memory::Svm(allocation), start) => allocation.as_raw().addr() + start,
        (cl_runtime::raw::Memory::Buffer(_), _) => 0,
    }
}

#[test]
fn shared_memory_is_reached_where_it_lies() {
    let queue = queue();
    let access = queue.context().device().traits().host_access();
    let svm =
        [HostAccess::FineGrainedSystem, HostAccess::FineGrainedBuffer, HostAccess::CoarseGrained];
    if !svm.contains(&access) {
        say(&format!("arrays without a copy: not applicable, the CPU reaches them {access}"));
        return;
    }
    let all = shapes(&LIMITS);
    let shape = all.iter().find(|shape| shape.name == "empty_rows_around_tiles").unwrap();
    let matrix: Csr<f32> = shape.matrix().unwrap();
    let host_x: Vec<f32> = csr_core::random_vector(5, matrix.cols());
    let poison = vec![f32::NAN; matrix.rows()];
    let a = Matrix::upload_blocking(&queue, matrix.view()).unwrap();
    let x = in_shared_memory(&queue, &host_x);
    let mut y = in_shared_memory(&queue, &poison);

    // What the host sees is the array itself, not a copy of it.
    let its_address = address_of(&y);
    // SAFETY: nothing is in flight.
    #[expect(unsafe_code, reason = "nothing that was enqueued touches y")]
    let seen = unsafe { y.view_blocking(&queue).unwrap().as_ptr().addr() };
    assert_eq!(seen, its_address);

    // Stage 2 on the CPU copies nothing.
    let options = options(Algorithm::SegmentedSum, Variant::Cpu, Accumulate::Plain);
    let plan = Plan::new_blocking(&queue, &a, &options).unwrap();
    let mut workspace = plan.workspace_blocking(&queue).unwrap();
    let product = Operands { alpha: 1.0.into(), a: &a, x: &x, beta: 0.0.into(), y: &mut y };
    // SAFETY: nothing is in flight.
    #[expect(unsafe_code, reason = "nothing that was enqueued touches the operands")]
    let stages = unsafe { plan.launch_in_place_blocking(&queue, &mut workspace, product, &[]) };
    let stages = stages.unwrap();
    assert!(stages.dirty_tiles > 0 && stages.dirty_tiles <= stages.tiles, "{stages:?}");
    assert_eq!(stages.copied_bytes, 0);
    assert!(stages.shared_bytes >= 4 * matrix.rows(), "{stages:?}");
    let found = y.read_blocking(&queue).unwrap();
    check_product(&matrix, 1.0, &host_x, 0.0, &poison, &found, Accumulate::Plain);

    // Nor does a partner where memory is fine-grained; else its rows of y are copied, and counted.
    y.write_blocking(&queue, &poison).unwrap();
    let mut plan =
        HeteroPlan::new_blocking(&queue, &a, Partner::Host, Share::Fixed(0.5), &small()).unwrap();
    let product = Operands { alpha: 1.0.into(), a: &a, x: &x, beta: 0.0.into(), y: &mut y };
    let shared = multiply(&mut plan, &queue, product);
    assert!(shared.shared_bytes >= 4 * matrix.cols(), "{shared:?}");
    assert_eq!(shared.copied_bytes == 0, access != HostAccess::CoarseGrained, "{shared:?}");
    let found = y.read_blocking(&queue).unwrap();
    check_product(&matrix, 1.0, &host_x, 0.0, &poison, &found, Accumulate::Plain);
}

#[test]
fn what_two_devices_cannot_do_is_refused() {
    let queue = queue();
    let matrix: Csr<f32> = shapes(&LIMITS)[3].matrix().unwrap();
    let a = Matrix::upload_blocking(&queue, matrix.view()).unwrap();
    let refusal = |share, options: &PlanOptions| {
        let host = Partner::Host;
        let plan = HeteroPlan::new_blocking(&queue, &a, host, share, options);
        plan.map(drop).unwrap_err().to_string()
    };
    let text = refusal(Share::Fixed(1.5), &small());
    assert_eq!(text, "the partner's share is 1.5, and it must be 0 to 1");
    let compensated = PlanOptions { accumulate: Accumulate::Compensated, ..small() };
    assert!(refusal(Share::Fixed(0.5), &compensated).contains("plain sums"));
    // The one blocking variant does not launch.
    let options = options(Algorithm::SegmentedSum, Variant::Cpu, Accumulate::Plain);
    let plan = Plan::new_blocking(&queue, &a, &options).unwrap();
    let mut workspace = plan.workspace_blocking(&queue).unwrap();
    let x = DeviceArray::upload_blocking(&queue, &[1.0f32]).unwrap();
    let mut y = DeviceArray::upload_blocking(&queue, &[1.0f32]).unwrap();
    let product = Operands { alpha: 1.0.into(), a: &a, x: &x, beta: 0.0.into(), y: &mut y };
    let error = plan.launch(&queue, &mut workspace, product, &[]).unwrap_err().to_string();
    let blocks = "a launch that does not block cannot go with stage 2 on the CPU: launch_in_place_blocking (in C, \
                  sparrow_plan_launch_blocking) makes such products";
    assert_eq!(error, blocks);
    // Nor does a function that cannot know what else is in flight.
    let product = Operands { alpha: 1.0.into(), a: &a, x: &x, beta: 0.0.into(), y: &mut y };
    let error = plan.launch_blocking(&queue, &mut workspace, product, &[]).unwrap_err().to_string();
    assert!(error.contains("launch_in_place_blocking makes such products"), "{error}");
}

/// The paper's dirty tiles: those that have an empty row, however many.
fn dirty_tiles(matrix: &Csr<f32>, tile: usize) -> usize {
    let offsets = matrix.pattern().offsets();
    // The last row that begins at a boundary or before it, as the paper searches it.
    let row_at =
        |boundary: usize| offsets.partition_point(|&offset| offset as usize <= boundary) - 1;
    let tiles = matrix.nnz().div_ceil(tile);
    let is_dirty = |&number: &usize| {
        let rows = row_at(number * tile)..row_at((number * tile + tile).min(matrix.nnz()));
        rows.into_iter().any(|row| offsets[row] == offsets[row + 1])
    };
    (0..tiles).filter(is_dirty).count()
}

#[test]
fn dirty_tiles_are_tiles_with_empty_rows_as_the_paper_counts_them() {
    let queue = queue();
    // Many empty rows before the first nonzero, in the middle of a tile, at a boundary, and at the end.
    let tile = LIMITS.tile;
    let mut lengths = vec![0; 3000];
    lengths.extend([tile / 2]);
    lengths.extend(vec![0; 9000]);
    lengths.extend([tile / 2, tile, 0, 2 * tile, 3, 0, 0, tile]);
    lengths.extend(vec![1; 3 * tile]);
    lengths.extend(vec![0; 5000]);
    let matrix: Csr<f32> = csr(500, &lengths, 3);
    let expected = dirty_tiles(&matrix, tile);
    assert!(expected >= 4);
    let a = Matrix::upload_blocking(&queue, matrix.view()).unwrap();
    let host_x: Vec<f32> = csr_core::random_vector(5, matrix.cols());
    let x = DeviceArray::upload_blocking(&queue, &host_x).unwrap();
    for variant in [Variant::Device, Variant::Cpu] {
        for beta in [0.0, 0.5] {
            let before = y_before::<f32>(matrix.rows(), beta.into());
            let mut y = DeviceArray::upload_blocking(&queue, &before).unwrap();
            let options = options(Algorithm::SegmentedSum, variant, Accumulate::Plain);
            let plan = Plan::new_blocking(&queue, &a, &options).unwrap();
            let mut workspace = plan.workspace_blocking(&queue).unwrap();
            for _ in 0..2 {
                y.write_blocking(&queue, &before).unwrap();
                let product =
                    Operands { alpha: 1.0.into(), a: &a, x: &x, beta: beta.into(), y: &mut y };
                // SAFETY: nothing is in flight.
                #[expect(unsafe_code, reason = "nothing that was enqueued touches the operands")]
                let stages =
                    unsafe { plan.launch_in_place_blocking(&queue, &mut workspace, product, &[]) };
                let stages = stages.unwrap();
                let found = (stages.tiles, stages.dirty_tiles);
                assert_eq!(found, (matrix.nnz().div_ceil(tile), expected), "{variant:?}, {beta}");
                let found = y.read_blocking(&queue).unwrap();
                check_product(&matrix, 1.0, &host_x, beta, &before, &found, Accumulate::Plain);
            }
        }
    }
}
