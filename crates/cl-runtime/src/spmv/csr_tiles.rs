//! Binds and launches `csr_tiles`: a copy by tiles of columns, partial sums of parts, and then those of rows.

use std::ops::Deref;

use cl_kernels::csr_tiles::{Arguments, CsrTiles as Parameters, RowArguments, SOURCE};
use cl_kernels::csr_tiles_plan::{self, ValueArguments};
use cl_kernels::{Accumulate, Algorithm, Checked, KernelKey};

use super::coded_program::CodedProgram;
use super::copied_values::moving_key;
use super::csr_tiles_plan::{Segments, Tiles};
use super::{
    BindRequest, Bound, CopiedValues, Operands, Spmv, ValueOrder, Workspace, accumulator_words,
};
use crate::launch::{After, LaunchSequence, Size};
use crate::raw::Memory;
use crate::workspace::Direction;
use crate::{AnyArray, AnyMatrix, DeviceArray, Event, Queue, Result};

/// `csr_tiles`, ready to launch: a copy of the matrix by tiles of columns.
#[derive(Debug)]
struct CsrTiles {
    product: CodedProgram,
    tiles: TileOrder,
    values: CopiedValues,
    group_size: usize,
}

/// A pattern in tiles, and the kernels that bring values into their order.
#[derive(Debug)]
struct TileOrder {
    tiles: Tiles,
    plan_key: KernelKey,
    plan_group_size: usize,
}

impl Deref for TileOrder {
    type Target = Tiles;

    fn deref(&self) -> &Tiles {
        &self.tiles
    }
}

impl ValueOrder for TileOrder {
    fn elements(&self) -> usize {
        self.tiles.elements
    }

    // Padding is multiplied too, into sums that no row has.
    fn writes_padding(&self) -> bool {
        false
    }

    fn move_blocking(
        &self,
        queue: &Queue,
        _: &AnyMatrix,
        source: &AnyArray,
        target: &AnyArray,
    ) -> Result<()> {
        let Segments { marks, before, moves } = &self.segments;
        let arguments = ValueArguments {
            nnz: self.nnz,
            marks: marks.argument(),
            before: before.argument(),
            moves: moves.argument(),
            source: source.argument(),
            target: target.argument(),
        };
        let program = queue.context().program(&moving_key(&self.plan_key, source.element()))?;
        let mut sequence = LaunchSequence::new(queue, &program, self.plan_group_size);
        let groups = sequence.groups(self.nnz as usize);
        // SAFETY: segments name elements of this plan's arrays; values were made or checked for its pattern.
        #[expect(unsafe_code, reason = "arguments and arrays are this module's own")]
        let moved = unsafe { sequence.run(&arguments, groups)? };
        moved.wait()
    }
}

/// `csr_tiles` as a plan asks for it.
pub(super) fn bind(request: &BindRequest<'_>) -> Result<Bound> {
    let parameters = request.parameters::<Parameters>()?;
    Ok(Bound::new(CsrTiles::new_blocking(request, parameters)?, *parameters))
}

impl CsrTiles {
    /// Builds the programs and copies the matrix.
    ///
    /// # Errors
    /// A device without the value type, a kernel that does not build, no memory for the copy, or more nonzeros than 32
    /// bits count.
    fn new_blocking(request: &BindRequest<'_>, parameters: Checked<Parameters>) -> Result<Self> {
        let BindRequest { queue, matrix, specialisation, values_id, .. } = *request;
        let context = queue.context();
        context.check_value_type(specialisation.value_type)?;
        let found = request.found_coding_blocking(parameters.coded_values, true)?;
        let key = specialisation.key(SOURCE, &*parameters);
        let names = &["csr_tiles", "csr_tiles_rows"];
        let product = CodedProgram::new(context, key, found.coding, names)?;
        let (value_type, offset_type) = (matrix.value_type(), matrix.offset_type());
        let (source, plain) = (csr_tiles_plan::SOURCE, Accumulate::Plain);
        let plan = parameters.plan();
        let plan_key = KernelKey::new(source, value_type, offset_type, plain, false, &plan);
        let plan_program = context.program(&plan_key)?;
        let plan_group_size = plan.group_size as usize;
        let mut sequence = LaunchSequence::new(queue, &plan_program, plan_group_size);
        let tiles = Tiles::make_blocking(queue, &mut sequence, &parameters, matrix)?;
        let tiles = TileOrder { tiles, plan_key, plan_group_size };
        let values = CopiedValues::new_blocking(queue, &tiles, matrix, values_id, found)?;
        let group_size = parameters.group_size as usize;
        Ok(CsrTiles { product, tiles, values, group_size })
    }

    /// What the kernel of parts is given.
    fn arguments<'a>(
        &'a self,
        scratch: &'a DeviceArray<u32>,
        operands: &Operands<'a>,
        direction: Direction,
    ) -> Arguments<&'a Memory> {
        let made = &self.tiles;
        Arguments {
            cols: operands.cols as u32,
            first_parts_at: made.offset_of(&made.first_parts),
            columns_at: made.offset_of(&made.columns),
            first_task: direction.first_of(made.groups),
            tasks: made.tasks.argument(),
            layout: made.layout.argument(),
            values: self.values.array().argument(),
            x: operands.x,
            workspace: scratch.argument(),
        }
    }

    /// What the kernel of rows is given.
    fn row_arguments<'a>(
        &'a self,
        scratch: &'a DeviceArray<u32>,
        operands: &Operands<'a>,
    ) -> RowArguments<&'a Memory> {
        let made = &self.tiles;
        RowArguments {
            rows: made.rows as u32,
            log_items: made.log_items,
            row_parts_at: made.offset_of(&made.row_parts),
            parts_at: made.offset_of(&made.parts),
            layout: made.layout.argument(),
            y: operands.y,
            alpha: operands.alpha,
            beta: operands.beta,
            workspace: scratch.argument(),
        }
    }

    fn size(&self) -> Size {
        Size { groups: self.tiles.groups, group_size: self.group_size }
    }

    fn row_size(&self) -> Size {
        let items = self.tiles.rows << self.tiles.log_items;
        Size { groups: items.div_ceil(self.group_size), group_size: self.group_size }
    }

    /// 32-bit words of the sums of parts.
    fn words(&self) -> usize {
        self.tiles.sums * accumulator_words(self.key())
    }
}

#[expect(unsafe_code, reason = "implements an unsafe method")]
impl Spmv for CsrTiles {
    fn algorithm(&self) -> Algorithm {
        Algorithm::CsrTiles
    }

    fn key(&self) -> &KernelKey {
        self.product.key()
    }

    fn plan_bytes(&self) -> usize {
        self.tiles.size_bytes() + self.values.size_bytes()
    }

    fn workspace_bytes(&self) -> usize {
        self.words() * 4
    }

    fn is_repeatable(&self) -> bool {
        true
    }

    fn copied_values(&self) -> Option<&CopiedValues> {
        Some(&self.values)
    }

    fn update_values_blocking(
        &mut self,
        queue: &Queue,
        matrix: &AnyMatrix,
        values_id: u64,
    ) -> Result<()> {
        let Self { product, tiles, values, .. } = self;
        product.update_blocking(queue, values, tiles, (matrix, values_id))
    }

    fn workspace_blocking(&self, queue: &Queue) -> Result<Workspace> {
        self.product.workspace_blocking(queue, self.words())
    }

    unsafe fn launch(
        &self,
        queue: &Queue,
        workspace: &mut Workspace,
        operands: &Operands<'_>,
        after: After<'_>,
    ) -> Result<Option<Event>> {
        self.product.renew(workspace)?;
        let direction = workspace.next_direction();
        // SAFETY: the caller's promise about x and y; the rest is this plan's own.
        workspace.run(self.product.owner(), queue, after, |mut parts| unsafe {
            let of_parts = self.arguments(parts.scratch, operands, direction);
            let of_rows = self.row_arguments(parts.scratch, operands);
            parts.launch_both((&of_parts, self.size()), (&of_rows, self.row_size()))
        })
    }
}
