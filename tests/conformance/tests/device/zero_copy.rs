//! An application's arrays serve host and device at once: nothing is copied, and kernels find them where the application
//! has them.
#![expect(clippy::unwrap_used, reason = "a test panics when its claim is broken")]
#![expect(unsafe_code, reason = "operands that the host reaches where they lie")]

use cl_kernels::DeviceTraits;
use cl_runtime::raw::copied_bytes;
use conformance::in_place::{InPlace, Lies, MatrixInPlace, address_in_a_kernel, ways};
use conformance::{check_product, csr, device, is_interpreter, options, queue, queue_on, say};
use opencl3::memory;
use sparrow::{
    Accumulate, Algorithm, Context, Csr, DeviceArray, HeteroPlan, Matrix, Operands, Partner, Plan,
    PlanOptions, Queue, RealValue, Share, Variant,
};

fn small() -> PlanOptions {
    options(Algorithm::SegmentedSum, Variant::Device, Accumulate::Plain)
}

/// Rows of all lengths, empty ones between them.
fn host_matrix<V: RealValue>() -> Csr<V> {
    let lengths: Vec<usize> = (0..700).map(|row| [3, 0, 70, 5, 1, 9, 0, 2][row % 8]).collect();
    csr(500, &lengths, 3)
}

#[test]
fn kernels_and_the_host_find_arrays_where_the_application_has_them() {
    let queue = queue();
    if is_interpreter(queue.context().device()) {
        say("addresses in kernels: not applicable, Oclgrind's are no addresses of the process");
        return;
    }
    for lies in ways(&queue) {
        let mut array = InPlace::new(&queue, lies, &[1.0f32; 100]);
        let there = array.address() + 4;
        let part = array.array().slice(1..100).unwrap();
        assert_eq!(address_in_a_kernel(&queue, &part), there, "{lies:?}");
        // SAFETY: nothing is in flight.
        let seen = unsafe { part.view_blocking(&queue).unwrap().as_ptr().addr() };
        assert_eq!(seen, there, "{lies:?}");
        // SAFETY: as above.
        let mut view = unsafe { array.array_mut().view_mut_blocking(&queue).unwrap() };
        assert_eq!(view.as_mut_ptr().addr() + 4, there, "{lies:?}");
        view.unmap_blocking().unwrap();
    }
    // What the library has allocated itself, as scratch memory, is the host's as it is the kernels'.
    let scratch = DeviceArray::upload_blocking(&queue, &[0u32; 100]).unwrap();
    // SAFETY: as above.
    let seen = unsafe { scratch.view_blocking(&queue).unwrap().as_ptr().addr() };
    assert_eq!(address_in_a_kernel(&queue, &scratch), seen);
}

/// Where y of a product lies that both sides write.
#[derive(Clone, Copy, Debug, PartialEq)]
enum YLies {
    /// In a part of a buffer.
    Part,
    /// In a part of a buffer that the application has released.
    OrphanedPart,
    /// In coarse-grained shared virtual memory.
    CoarseMemory,
}

/// One product of both sides, y of which lies there between numbers that are not its own; returns the bytes that were copied.
fn copied_for_y(queue: &Queue, lies: YLies, share: f64, beta: f32) -> usize {
    let host: Csr<f32> = host_matrix();
    let host_x: Vec<f32> = csr_core::random_vector(5, host.cols());
    let a = Matrix::upload_blocking(queue, host.view()).unwrap();
    let x = DeviceArray::upload_blocking(queue, &host_x).unwrap();
    let unit = queue.context().device().traits().base_align_bytes as usize / 4;
    let (before, len) = (2 * unit + 3, 4 * unit + host.rows());
    let mine: Vec<f32> = csr_core::random_vector(9, len);
    let y_before = if beta == 0.0 { vec![f32::NAN; host.rows()] } else { vec![0.75; host.rows()] };
    let mut content = mine.clone();
    content[before..before + host.rows()].copy_from_slice(&y_before);
    let context = queue.context().as_raw();
    let flags = memory::CL_MEM_READ_WRITE;
    let (mut whole, svm) = match lies {
        YLies::CoarseMemory => {
            // SAFETY: the context is valid, the array as long as the memory, which is freed after it.
            unsafe {
                let svm = memory::svm_alloc(context, flags, 4 * len, 0).unwrap();
                (DeviceArray::<f32>::from_svm(svm.cast(), len, false).unwrap(), Some(svm))
            }
        }
        _ => (DeviceArray::upload_blocking(queue, &content).unwrap(), None),
    };
    whole.write_blocking(queue, &content).unwrap();
    let mut y = match lies {
        YLies::CoarseMemory => whole.slice(before..before + host.rows()).unwrap(),
        _ => {
            let part = whole.memory().0.sub_buffer(8 * unit, 4 * (len - 2 * unit)).unwrap();
            DeviceArray::of_memory(part, 12, host.rows()).unwrap()
        }
    };
    let kept = (lies != YLies::OrphanedPart).then_some(whole);
    let (partner, share) = (Partner::Host, Share::Fixed(share));
    let mut plan = HeteroPlan::new_blocking(queue, &a, partner, share, &small()).unwrap();
    let product = Operands { alpha: 1.5.into(), a: &a, x: &x, beta: beta.into(), y: &mut y };
    // SAFETY: nothing is in flight.
    let done = unsafe { plan.product_blocking(queue, product, &[]) }.unwrap();
    let found = y.read_blocking(queue).unwrap();
    check_product(&host, 1.5, &host_x, beta, &y_before, &found, Accumulate::Plain);
    if let Some(whole) = kept {
        let all = whole.read_blocking(queue).unwrap();
        assert_eq!(all[..before], mine[..before], "{lies:?}");
        let after = before + host.rows();
        assert_eq!(all[after..], mine[after..], "{lies:?}");
    }
    drop(y);
    if let Some(svm) = svm {
        queue.finish_blocking().unwrap();
        // SAFETY: it was allocated there, and nothing uses it any more.
        unsafe { memory::svm_free(context, svm).unwrap() };
    }
    done.copied_bytes
}

#[test]
fn a_y_that_is_a_part_of_a_buffer_is_written_where_it_lies() {
    let queue = queue();
    if !queue.context().device().traits().host_access().is_shared() {
        say("y in place: not applicable, the device shares no memory with the host");
        return;
    }
    for (share, beta) in [(0.3, 0.5), (0.5, 0.0), (0.97, 0.5), (1.0, 2.0)] {
        assert_eq!(copied_for_y(&queue, YLies::Part, share, beta), 0, "{share}");
        // There are drivers that give out no reference to what the application has released: then it is copied.
        copied_for_y(&queue, YLies::OrphanedPart, share, beta);
    }
}

#[test]
fn of_a_y_in_coarse_grained_memory_the_partners_rows_alone_are_copied() {
    let queue = queue();
    let traits = queue.context().device().traits();
    if !traits.svm.coarse_grain_buffer || !traits.host_access().is_shared() {
        say("coarse-grained shared virtual memory: not applicable, the device has none");
        return;
    }
    let y_bytes = 4 * host_matrix::<f32>().rows();
    for share in [0.3, 0.5, 0.97] {
        let written = copied_for_y(&queue, YLies::CoarseMemory, share, 0.0);
        assert!(written > 0 && written <= y_bytes, "{written} of {y_bytes} at {share}");
        assert_eq!(copied_for_y(&queue, YLies::CoarseMemory, share, 0.5), 2 * written);
    }
    // All of it by the partner: nobody else writes it meanwhile.
    assert_eq!(copied_for_y(&queue, YLies::CoarseMemory, 1.0, 0.5), 0);
}

/// Products of both sides at every share, on arrays that lie there.
fn is_in_place<V: RealValue<Accum = V>>(queue: &Queue, lies: Lies) {
    let host: Csr<V> = host_matrix();
    let host_x: Vec<V> =
        csr_core::random_vector::<f64>(5, host.cols()).into_iter().map(V::from_f64).collect();
    let a = MatrixInPlace::new(queue, lies, &host);
    let x = InPlace::new(queue, lies, &host_x);
    for (share, beta) in [(0.0, 0.0), (0.3, 0.5), (0.5, 0.0), (0.97, 0.5), (1.0, 0.0), (1.0, 2.0)] {
        let before = vec![V::from_f64(if beta == 0.0 { f64::NAN } else { 0.75 }); host.rows()];
        let mut y = InPlace::new(queue, lies, &before);
        let (alpha, beta) = (V::from_f64(1.5), V::from_f64(beta));
        let share = Share::Fixed(share);
        let copied = copied_bytes();
        let mut plan =
            HeteroPlan::new_blocking(queue, &a.matrix, Partner::Host, share, &small()).unwrap();
        assert_eq!(plan.matrix_copied_bytes(), 0, "{lies:?}");
        // Zeros that workspaces begin with, and nothing of the matrix.
        assert!(copied_bytes() - copied <= plan.workspace_bytes() as u64, "{lies:?}");
        let copied = copied_bytes();
        let product = Operands {
            alpha: alpha.into(),
            a: &a.matrix,
            x: x.array(),
            beta: beta.into(),
            y: y.array_mut(),
        };
        // SAFETY: nothing is in flight.
        let done = unsafe { plan.product_blocking(queue, product, &[]) }.unwrap();
        assert_eq!((done.copied_bytes, copied_bytes() - copied), (0, 0), "{lies:?}, {share:?}");
        if share != Share::Fixed(0.0) {
            assert!(done.shared_bytes > size_of_val(&host_x[..]), "{lies:?}, {done:?}");
        }
        let found = y.array().read_blocking(queue).unwrap();
        check_product(&host, alpha, &host_x, beta, &before, &found, Accumulate::Plain);
    }
}

#[test]
fn both_sides_multiply_without_a_copy() {
    let queue = queue();
    for lies in ways(&queue) {
        is_in_place::<f32>(&queue, lies);
        if queue.context().device().traits().has_f64 {
            is_in_place::<f64>(&queue, lies);
        }
    }
}

#[test]
fn both_stages_run_without_a_copy() {
    let queue = queue();
    let host: Csr<f32> = host_matrix();
    let host_x: Vec<f32> = csr_core::random_vector(5, host.cols());
    for lies in ways(&queue) {
        let a = MatrixInPlace::new(&queue, lies, &host);
        let x = InPlace::new(&queue, lies, &host_x);
        for variant in [Variant::Cpu, Variant::Device] {
            let mut y = InPlace::new(&queue, lies, &vec![f32::NAN; host.rows()]);
            let options = options(Algorithm::SegmentedSum, variant, Accumulate::Plain);
            let plan = Plan::new_blocking(&queue, &a.matrix, &options).unwrap();
            let mut workspace = plan.workspace_blocking(&queue).unwrap();
            let copied = copied_bytes();
            let (x, y) = (x.array(), y.array_mut());
            let product = Operands { alpha: 1.0.into(), a: &a.matrix, x, beta: 0.0.into(), y };
            // SAFETY: nothing is in flight.
            let stages =
                unsafe { plan.launch_in_place_blocking(&queue, &mut workspace, product, &[]) };
            let stages = stages.unwrap();
            assert_eq!((stages.copied_bytes, copied_bytes() - copied), (0, 0), "{lies:?}");
            assert!(stages.dirty_tiles > 0, "{stages:?}");
            let found = y.read_blocking(&queue).unwrap();
            check_product(&host, 1.0, &host_x, 0.0, &found, &found, Accumulate::Plain);
        }
    }
}

#[test]
fn a_product_of_both_takes_hardly_more_memory_than_its_matrix() {
    let queue = queue();
    let lengths: Vec<usize> = (0..8000).map(|row| [9, 0, 5, 7][row % 4]).collect();
    let host: Csr<f32> = csr(500, &lengths, 3);
    let numbers: Vec<f32> = csr_core::random_vector(5, host.cols());
    for lies in ways(&queue) {
        let a = MatrixInPlace::new(&queue, lies, &host);
        let x = InPlace::new(&queue, lies, &numbers);
        let mut y = InPlace::new(&queue, lies, &vec![f32::NAN; host.rows()]);
        let options = PlanOptions::default();
        let (partner, share) = (Partner::Host, Share::Fixed(0.5));
        let mut plan =
            HeteroPlan::new_blocking(&queue, &a.matrix, partner, share, &options).unwrap();
        let (x, y) = (x.array(), y.array_mut());
        let product = Operands { alpha: 1.0.into(), a: &a.matrix, x, beta: 0.0.into(), y };
        // SAFETY: nothing is in flight.
        unsafe { plan.product_blocking(&queue, product, &[]).unwrap() };
        let (extra, matrix) = (plan.extra_bytes(), host.size_bytes());
        assert!(extra * 50 <= matrix, "{extra} bytes beyond the matrix's {matrix}");
    }
}

#[test]
fn a_second_device_reads_the_matrix_where_it_lies() {
    let queue = queue();
    let second = Queue::new(&Context::new(queue.context().device()).unwrap()).unwrap();
    let host: Csr<f32> = host_matrix();
    let host_x: Vec<f32> = csr_core::random_vector(5, host.cols());
    let poison = vec![f32::NAN; host.rows()];
    for lies in ways(&queue) {
        let a = MatrixInPlace::new(&queue, lies, &host);
        let x = InPlace::new(&queue, lies, &host_x);
        let mut y = InPlace::new(&queue, lies, &poison);
        let (partner, share) = (Partner::Device(&second), Share::Fixed(0.5));
        let mut plan =
            HeteroPlan::new_blocking(&queue, &a.matrix, partner, share, &small()).unwrap();
        let y_bytes = size_of_val(&poison[..]);
        let ours = plan.extra_bytes() - y_bytes;
        assert!(ours < host.size_bytes() / 2, "{ours} of {}", host.size_bytes());
        let (x, y) = (x.array(), y.array_mut());
        let product = Operands { alpha: 1.0.into(), a: &a.matrix, x, beta: 0.0.into(), y };
        // SAFETY: nothing is in flight.
        let done = unsafe { plan.product_blocking(&queue, product, &[]) }.unwrap();
        // Its rows of y alone, read from its device and at most once more written to the first one's.
        assert!(done.copied_bytes > 0 && done.copied_bytes <= 2 * y_bytes, "{done:?}");
        let found = y.read_blocking(&queue).unwrap();
        check_product(&host, 1.0, &host_x, 0.0, &poison, &found, Accumulate::Plain);
    }
}

#[test]
fn a_device_with_memory_of_its_own_says_what_was_copied() {
    let masked = device().masked(|traits: &mut DeviceTraits| traits.has_host_memory = false);
    let queue = queue_on(&masked);
    let host: Csr<f32> = host_matrix();
    let host_x: Vec<f32> = csr_core::random_vector(5, host.cols());
    let poison = vec![f32::NAN; host.rows()];
    let a = Matrix::upload_blocking(&queue, host.view()).unwrap();
    let x = DeviceArray::upload_blocking(&queue, &host_x).unwrap();
    let mut y = DeviceArray::upload_blocking(&queue, &poison).unwrap();
    let share = Share::Fixed(0.5);
    let copied = copied_bytes();
    let mut plan = HeteroPlan::new_blocking(&queue, &a, Partner::Host, share, &small()).unwrap();
    assert_eq!(plan.matrix_copied_bytes(), host.size_bytes());
    assert!(copied_bytes() - copied >= host.size_bytes() as u64);
    let product = Operands { alpha: 1.0.into(), a: &a, x: &x, beta: 0.0.into(), y: &mut y };
    // SAFETY: nothing is in flight.
    let done = unsafe { plan.product_blocking(&queue, product, &[]) }.unwrap();
    assert!(done.shared_bytes == 0 && done.copied_bytes > size_of_val(&host_x[..]), "{done:?}");
    let found = y.read_blocking(&queue).unwrap();
    check_product(&host, 1.0, &host_x, 0.0, &poison, &found, Accumulate::Plain);
}

#[test]
fn addresses_that_no_array_can_have_are_refused() {
    let refused = |address: usize, len: usize| {
        let pointer = std::ptr::without_provenance_mut::<f32>(address);
        // SAFETY: nothing is read there.
        unsafe { DeviceArray::from_svm(pointer, len, false) }.map(drop)
    };
    let text = refused(0, 3).unwrap_err().to_string();
    assert!(text.contains("must not be null, as 3 elements are needed"), "{text}");
    let text = refused(4098, 3).unwrap_err().to_string();
    assert!(
        text.contains("4098") && text.contains("a multiple of the element's 4 bytes"),
        "{text}"
    );
    assert!(refused(0, 0).is_ok());
}
