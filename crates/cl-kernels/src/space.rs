//! What the tuner may try of an algorithm, whichever it is: one arm an algorithm.

use csr_core::ValueType;

use crate::csr_adaptive::CsrAdaptive;
use crate::csr_flat::CsrFlat;
use crate::csr_pieces::CsrPieces;
use crate::csr_scalar::CsrScalar;
use crate::csr_vector::CsrVector;
use crate::evc_hyb::EvcHyb;
use crate::segmented_sum::SegmentedSum;
use crate::sell::Sell;
use crate::sell_sigma::SellSigma;
use crate::{Accumulate, Algorithm, DeviceTraits, ParameterError, ParameterSpace, Parameters};

/// Hyper-parameters by name, in the order of the algorithm's space.
pub type NamedParameters = Vec<(&'static str, u32)>;

impl Algorithm {
    /// The values that each hyper-parameter may take.
    pub fn space(self) -> &'static [ParameterSpace] {
        match self {
            Algorithm::CsrScalar => CsrScalar::SPACE,
            Algorithm::CsrVector => CsrVector::SPACE,
            Algorithm::CsrAdaptive => CsrAdaptive::SPACE,
            Algorithm::CsrFlat => CsrFlat::SPACE,
            Algorithm::CsrPieces => CsrPieces::SPACE,
            Algorithm::SegmentedSum => SegmentedSum::SPACE,
            Algorithm::EvcHyb => EvcHyb::SPACE,
            Algorithm::Sell => Sell::SPACE,
            Algorithm::SellSigma => SellSigma::SPACE,
        }
    }

    /// What it takes on a device that no table knows, for a matrix with this mean row.
    pub fn usual_parameters(
        self,
        device: &DeviceTraits,
        value_type: ValueType,
        mean_row: f64,
    ) -> NamedParameters {
        match self {
            Algorithm::CsrScalar => CsrScalar::default().entries(),
            Algorithm::CsrVector => CsrVector::default_for_mean_row(mean_row).entries(),
            Algorithm::CsrAdaptive => CsrAdaptive::default_for(value_type).entries(),
            Algorithm::CsrFlat => CsrFlat::default().entries(),
            Algorithm::CsrPieces => CsrPieces::default().entries(),
            Algorithm::SegmentedSum => {
                SegmentedSum::default_for(device, value_type, Accumulate::Plain).entries()
            }
            Algorithm::EvcHyb => EvcHyb::usual(device.device_type).entries(),
            Algorithm::Sell => Sell::default().entries(),
            Algorithm::SellSigma => SellSigma::default().entries(),
        }
    }

    /// Checks hyper-parameters against the kernel's rules and the device's limits; those not given are the usual
    /// ones.
    ///
    /// # Errors
    /// A name that is none of the algorithm's, or the first rule that is broken.
    pub fn check_parameters<'a>(
        self,
        given: impl IntoIterator<Item = (&'a str, u32)>,
        device: &DeviceTraits,
        value_type: ValueType,
    ) -> Result<(), ParameterError> {
        let plain = Accumulate::Plain;
        match self {
            Algorithm::CsrScalar => with(CsrScalar::default(), given)?.check(device),
            Algorithm::CsrVector => {
                with(CsrVector::default_for_mean_row(1.0), given)?.check(device, value_type, plain)
            }
            Algorithm::CsrAdaptive => {
                with(CsrAdaptive::default_for(value_type), given)?.check(device, value_type, plain)
            }
            Algorithm::CsrFlat => with(CsrFlat::default(), given)?.check(device, value_type, plain),
            Algorithm::CsrPieces => with(CsrPieces::default(), given)?.check(),
            Algorithm::SegmentedSum => {
                let usual = SegmentedSum::default_for(device, value_type, plain);
                with(usual, given)?.check(device, value_type, plain)
            }
            Algorithm::EvcHyb => {
                let usual = EvcHyb::usual(device.device_type);
                with(usual, given)?.check(device, value_type, plain)
            }
            Algorithm::Sell => with(Sell::default(), given)?.check(),
            Algorithm::SellSigma => with(SellSigma::default(), given)?.check(device),
        }
    }
}

/// The usual parameters with others over them.
fn with<'a, P: Parameters>(
    mut usual: P,
    given: impl IntoIterator<Item = (&'a str, u32)>,
) -> Result<P, ParameterError> {
    given.into_iter().try_for_each(|(name, value)| usual.set(name, value))?;
    Ok(usual)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::gpu;

    #[test]
    fn what_is_usual_fits_and_lies_in_the_space_of_the_tuner() {
        let device = gpu();
        for algorithm in Algorithm::ALL {
            for value_type in [ValueType::F32, ValueType::F64] {
                let usual = algorithm.usual_parameters(&device, value_type, 20.0);
                assert_eq!(algorithm.check_parameters(usual.clone(), &device, value_type), Ok(()));
                for ((name, value), space) in usual.into_iter().zip(algorithm.space()) {
                    assert_eq!(name, space.name);
                    assert!(space.values.contains(&value), "{algorithm}: {name} = {value}");
                }
            }
        }
    }

    #[test]
    fn what_does_not_fit_is_refused_by_name() {
        let check = |algorithm: Algorithm, name, value| {
            algorithm.check_parameters([(name, value)], &gpu(), ValueType::F64)
        };
        assert!(check(Algorithm::CsrScalar, "group_size", 2048).is_err());
        assert!(check(Algorithm::CsrVector, "items_per_row", 3).is_err());
        assert!(check(Algorithm::EvcHyb, "items_per_row", 4).is_err());
    }

    #[test]
    fn teams_share_rows_where_their_items_are_known_to_run_in_step() {
        let shared = |device: &DeviceTraits, value| {
            let given = [("shared_rows", value)];
            Algorithm::CsrFlat.check_parameters(given, device, ValueType::F64)
        };
        let nvidia = DeviceTraits { architecture: "sm_90".to_owned(), ..gpu() };
        assert_eq!(shared(&nvidia, 1), Ok(()));
        assert!(shared(&nvidia, 2).is_err());
        assert_eq!(shared(&gpu(), 0), Ok(()));
        let refusal = shared(&gpu(), 1).unwrap_err().to_string();
        assert!(refusal.contains("shared_rows = 1") && refusal.contains(&gpu().name), "{refusal}");
    }
}
