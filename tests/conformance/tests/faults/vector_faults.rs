//! Every allocation, build, enqueue and wait of operations on dense vectors fails in turn: as `faults.rs`.

#![expect(clippy::unwrap_used, reason = "a test panics when its claim is broken")]

use cl_runtime::raw::fault::Kind;
use conformance::{alone, bits, device, fail_each, names};
use sparrow::{
    BinaryCache, Combination, Context, DeviceArray, KernelBuild, Queue, Reduction, Result,
    VectorOptions, Vectors,
};

/// Several groups of a GPU's kind.
const LENGTH: usize = 1500;

/// All of it, twice: upload, kernels, an operation of each kind, read back.
fn compute(queue: &Queue) -> Result<Vec<f32>> {
    let x = DeviceArray::upload_blocking(queue, &csr_core::random_vector::<f32>(1, LENGTH))?;
    let y = DeviceArray::upload_blocking(queue, &csr_core::random_vector::<f32>(2, LENGTH))?;
    let mut r = DeviceArray::upload_blocking(queue, &vec![f32::NAN; LENGTH])?;
    let integers = DeviceArray::upload_blocking(queue, &vec![3i32; LENGTH])?;
    let parameters = [("group_size", 32), ("lanes", 4), ("loads", 2)];
    let options = VectorOptions {
        build: KernelBuild::AtFirstUse,
        parameters: parameters.map(|(name, value)| (name.to_owned(), value)).to_vec(),
        ..VectorOptions::default()
    };
    let mut vectors = Vectors::<f32>::new_blocking(queue, &options)?;
    let mut found = Vec::new();
    for _ in 0..2 {
        vectors.axpy(queue, (2.0.into(), &x), &y, &mut r, &[])?;
        let itself = r.slice(0..LENGTH)?;
        vectors.combine(queue, Combination::Multiply, (&itself, &x), &mut r, &[])?;
        found.push(vectors.dot_blocking(queue, &r, &y, &[])?);
        found.push(vectors.reduce_blocking(queue, Reduction::Norm2, &r, &[])?);
        found.push(vectors.sum_integers_blocking(queue, &integers, &[])? as f32);
    }
    found.extend(r.read_blocking(queue)?);
    Ok(found)
}

fn stage() -> Queue {
    Queue::new(&Context::with_cache(&device(), BinaryCache::Off).unwrap()).unwrap()
}

#[test]
fn operations_on_vectors_fail_at_any_call_and_the_next_are_right() {
    let _turn = alone();
    let queue = stage();
    let expected = compute(&queue).unwrap();
    assert_eq!(expected[2], 4500.0);
    assert_eq!(bits(&expected[..3]), bits(&expected[3..6]));
    let expected = bits(&expected);
    let run = |queue: &Queue| Ok(bits(&compute(queue)?));
    let fail = |kind| fail_each("vectors", (kind, None), || queue.clone(), run, &expected);
    assert_eq!(names(&fail(Kind::Allocation)), names(&["clCreateBuffer", "clCreateKernel"]));
    let enqueues = names(&fail(Kind::Enqueue));
    assert!(enqueues.contains("clEnqueueNDRangeKernel"), "{enqueues:?}");
    assert!(names(&fail(Kind::Wait)).contains("clWaitForEvents"));
    let builds = fail_each("vectors", (Kind::Build, None), stage, run, &expected);
    assert_eq!(builds, ["clCreateProgramWithSource", "clBuildProgram"].repeat(5));
}
