//! Binds and launches `csr_tiles`: a copy by tiles of columns, partial sums of parts, and then those of rows.

use std::ops::Deref;
use std::sync::Arc;

use cl_kernels::csr_tiles::{Arguments, CsrTiles as Parameters, RowArguments, SOURCE};
use cl_kernels::csr_tiles_plan::{self, ValueArguments};
use cl_kernels::{Accumulate, Algorithm, Checked, KernelKey};

use super::csr_tiles_plan::{Segments, Tiles};
use super::value_coding::FoundCoding;
use super::{
    BindRequest, Bound, CopiedValues, Operands, Specialisation, Spmv, ValueOrder, Workspace,
    accumulator_words,
};
use crate::launch::{After, LaunchSequence, Size};
use crate::raw::Memory;
use crate::workspace::{Direction, OwnerId};
use crate::{AnyArray, AnyMatrix, DeviceArray, Event, Program, Queue, Result};

/// `csr_tiles`, ready to launch: a copy of the matrix by tiles of columns.
#[derive(Debug)]
struct CsrTiles {
    owner: OwnerId,
    program: Arc<Program>,
    tiles: TileOrder,
    values: CopiedValues,
    group_size: usize,
}

/// A pattern in tiles, and the kernels that bring values into their order.
#[derive(Debug)]
struct TileOrder {
    tiles: Tiles,
    plan_program: Arc<Program>,
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
        let mut sequence = LaunchSequence::new(queue, &self.plan_program, self.plan_group_size);
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
    let BindRequest { queue, matrix, specialisation, values_id, .. } = *request;
    let spmv = CsrTiles::new_blocking(queue, specialisation, parameters, matrix, values_id)?;
    Ok(Bound::new(spmv, *parameters))
}

impl CsrTiles {
    /// Builds the programs and copies the matrix; `values_id` says whose values they are.
    ///
    /// # Errors
    /// A device without the value type, a kernel that does not build, no memory for the copy, or more nonzeros than 32
    /// bits count.
    fn new_blocking(
        queue: &Queue,
        specialisation: Specialisation,
        parameters: Checked<Parameters>,
        matrix: &AnyMatrix,
        values_id: u64,
    ) -> Result<Self> {
        let context = queue.context();
        context.check_value_type(specialisation.value_type)?;
        let program = context.program(&specialisation.key(SOURCE, &*parameters))?;
        let (value_type, offset_type) = (matrix.value_type(), matrix.offset_type());
        let (source, plain) = (csr_tiles_plan::SOURCE, Accumulate::Plain);
        let plan = parameters.plan();
        let key = KernelKey::new(source, value_type, offset_type, plain, false, &plan);
        let plan_program = context.program(&key)?;
        let plan_group_size = plan.group_size as usize;
        let mut sequence = LaunchSequence::new(queue, &plan_program, plan_group_size);
        let tiles = Tiles::make_blocking(queue, &mut sequence, &parameters, matrix)?;
        let tiles = TileOrder { tiles, plan_program: Arc::clone(&plan_program), plan_group_size };
        let found = FoundCoding::as_they_are();
        let values = CopiedValues::new_blocking(queue, &tiles, matrix, values_id, found)?;
        let group_size = parameters.group_size as usize;
        Ok(CsrTiles { owner: OwnerId::new(), program, tiles, values, group_size })
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
        self.program.key()
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

    fn copied_values_mut(&mut self) -> Option<(&mut CopiedValues, &dyn ValueOrder)> {
        Some((&mut self.values, &self.tiles))
    }

    fn workspace_blocking(&self, queue: &Queue) -> Result<Workspace> {
        let kernels =
            vec![self.program.kernel("csr_tiles")?, self.program.kernel("csr_tiles_rows")?];
        Workspace::new_blocking(queue, self.owner, kernels, self.words())
    }

    unsafe fn launch(
        &self,
        queue: &Queue,
        workspace: &mut Workspace,
        operands: &Operands<'_>,
        after: After<'_>,
    ) -> Result<Option<Event>> {
        let direction = workspace.next_direction();
        // SAFETY: the caller's promise about x and y; the rest is this plan's own.
        workspace.run(self.owner, queue, after, |mut parts| unsafe {
            let of_parts = self.arguments(parts.scratch, operands, direction);
            let of_rows = self.row_arguments(parts.scratch, operands);
            parts.launch_both((&of_parts, self.size()), (&of_rows, self.row_size()))
        })
    }
}
