//! Options that are of some algorithms, of the automatic choice or of OpenCL devices alone: refused where they would do
//! nothing.

use sparrow::{Algorithm, Variant, VectorOrder};

use crate::failure::Failure;
use crate::output::note;

/// Refuses what is given of these options of OpenCL devices, where the host computes.
///
/// # Errors
/// The first that is given.
pub(crate) fn check_host(options: &[(bool, &str)]) -> Result<(), Failure> {
    match options.iter().find(|(is_given, _)| *is_given) {
        None => Ok(()),
        Some((_, option)) => Err(Failure::input(format!(
            "{option} is for OpenCL devices, and host is none: leave it out"
        ))),
    }
}

/// Refuses a variant where no algorithm is named, or one that has it not; `option` is what names algorithms.
///
/// # Errors
/// Which algorithms have it, and how they are named; or which variants the algorithm has.
pub(crate) fn check_variant(
    variant: Variant,
    algorithm: Option<Algorithm>,
    option: &str,
) -> Result<(), Failure> {
    match algorithm {
        None => {
            let having = |one: &Algorithm| Variant::of(*one).contains(&variant);
            Err(unnamed(&format!("--variant {variant}"), having, option))
        }
        Some(named) if !Variant::of(named).contains(&variant) => {
            let its: Vec<_> = Variant::of(named).iter().map(|one| one.name()).collect();
            let its = if its.is_empty() { "none".to_owned() } else { its.join(", ") };
            let text = format!("{named} has no variant {variant}; it has {its}");
            Err(Failure::input(text))
        }
        Some(_) => Ok(()),
    }
}

/// As [`check_variant`], of an order of x and y other than the matrix's.
///
/// # Errors
/// Which algorithms have such an order, and how they are named.
pub(crate) fn check_order(
    order: VectorOrder,
    algorithm: Option<Algorithm>,
    option: &str,
) -> Result<(), Failure> {
    let having = |one: &Algorithm| one.spec().reorders_rows;
    match algorithm {
        _ if order == VectorOrder::Original => Ok(()),
        Some(named) if having(&named) => Ok(()),
        Some(named) => Err(Failure::input(format!(
            "--order {order}: {named} has no order of its own; --reordering gives it one"
        ))),
        None => Err(unnamed(&format!("--order {order}"), having, option)),
    }
}

/// An option that needs one of some algorithms, where the choice is left to the library, which may take another.
fn unnamed(what: &str, having: impl Fn(&Algorithm) -> bool, option: &str) -> Failure {
    let names: Vec<_> =
        Algorithm::ALL.into_iter().filter(having).map(|algorithm| algorithm.name()).collect();
    Failure::input(format!(
        "{what} is of {}, and without {option} another algorithm may be chosen: add {option} {}",
        names.join(" and "),
        names.join(",")
    ))
}

/// Says that `--products` changes nothing of an algorithm that is named.
pub(crate) fn tell_products_of_named() {
    note(
        "--products is for the automatic choice: of an algorithm that is named it changes nothing",
    );
}
