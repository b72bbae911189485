//! Binds and launches `csr_tiles`: a copy by tiles of columns, partial sums of parts, and then those of rows.

use std::ops::Deref;

use cl_kernels::csr_tiles::{Arguments, CsrTiles as Parameters, RowArguments, SOURCE};
use cl_kernels::csr_tiles_plan::{self, ValueArguments};
use cl_kernels::{Accumulate, Algorithm, Array, Checked, KernelKey};

use super::coded_spmv::{CodedProgram, CodedSpmv, CopyLayout};
use super::copied_values::moving_key;
use super::csr_tiles_plan::{Segments, Tiles};
use super::{BindRequest, Bound, CopiedValues, Operands, ValueOrder, accumulator_words};
use crate::launch::{LaunchSequence, Size};
use crate::raw::Memory;
use crate::workspace::{Direction, Parts};
use crate::{AnyArray, AnyMatrix, DeviceArray, Event, Queue, Result};

/// A pattern in tiles, and the kernels that bring values into their order.
#[derive(Debug)]
struct TileOrder {
    tiles: Tiles,
    /// Of the product.
    group_size: usize,
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

impl TileOrder {
    /// What the kernel of parts is given.
    fn arguments<'a>(
        &'a self,
        scratch: &'a DeviceArray<u32>,
        values: Array<&'a Memory>,
        operands: &Operands<'a>,
        direction: Direction,
    ) -> Arguments<&'a Memory> {
        Arguments {
            cols: operands.cols as u32,
            first_parts_at: self.offset_of(&self.first_parts),
            columns_at: self.offset_of(&self.columns),
            first_task: direction.first_of(self.groups),
            tasks: self.tasks.argument(),
            layout: self.layout.argument(),
            values,
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
        RowArguments {
            rows: self.rows as u32,
            log_items: self.log_items,
            row_parts_at: self.offset_of(&self.row_parts),
            parts_at: self.offset_of(&self.parts),
            layout: self.layout.argument(),
            y: operands.y,
            alpha: operands.alpha,
            beta: operands.beta,
            workspace: scratch.argument(),
        }
    }

    fn size(&self) -> Size {
        Size { groups: self.groups, group_size: self.group_size }
    }

    fn row_size(&self) -> Size {
        let items = self.rows << self.log_items;
        Size { groups: items.div_ceil(self.group_size), group_size: self.group_size }
    }
}

#[expect(unsafe_code, reason = "implements an unsafe method")]
impl CopyLayout for TileOrder {
    const ALGORITHM: Algorithm = Algorithm::CsrTiles;

    fn size_bytes(&self) -> usize {
        self.tiles.size_bytes()
    }

    /// For the sums of parts.
    fn workspace_words(&self, key: &KernelKey) -> usize {
        self.sums * accumulator_words(key)
    }

    unsafe fn launch(
        &self,
        mut parts: Parts<'_>,
        values: Array<&Memory>,
        operands: &Operands<'_>,
        direction: Direction,
    ) -> Result<Option<Event>> {
        let of_parts = self.arguments(parts.scratch, values, operands, direction);
        let of_rows = self.row_arguments(parts.scratch, operands);
        // SAFETY: the caller's promise about x and y; the rest is this plan's own.
        unsafe { parts.launch_both((&of_parts, self.size()), (&of_rows, self.row_size())) }
    }
}

/// `csr_tiles` as a plan asks for it.
pub(super) fn bind(request: &BindRequest<'_>) -> Result<Bound> {
    let parameters = request.parameters::<Parameters>()?;
    Ok(Bound::new(new_blocking(request, parameters)?, *parameters))
}

/// Builds the programs and copies the matrix.
///
/// # Errors
/// A device without the value type, a kernel that does not build, no memory for the copy, or more nonzeros than 32
/// bits count.
fn new_blocking(
    request: &BindRequest<'_>,
    parameters: Checked<Parameters>,
) -> Result<CodedSpmv<TileOrder>> {
    let BindRequest { queue, matrix, specialisation, values_id, .. } = *request;
    let context = queue.context();
    context.check_value_type(specialisation.value_type)?;
    let found = request.found_coding_blocking(parameters.coded_values, true)?;
    let key = specialisation.key(SOURCE, &*parameters);
    let names = &["csr_tiles", "csr_tiles_rows"];
    let program = CodedProgram::new(context, key, found.coding, names)?;
    let (value_type, offset_type) = (matrix.value_type(), matrix.offset_type());
    let (source, plain) = (csr_tiles_plan::SOURCE, Accumulate::Plain);
    let plan = parameters.plan();
    let plan_key = KernelKey::new(source, value_type, offset_type, plain, false, &plan);
    let plan_program = context.program(&plan_key)?;
    let plan_group_size = plan.group_size as usize;
    let mut sequence = LaunchSequence::new(queue, &plan_program, plan_group_size);
    let tiles = Tiles::make_blocking(queue, &mut sequence, &parameters, matrix)?;
    let group_size = parameters.group_size as usize;
    let layout = TileOrder { tiles, group_size, plan_key, plan_group_size };
    let values = CopiedValues::new_blocking(queue, &layout, matrix, values_id, found)?;
    Ok(CodedSpmv { program, layout, values })
}
