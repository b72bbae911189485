//! C = alpha A B + beta C on the device, with B and C dense.
//!
//! A plan belongs to a pattern and to the shapes of B and C. What it loads at once depends on where they lie: a vector
//! must not begin where the device cannot load it, so there is a second program whose items take columns that are
//! apart, or on a CPU two half vectors, for a B or C that starts in between, or whose rows do. A column-major B is copied
//! to rows, and a row-major one too where that spares more than it costs (`cl_kernels::spmm_copy`).

mod copy;
mod forms;
mod launch;
mod long_rows;
mod parameters;
mod rows;
mod scratch;
mod tiles;

use cl_kernels::spmm::{SpmmAlgorithm, Tiling};
use cl_kernels::spmm_row_split::{
    FEATURE_GROUP_A_PART, FEATURE_NODE_LIST, FEATURE_PARTS, SpmmRowSplit,
};
use cl_kernels::{Accumulate, Array, DeviceType, Experiment, KernelKey, Scalar};
use csr_core::{DenseShape, Layout, ValueType, counted};

use crate::raw::Memory;
use crate::spmv::Specialisation;
use crate::workspace::{OwnerId, Workspace};
use crate::{AnyMatrix, Error, MatrixTypes, Queue, Result, check_size};

use copy::{Copy, copies_b};
use forms::{Access, Form};
use long_rows::LongNodes;
pub use parameters::SpmmParameters;
use rows::Nodes;
pub use rows::RowFacts;
use tiles::{Cut, Tiles};

/// The dense operands a plan is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DenseOperands {
    /// Where B's elements lie.
    pub b: DenseShape,
    /// What B stores: the type sums are made in, or for f32 16 bits.
    pub b_type: ValueType,
    /// Where C's elements lie.
    pub c: DenseShape,
}

/// The arrays and numbers of one product. Lengths were checked by the caller that made it.
#[derive(Clone, Copy, Debug)]
pub struct SpmmOperands<'a> {
    /// Row offsets: rows + 1.
    pub offsets: Array<&'a Memory>,
    /// Column indices: nnz.
    pub columns: Array<&'a Memory>,
    /// Values of A: nnz.
    pub values: Array<&'a Memory>,
    /// B, as long as its shape spans.
    pub b: Array<&'a Memory>,
    /// C, as long as its shape spans.
    pub c: Array<&'a Memory>,
    /// Scales A B.
    pub alpha: Scalar<&'a Memory>,
    /// Scales C; with 0, C is not read.
    pub beta: Scalar<&'a Memory>,
}

/// What is computed once from the pattern.
#[derive(Debug)]
enum PatternPlan {
    /// A sub-group a node, but for those that are long.
    Rows { nodes: Nodes, long: Option<LongNodes> },
    /// A group a tile, or by nonzeros a sub-group.
    Tiles(Tiles),
}

impl PatternPlan {
    /// What programs must be able to follow of it.
    fn features(&self) -> Vec<&'static str> {
        let mut features = Vec::new();
        if let PatternPlan::Rows { nodes, long } = self {
            features.extend(nodes.list().is_some().then_some(FEATURE_NODE_LIST));
            features.extend(long.is_some().then_some(FEATURE_PARTS));
            let by_group = long.as_ref().is_some_and(LongNodes::by_group);
            features.extend(by_group.then_some(FEATURE_GROUP_A_PART));
        }
        features
    }
}

/// An algorithm bound to a pattern, to the shapes of B and C, and to a context: ready to launch.
#[derive(Debug)]
pub struct Spmm {
    owner: OwnerId,
    parameters: SpmmParameters,
    dense: DenseOperands,
    rows: usize,
    cols: usize,
    real_type: ValueType,
    plan: PatternPlan,
    /// With vectors, where the shapes allow it; then with columns that are apart.
    forms: Vec<Form>,
    copy: Option<Copy>,
}

impl Spmm {
    /// Plans for the pattern of `matrix` and builds the programs; `facts` are the matrix's, where they were looked for.
    ///
    /// # Errors
    /// Shapes that do not fit the matrix or each other, or are larger than kernels count; parameters that break a
    /// rule; a device without the value type; a kernel that does not build; or the driver's own failure.
    pub fn new_blocking(
        queue: &Queue,
        matrix: &AnyMatrix,
        dense: DenseOperands,
        parameters: SpmmParameters,
        facts: Option<RowFacts>,
        scalars_on_device: bool,
    ) -> Result<Self> {
        let context = queue.context();
        let device = context.device().traits();
        let MatrixTypes { value_type, offset_type, .. } = matrix.types();
        context.check_value_type(value_type)?;
        check_shapes(matrix, &dense)?;
        if dense.b_type.accumulator() != value_type.accumulator() {
            let sums = value_type.accumulator();
            let needed = format!("a type that is summed in {sums}");
            return Err(Error::element_type("B", dense.b_type, needed));
        }
        let device_type = device.device_type;
        let mean_row = matrix.nnz() as f64 / matrix.rows().max(1) as f64;
        let copies = copies_b(device, &dense, &parameters, matrix.nnz() as f64);
        let (plan, parameters, access) = match parameters {
            SpmmParameters::RowSplit(parameters) => {
                parameters.check(device)?;
                let facts = match facts {
                    Some(facts) if facts.are_of(&parameters) => facts,
                    _ => RowFacts::find_blocking(queue, matrix, &parameters)?,
                };
                let nodes = facts.into_nodes();
                let parameters = match nodes.most_rows() {
                    0 | 1 => parameters.row_by_row(),
                    rows_at_once => SpmmRowSplit { rows_at_once, ..parameters },
                };
                let loads = mean_row * nodes.count() as f64;
                let copies = copies_b(device, &dense, &SpmmParameters::RowSplit(parameters), loads);
                // Long rows are taken in parts.
                let sub_groups =
                    nodes.count().max((loads / f64::from(parameters.part_nnz)) as usize);
                let of_rows = (sub_groups, mean_row);
                let (access, parameters) =
                    Access::to_rows(&dense, parameters, device.into(), of_rows, copies);
                let columns = dense.c.cols() as u32;
                let tiling = |(_, width): &(_, u32)| {
                    Tiling::new(columns, *width, parameters.in_step())
                        .shared(access.sub_groups_per_row)
                };
                let ways: Vec<_> = access.ways.iter().map(tiling).collect();
                let tiling = ways[0];
                let idle = tiling.idle(device.compute_units, sub_groups);
                let mut parameters = parameters.under_way(&tiling, mean_row, idle);
                parameters.part_nnz = parameters.useful_part(device, &tiling, loads);
                let (ways, longest_row) = ((columns, &*ways), matrix.shape().longest_row);
                let parameters =
                    parameters.taking_whole_rows(device, value_type, ways, longest_row, idle);
                let of_group = SpmmParameters::RowSplit(parameters);
                let by_group = device_type != DeviceType::Cpu;
                let teams = by_group.then(|| of_group.sub_groups(&tiling));
                let part_nnz = parameters.part_nnz;
                let long = LongNodes::find_blocking(queue, matrix, &nodes, part_nnz, teams)?;
                (PatternPlan::Rows { nodes, long }, of_group, access)
            }
            SpmmParameters::Merge(of_merge) => {
                of_merge.check(device, value_type)?;
                let access = Access::to_tiles(&dense, &parameters, device_type, copies);
                let path = matrix.rows() + matrix.nnz();
                let (columns, (_, width)) = (dense.c.cols() as u32, access.ways[0]);
                let fitted = of_merge.fitted(device, value_type, path, (columns, width));
                let parameters = SpmmParameters::Merge(fitted);
                let access = Access::to_tiles(&dense, &parameters, device_type, copies);
                let tiles = Tiles::cut_blocking(queue, matrix, Cut::Path(fitted))?;
                (PatternPlan::Tiles(tiles), parameters, access)
            }
            SpmmParameters::NonzeroSplit(of_split) => {
                of_split.check(device, value_type)?;
                let cut = Cut::Nonzeros(of_split.tile_length);
                let tiles = Tiles::cut_blocking(queue, matrix, cut)?;
                let access = Access::to_tiles(&dense, &parameters, device_type, copies);
                (PatternPlan::Tiles(tiles), parameters, access)
            }
        };
        let specialisation = Specialisation {
            value_type,
            offset_type,
            accumulate: Accumulate::Plain,
            scalars_on_device,
            experiment: Experiment::Off,
        };
        let features = plan.features();
        let sharing = access.sub_groups_per_row;
        let form = |way: &_| {
            Form::build(context, specialisation, &dense, parameters, &features, *way, sharing)
        };
        let forms = access.ways.iter().map(form);
        let forms = forms.collect::<Result<Vec<_>>>()?;
        let copy = access.copy_leading.map(|leading| Copy::build(context, &dense, leading));
        let copy = copy.transpose()?;
        let spmm = Spmm {
            owner: OwnerId::new(),
            parameters,
            dense,
            rows: matrix.rows(),
            cols: matrix.cols(),
            real_type: value_type.accumulator(),
            plan,
            forms,
            copy,
        };
        for form in &spmm.forms {
            spmm.check_groups(&form.tiling)?;
        }
        Ok(spmm)
    }

    /// Groups of a launch, which kernels number in 32 bits.
    fn check_groups(&self, tiling: &Tiling) -> Result<()> {
        let (groups, limit) = (self.groups(tiling) as u64, u64::from(u32::MAX));
        if groups > limit {
            let what = "the number of work-groups";
            return Err(csr_core::Error::TooLarge { what, value: groups, limit }.into());
        }
        Ok(())
    }

    fn groups(&self, tiling: &Tiling) -> usize {
        if self.dense.c.cols() == 0 {
            return 0;
        }
        let per_tile = match &self.plan {
            PatternPlan::Rows { .. } => self.node_groups(tiling) + self.part_groups(tiling),
            PatternPlan::Tiles(tiles) => match self.parameters {
                SpmmParameters::NonzeroSplit(_) => tiles.count().div_ceil(self.sub_groups(tiling)),
                _ => tiles.count(),
            },
        };
        per_tile * tiling.tiles as usize
    }

    /// Of a group.
    fn sub_groups(&self, tiling: &Tiling) -> usize {
        self.parameters.sub_groups(tiling) as usize
    }

    /// What sub-groups take.
    fn nodes(&self) -> usize {
        match &self.plan {
            PatternPlan::Rows { nodes, .. } => nodes.count(),
            PatternPlan::Tiles(_) => self.rows,
        }
    }

    /// Of a tile, the groups that take nodes.
    fn node_groups(&self, tiling: &Tiling) -> usize {
        self.nodes().div_ceil(self.sub_groups(tiling))
    }

    /// Of a tile, the groups that take parts of long nodes.
    fn part_groups(&self, tiling: &Tiling) -> usize {
        match &self.plan {
            PatternPlan::Rows { long: Some(long), .. } if long.by_group() => long.parts(),
            PatternPlan::Rows { long: Some(long), .. } => {
                long.parts().div_ceil(self.sub_groups(tiling))
            }
            _ => 0,
        }
    }

    /// The algorithm.
    pub fn algorithm(&self) -> SpmmAlgorithm {
        self.parameters.algorithm()
    }

    /// The hyper-parameters it runs with.
    pub fn parameters(&self) -> &SpmmParameters {
        &self.parameters
    }

    /// The dense operands it is for.
    pub fn dense(&self) -> &DenseOperands {
        &self.dense
    }

    /// The kernel's key: hyper-parameters included.
    pub fn key(&self) -> &KernelKey {
        self.forms[0].program.key()
    }

    /// Bytes of the plan on the device, beyond the CSR arrays.
    pub fn plan_bytes(&self) -> usize {
        match &self.plan {
            PatternPlan::Rows { nodes, long } => {
                nodes.size_bytes() + long.as_ref().map_or(0, LongNodes::size_bytes)
            }
            PatternPlan::Tiles(tiles) => tiles.size_bytes(),
        }
    }

    /// Rows that a sub-group takes together, in the mean: more than 1 where rows of B are loaded once for several.
    pub fn mean_inode(&self) -> f64 {
        self.rows as f64 / self.nodes().max(1) as f64
    }

    /// Bytes a workspace takes on the device: sums of parts of rows, counters of rows that groups share, and a copy of B
    /// where one is made.
    pub fn workspace_bytes(&self) -> usize {
        self.scratch_words() * 4
    }

    /// That each launch copies B first, to what rows, and what of the workspace that takes; `None` where B is read as it is.
    pub fn copy_of_b(&self) -> Option<String> {
        let bytes = counted(self.copy_words() * 4, "byte");
        let to_rows = |copy: &Copy| {
            let elements = counted(copy.leading, "element");
            format!("a launch first copies B to rows of {elements}, {bytes} of the workspace")
        };
        self.copy.as_ref().map(to_rows)
    }

    /// A new workspace: kernel objects and scratch memory for one launch in flight.
    ///
    /// # Errors
    /// The driver's own failure.
    pub fn workspace_blocking(&self, queue: &Queue) -> Result<Workspace> {
        let mut kernels = Vec::new();
        for form in &self.forms {
            for name in self.kernel_names() {
                kernels.push(form.program.kernel(name)?);
            }
        }
        if let Some(copy) = &self.copy {
            kernels.push(copy.program.kernel("dense_rows")?);
        }
        Workspace::new_blocking(queue, self.owner, kernels, self.scratch_words())
    }

    /// The kernels of a form, in the workspace's order.
    fn kernel_names(&self) -> &'static [&'static str] {
        match self.parameters {
            SpmmParameters::RowSplit(_) => &["spmm_row_split", "spmm_row_split_join"],
            SpmmParameters::Merge(_) => &["spmm_merge"],
            SpmmParameters::NonzeroSplit(_) => &["spmm_nonzero_split", "spmm_nonzero_split_join"],
        }
    }
}

fn check_shapes(matrix: &AnyMatrix, dense: &DenseOperands) -> Result<()> {
    let DenseOperands { b, b_type, c } = dense;
    check_size("B", (b.rows(), "row"), matrix.cols(), "as many as A has columns")?;
    check_size("C", (c.rows(), "row"), matrix.rows(), "as many as A has")?;
    check_size("C", (c.cols(), "column"), b.cols(), "as many as B has")?;
    // Kernels find a row of B by one multiplication of 32 bits.
    let row_elements = match b.layout() {
        Layout::RowMajor => b.leading(),
        Layout::ColumnMajor => b.cols().saturating_add(16),
    };
    let limit = (u32::MAX as usize / b_type.size_bytes()) as u64;
    let what = "the elements from one row of B to the next";
    if row_elements as u64 > limit {
        return Err(csr_core::Error::TooLarge { what, value: row_elements as u64, limit }.into());
    }
    Ok(())
}
