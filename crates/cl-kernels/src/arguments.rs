//! Kernel arguments by name: each kernel declares a struct, and nothing ever sets "argument 7".
//!
//! The declaration's order is the order of the kernel's parameters; a test parses the `.cl` files and
//! holds the two against each other. What a buffer is stays open (`M`), since this crate knows no
//! OpenCL handles.

use csr_core::Number;

/// Part of a buffer, from `start` elements on: `ARRAY_PARAMETER` in the kernel.
#[derive(Clone, Copy, Debug)]
pub struct Array<M> {
    /// The buffer; `None` for an array that this launch neither reads nor writes. Drivers do something for each buffer of a
    /// launch: on an H200's host 0.15 to 0.25 us, and for none 0.06.
    pub memory: Option<M>,
    /// The element (not byte) the array starts at.
    pub start: u64,
}

impl<M> Array<M> {
    /// From `start` elements on in `memory`.
    pub fn new(memory: M, start: u64) -> Self {
        Array { memory: Some(memory), start }
    }

    /// What a launch neither reads nor writes.
    pub fn none() -> Self {
        Array { memory: None, start: 0 }
    }
}

/// alpha or beta: `SCALAR_PARAMETER` in the kernel.
#[derive(Clone, Copy, Debug)]
pub enum Scalar<M> {
    /// By value, for kernels that sum in f32.
    F32(f32),
    /// By value, for kernels that sum in f64.
    F64(f64),
    /// An array of one on the device (key bit SCALARS_ON_DEVICE).
    Device(Array<M>),
}

impl<M> From<Number> for Scalar<M> {
    fn from(number: Number) -> Self {
        match number {
            Number::F32(value) => Scalar::F32(value),
            Number::F64(value) => Scalar::F64(value),
        }
    }
}

/// Receives the arguments of one launch in the order the kernel declares them.
pub trait ArgumentSink<M> {
    /// What refuses an argument.
    type Error;
    /// A 32-bit unsigned number.
    fn uint(&mut self, value: u32) -> Result<(), Self::Error>;
    /// A 64-bit unsigned number.
    fn ulong(&mut self, value: u64) -> Result<(), Self::Error>;
    /// Sixteen 64-bit unsigned numbers.
    fn ulong16(&mut self, value: &[u64; 16]) -> Result<(), Self::Error>;
    /// A buffer and its start.
    fn array(&mut self, array: &Array<M>) -> Result<(), Self::Error>;
    /// alpha or beta.
    fn scalar(&mut self, scalar: &Scalar<M>) -> Result<(), Self::Error>;
}

/// What kind of parameter a kernel declares under a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ArgumentKind {
    /// `const uint name`
    Uint,
    /// `const ulong name`
    Ulong,
    /// `const ulong16 name`
    Ulong16,
    /// `ARRAY_PARAMETER(type, name)`
    Array,
    /// `SCALAR_PARAMETER(name)`
    Scalar,
}

/// The arguments of one kernel.
pub trait KernelArguments<M> {
    /// The kernel function's name in its `.cl` file.
    const KERNEL: &'static str;
    /// Name and kind of each parameter, in the kernel's order.
    const PARAMETERS: &'static [(&'static str, ArgumentKind)];
    /// Hands every argument to `sink` in the kernel's order.
    ///
    /// # Errors
    /// What the sink refuses.
    fn visit<S: ArgumentSink<M>>(&self, sink: &mut S) -> Result<(), S::Error>;
}

/// A value one parameter of a kernel takes.
pub trait Argument<M> {
    /// The kind of parameter that takes it.
    const KIND: ArgumentKind;
    /// Hands itself to `sink`.
    ///
    /// # Errors
    /// What the sink refuses.
    fn pass<S: ArgumentSink<M>>(&self, sink: &mut S) -> Result<(), S::Error>;
}

impl<M> Argument<M> for u32 {
    const KIND: ArgumentKind = ArgumentKind::Uint;

    fn pass<S: ArgumentSink<M>>(&self, sink: &mut S) -> Result<(), S::Error> {
        sink.uint(*self)
    }
}

impl<M> Argument<M> for u64 {
    const KIND: ArgumentKind = ArgumentKind::Ulong;

    fn pass<S: ArgumentSink<M>>(&self, sink: &mut S) -> Result<(), S::Error> {
        sink.ulong(*self)
    }
}

impl<M> Argument<M> for [u64; 16] {
    const KIND: ArgumentKind = ArgumentKind::Ulong16;

    fn pass<S: ArgumentSink<M>>(&self, sink: &mut S) -> Result<(), S::Error> {
        sink.ulong16(self)
    }
}

impl<M> Argument<M> for Array<M> {
    const KIND: ArgumentKind = ArgumentKind::Array;

    fn pass<S: ArgumentSink<M>>(&self, sink: &mut S) -> Result<(), S::Error> {
        sink.array(self)
    }
}

impl<M> Argument<M> for Scalar<M> {
    const KIND: ArgumentKind = ArgumentKind::Scalar;

    fn pass<S: ArgumentSink<M>>(&self, sink: &mut S) -> Result<(), S::Error> {
        sink.scalar(self)
    }
}

/// Declares the argument struct of a kernel and implements [`KernelArguments`] for it.
macro_rules! arguments {
    (
        $(#[$meta:meta])*
        pub struct $struct:ident<$memory:ident> for $kernel:literal {
            $( $(#[$field_meta:meta])* $field:ident: $type:ty, )*
        }
    ) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug)]
        pub struct $struct<$memory> {
            $( $(#[$field_meta])* pub $field: $type, )*
        }

        impl<$memory> $crate::KernelArguments<$memory> for $struct<$memory> {
            const KERNEL: &'static str = $kernel;
            const PARAMETERS: &'static [(&'static str, $crate::ArgumentKind)] = &[
                $( (stringify!($field), <$type as $crate::Argument<$memory>>::KIND), )*
            ];

            fn visit<S: $crate::ArgumentSink<$memory>>(
                &self,
                sink: &mut S,
            ) -> Result<(), S::Error> {
                $( $crate::Argument::pass(&self.$field, sink)?; )*
                Ok(())
            }
        }
    };
}
pub(crate) use arguments;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Algorithm, spgemm_listed};

    /// The parameters a kernel declares in its source, by the spellings of `item/scalar.h`.
    fn declared(source: &str, kernel: &str) -> Vec<(String, ArgumentKind)> {
        let start = source.find(&format!("kernel void {kernel}(")).unwrap();
        let list = &source[start..start + source[start..].find('{').unwrap()];
        let list = &list[list.find('(').unwrap() + 1..list.rfind(')').unwrap()];
        let mut parameters = Vec::new();
        for part in list.split('\n').map(|line| line.trim().trim_end_matches(',')) {
            let own = part.strip_prefix("SHARED_").unwrap_or(part);
            if let Some(array) = own.strip_prefix("ARRAY_PARAMETER(") {
                let name = array.trim_end_matches(')').rsplit(", ").next().unwrap();
                parameters.push((name.to_owned(), ArgumentKind::Array));
            } else if let Some(name) = part.strip_prefix("SCALAR_PARAMETER(") {
                parameters.push((name.trim_end_matches(')').to_owned(), ArgumentKind::Scalar));
            } else if let Some(name) = part.strip_prefix("const uint ") {
                parameters.push((name.to_owned(), ArgumentKind::Uint));
            } else if let Some(name) = part.strip_prefix("const ulong ") {
                parameters.push((name.to_owned(), ArgumentKind::Ulong));
            } else if let Some(name) = part.strip_prefix("const ulong16 ") {
                parameters.push((name.to_owned(), ArgumentKind::Ulong16));
            } else {
                panic!("{kernel}: cannot read parameter \"{part}\"");
            }
        }
        parameters
    }

    fn check<A: KernelArguments<()>>(path: &str) {
        check_kernel(path, A::KERNEL, A::PARAMETERS);
    }

    fn check_kernel(path: &str, kernel: &str, arguments: &[(&str, ArgumentKind)]) {
        let source = crate::kernel_source(path).unwrap();
        let expected: Vec<_> =
            arguments.iter().map(|(name, kind)| ((*name).to_owned(), *kind)).collect();
        assert_eq!(declared(&source, kernel), expected, "{path}");
    }

    #[test]
    fn argument_structs_of_algorithms_match_their_kernels() {
        for kernel in Algorithm::ALL.into_iter().flat_map(|algorithm| algorithm.spec().kernels) {
            check_kernel(kernel.source, kernel.name, kernel.arguments);
        }
    }

    #[test]
    fn other_argument_structs_match_the_kernels_they_name() {
        check::<crate::coo_to_csr::KeyArguments<()>>(crate::coo_to_csr::SOURCE);
        check::<crate::coo_to_csr::FirstArguments<()>>(crate::coo_to_csr::SOURCE);
        check::<crate::coo_to_csr::OffsetArguments<()>>(crate::coo_to_csr::SOURCE);
        check::<crate::coo_to_csr::ColumnArguments<()>>(crate::coo_to_csr::SOURCE);
        check::<crate::coo_to_csr::ValueArguments<()>>(crate::coo_to_csr::SOURCE);
        check::<crate::csr_to_coo::ExpandArguments<()>>(crate::csr_to_coo::SOURCE);
        check::<crate::csr_to_coo::NumberArguments<()>>(crate::csr_to_coo::SOURCE);
        check::<crate::csr_to_coo::TransposedArguments<()>>(crate::csr_to_coo::SOURCE);
        check::<crate::csr_to_dense::ZeroArguments<()>>(crate::csr_to_dense::SOURCE);
        check::<crate::csr_to_dense::DisorderArguments<()>>(crate::csr_to_dense::SOURCE);
        check::<crate::csr_to_dense::ScatterArguments<()>>(crate::csr_to_dense::SOURCE);
        check::<crate::csr_to_dense::RowArguments<()>>(crate::csr_to_dense::SOURCE);
        check::<crate::csr_to_dense::WriteRowArguments<()>>(crate::csr_to_dense::SOURCE);
        check::<crate::dense_to_csr::CountArguments<()>>(crate::dense_to_csr::SOURCE);
        check::<crate::dense_to_csr::WriteArguments<()>>(crate::dense_to_csr::SOURCE);
        check::<crate::scan::SumArguments<()>>(crate::scan::SOURCE);
        check::<crate::scan::ScanArguments<()>>(crate::scan::SOURCE);
        check::<crate::scan::OffsetArguments<()>>(crate::scan::SOURCE);
        check::<crate::sort::CountArguments<()>>(crate::sort::SOURCE);
        check::<crate::sort::MoveArguments<()>>(crate::sort::SOURCE);
        check::<crate::cg::AlphaArguments<()>>(crate::cg::SOURCE);
        check::<crate::cg::ResidualArguments<()>>(crate::cg::SOURCE);
        check::<crate::cg::DirectionArguments<()>>(crate::cg::SOURCE);
        check::<crate::bicgstab::AlphaArguments<()>>(crate::bicgstab::SOURCE);
        check::<crate::bicgstab::HalfArguments<()>>(crate::bicgstab::SOURCE);
        check::<crate::bicgstab::OmegaArguments<()>>(crate::bicgstab::SOURCE);
        check::<crate::bicgstab::ResidualArguments<()>>(crate::bicgstab::SOURCE);
        check::<crate::bicgstab::DirectionArguments<()>>(crate::bicgstab::SOURCE);
        check::<crate::solver_vectors::CopyArguments<()>>(crate::solver_vectors::SOURCE);
        check::<crate::solver_vectors::NormArguments<()>>(crate::solver_vectors::SOURCE);
        check::<crate::jacobi::Arguments<()>>(crate::jacobi::SOURCE);
        check::<spgemm_listed::CountArguments<()>>(crate::spgemm_tiny::SOURCE);
        check::<crate::spgemm_tiny::FillArguments<()>>(crate::spgemm_tiny::SOURCE);
        check::<spgemm_listed::CountArguments<()>>(crate::spgemm_hash::SOURCE);
        check::<spgemm_listed::FillArguments<()>>(crate::spgemm_hash::SOURCE);
        check::<crate::spgemm_long::EntriesArguments<()>>(crate::spgemm_long::SOURCE);
        check::<crate::spgemm_long::StartArguments<()>>(crate::spgemm_long::SOURCE);
        check::<crate::spgemm_long::MeasureArguments<()>>(crate::spgemm_long::SOURCE);
        check::<crate::spgemm_long::MarkArguments<()>>(crate::spgemm_long::SOURCE);
        check::<crate::spgemm_long::TileArguments<()>>(crate::spgemm_long::SOURCE);
        check::<crate::spgemm_long::CountArguments<()>>(crate::spgemm_long::SOURCE);
        check::<crate::spgemm_long::FillArguments<()>>(crate::spgemm_long::SOURCE);
        check::<crate::spgemm_parts::WriteArguments<()>>(crate::spgemm_parts::SOURCE);
        check::<crate::spgemm_parts::FillArguments<()>>(crate::spgemm_parts::SOURCE);
        check::<spgemm_listed::CountArguments<()>>(crate::spgemm_bitmap::SOURCE);
        check::<spgemm_listed::FillArguments<()>>(crate::spgemm_bitmap::SOURCE);
        check::<crate::spgemm_values::Arguments<()>>(crate::spgemm_values::SOURCE);
        check::<crate::spgemm_order::DescentArguments<()>>(crate::spgemm_order::SOURCE);
        check::<crate::spgemm_order::KeyArguments<()>>(crate::spgemm_order::SOURCE);
        check::<crate::spgemm_order::MergeArguments<()>>(crate::spgemm_order::SOURCE);
        check::<crate::spgemm_sets::CountArguments<()>>(crate::spgemm_sets::SOURCE);
        check::<crate::spgemm_sets::FillArguments<()>>(crate::spgemm_sets::SOURCE);
        check::<crate::spgemm_rows::ClassifyArguments<()>>(crate::spgemm_rows::SOURCE);
        check::<crate::spgemm_rows::OutputArguments<()>>(crate::spgemm_rows::SOURCE);
        check::<crate::spgemm_rows::ListArguments<()>>(crate::spgemm_rows::SOURCE);
        check::<crate::spgemm_rows::ListOutputArguments<()>>(crate::spgemm_rows::SOURCE);
        check::<crate::spgemm_rows::WindowArguments<()>>(crate::spgemm_rows::SOURCE);
        for kernel in crate::batched::BatchedKernel::ALL {
            check::<crate::batched::Arguments<()>>(kernel.source());
        }
        let in_step = crate::batched::BatchedKernel::CsrIInStep.source();
        check::<crate::batched::columns::CopyArguments<()>>(in_step);
        check::<crate::batched_plan::Arguments<()>>(crate::batched_plan::SOURCE);
        check::<crate::spmm_row_split::Arguments<()>>(crate::spmm_row_split::SOURCE);
        check::<crate::dense_product::Arguments<()>>(crate::dense_product::SOURCE);
        check::<crate::dense_product::WriteOutArguments<()>>(crate::dense_product::SOURCE);
        check::<crate::spmm_row_split::JoinArguments<()>>(crate::spmm_row_split::SOURCE);
        check::<crate::spmm_row_split_plan::LongArguments<()>>(crate::spmm_row_split_plan::SOURCE);
        check::<crate::spmm_row_split_plan::OrderArguments<()>>(crate::spmm_row_split_plan::SOURCE);
        check::<crate::spmm_row_split_plan::IterationArguments<()>>(
            crate::spmm_row_split_plan::SOURCE,
        );
        check::<crate::spmm_row_split_plan::AlikeArguments<()>>(crate::spmm_row_split_plan::SOURCE);
        check::<crate::spmm_merge::Arguments<()>>(crate::spmm_merge::SOURCE);
        let nonzero_split = crate::spmm_nonzero_split::SOURCE;
        check::<crate::spmm_nonzero_split::Arguments<()>>(nonzero_split);
        check::<crate::spmm_nonzero_split::JoinArguments<()>>(nonzero_split);
        check::<crate::spmm_merge_plan::Arguments<()>>(crate::spmm_merge_plan::SOURCE);
        check::<crate::dense_rows::Arguments<()>>(crate::dense_rows::SOURCE);
        check::<crate::gather_values::Arguments<()>>(crate::gather_values::SOURCE);
        check::<crate::reorder::GatherArguments<()>>(crate::reorder::SOURCE);
        check::<crate::reorder::ScatterArguments<()>>(crate::reorder::SOURCE);
        check::<crate::row_lengths::Arguments<()>>(crate::row_lengths::SOURCE);
        check::<crate::row_offsets::Arguments<()>>(crate::row_offsets::SOURCE);
        check::<crate::gather_rate::Arguments<()>>(crate::gather_rate::SOURCE);
        check::<crate::gather_rate::RowArguments<()>>(crate::gather_rate::SOURCE);
        check::<crate::gather_rate::ChainArguments<()>>(crate::gather_rate::SOURCE);
        check::<crate::launch_cost::Arguments<()>>(crate::launch_cost::SOURCE);
        check::<crate::launch_cost::ArgumentsOfThree<()>>(crate::launch_cost::SOURCE);
        check::<crate::launch_cost::ArgumentsOfFour<()>>(crate::launch_cost::SOURCE);
        check::<crate::rates::ReadArguments<()>>(crate::rates::SOURCE);
        check::<crate::rates::CopyArguments<()>>(crate::rates::SOURCE);
        check::<crate::elementwise::Arguments<()>>(crate::elementwise::SOURCE);
        check::<crate::reduce::Arguments<()>>(crate::reduce::SOURCE);
        check::<crate::sum_integers::Arguments<()>>(crate::sum_integers::SOURCE);
        check::<crate::value_coding::FindArguments<()>>(crate::value_coding::SOURCE);
        check::<crate::value_coding::TableArguments<()>>(crate::value_coding::SOURCE);
        check::<crate::value_coding::CodeArguments<()>>(crate::value_coding::SOURCE);
        check::<crate::value_coding::NarrowArguments<()>>(crate::value_coding::SOURCE);
    }
}
