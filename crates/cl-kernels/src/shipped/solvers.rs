//! The specialisations of solvers: few enough for all of them but one norm without preconditioning.

use csr_core::{OffsetType, ValueType};

use super::list::List;
use crate::bicgstab::{self, BiCgStab};
use crate::cg::{self, Cg};
use crate::jacobi::{self, Jacobi};
use crate::solver_state::{FEATURE_JACOBI, FEATURE_NORM_ONE};
use crate::solver_vectors::{self, SolverVectors};
use crate::{KernelKey, ParameterError};

impl List<'_> {
    /// Each method without preconditioning, and with it by either norm; the inverse of a diagonal of any type.
    pub(super) fn solvers(&mut self) -> Result<(), ParameterError> {
        for value_type in [ValueType::F32, ValueType::F64] {
            let at = self.keys.len();
            let offset_type = OffsetType::U32;
            for parameters in self.parameter_sets(value_type, vec![Cg::default_for_gpu()])? {
                self.helper(cg::SOURCE, value_type, offset_type, &parameters);
            }
            for parameters in self.parameter_sets(value_type, vec![BiCgStab::default_for_gpu()])? {
                self.helper(bicgstab::SOURCE, value_type, offset_type, &parameters);
            }
            let plain = self.keys[at..].to_vec();
            for features in [&[FEATURE_JACOBI][..], &[FEATURE_JACOBI, FEATURE_NORM_ONE]] {
                let with = |mut key: KernelKey| {
                    key.features.extend_from_slice(features);
                    key
                };
                self.keys.extend(plain.iter().cloned().map(with));
            }
            let parameters = SolverVectors { group_size: 256, batch: 2 };
            self.helper(solver_vectors::SOURCE, value_type, offset_type, &parameters);
        }
        for value_type in ValueType::ALL {
            for offset_type in [OffsetType::U32, OffsetType::U64] {
                let parameters = Jacobi::default_for_gpu();
                self.helper(jacobi::SOURCE, value_type, offset_type, &parameters);
            }
        }
        Ok(())
    }
}
