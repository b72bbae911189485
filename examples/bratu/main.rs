//! Solves the Bratu problem (solid fuel ignition, PETSc's SNES example 14) in three dimensions, all on one device:
//! `cargo run --release --example bratu -- [EDGE] [ALGORITHM|own-order|auto|compare] [LAMBDA]`.
//!
//! Newton's iteration, each of whose linear systems conjugate gradients solve. The pattern of the Jacobian is planned
//! for once; a kernel of this program writes its new diagonal where the matrix's values lie. `compare` does it by
//! every algorithm and tells how much of the time is products, as Guo, Gropp and Olson do for EVC-HYB (Figure 16,
//! where EDGE is 200). `own-order` is EVC-HYB with vectors in the plan's order while a linear system is solved, which are
//! reordered at its end alone, as those authors advise.

#![expect(clippy::print_stdout, reason = "an example shows its result")]
#![expect(unsafe_code, reason = "handles and kernels of the application's own")]

mod device;
mod problem;
mod solver;

use std::error::Error;
use std::time::Duration;

use sparrow::{Algorithm, Device, VectorOrder};

use device::OnDevice;
use problem::Problem;
use solver::{Report, Solver};

/// Runs in seconds on two cores.
const DEFAULT_EDGE: usize = 32;
/// Nonzeros are counted in 32 bits.
const MOST_EDGE: usize = 800;
/// PETSc's; there is a solution below about 9.9.
const DEFAULT_LAMBDA: f64 = 6.0;

const USAGE: &str = "usage: bratu [EDGE] [ALGORITHM|own-order|auto|compare] [LAMBDA]";
const OWN_ORDER: &str = "own-order";

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let argument = |index: usize| arguments.get(index).map(String::as_str);
    let edge = argument(0).map_or(Ok(DEFAULT_EDGE), str::parse).unwrap_or(0);
    let lambda = argument(2).map_or(Ok(DEFAULT_LAMBDA), str::parse).unwrap_or(f64::NAN);
    if edge == 0 || edge > MOST_EDGE || lambda.is_nan() || arguments.len() > 3 {
        return Err(format!("{USAGE}, where EDGE is in 1..={MOST_EDGE}").into());
    }
    let wanted = match argument(1) {
        None | Some("auto" | "compare") => None,
        Some(OWN_ORDER) => Some(Algorithm::EvcHyb),
        Some(name) => Some(name.parse::<Algorithm>()?),
    };
    let order = match argument(1) {
        Some(OWN_ORDER) => VectorOrder::Symmetric,
        _ => VectorOrder::Original,
    };

    let device = Device::best()?;
    let name = &device.traits().name;
    if !device.traits().has_f64 {
        return Err(format!("{name} has no double precision").into());
    }
    let mut on_device = OnDevice::new_blocking(Problem { edge, lambda }, &device)?;
    let matrix = on_device.matrix();
    println!("{} rows and {} nonzeros, lambda = {lambda}, on {name}", matrix.rows(), matrix.nnz());
    if argument(1) == Some("compare") {
        return compare(&mut on_device);
    }
    let report = Solver::new(&mut on_device, wanted, order)?.solve_blocking()?;
    print_report(&report);
    Ok(())
}

fn print_report(report: &Report) {
    println!("Newton   norm of F   steps of conjugate gradients");
    for (number, step) in report.steps.iter().enumerate() {
        println!("{number:6}   {:9.3e}   {}", step.norm, step.linear_steps);
    }
    println!(
        "{:6}   {:9.3e}   the largest u is {:.6}",
        report.steps.len(),
        report.last_norm,
        report.largest_u
    );
    println!(
        "{}: {} products in {:.1} ms, {:.1} % of {:.1} ms; new values for the plan {:.1} ms, the plan {:.1} ms",
        report.algorithm,
        report.products,
        milliseconds(report.product_time),
        share(report),
        milliseconds(report.total_time),
        milliseconds(report.update_time),
        milliseconds(report.plan_time),
    );
}

/// The same by every algorithm whose plan the device and the matrix allow.
fn compare(on_device: &mut OnDevice) -> Result<(), Box<dyn Error>> {
    println!("algorithm         products  product ms  values ms    total ms  share %     plan ms");
    let mut solved = 0;
    let each = Algorithm::ALL.map(|algorithm| (algorithm.name(), algorithm, VectorOrder::Original));
    let own = (OWN_ORDER, Algorithm::EvcHyb, VectorOrder::Symmetric);
    for (name, algorithm, order) in each.into_iter().chain([own]) {
        let solver = match Solver::new(on_device, Some(algorithm), order) {
            Ok(solver) => solver,
            Err(error) => {
                println!("{name:16}  no plan: {error}");
                continue;
            }
        };
        let report = solver.solve_blocking().map_err(|error| format!("{name}: {error}"))?;
        println!(
            "{name:16}  {:8}  {:10.1}  {:9.1}  {:10.1}  {:7.1}  {:10.1}",
            report.products,
            milliseconds(report.product_time),
            milliseconds(report.update_time),
            milliseconds(report.total_time),
            share(&report),
            milliseconds(report.plan_time),
        );
        solved += 1;
    }
    if solved == 0 {
        return Err("no algorithm has a plan for the matrix on this device".into());
    }
    Ok(())
}

fn share(report: &Report) -> f64 {
    100.0 * report.product_time.as_secs_f64() / report.total_time.as_secs_f64()
}

fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}
