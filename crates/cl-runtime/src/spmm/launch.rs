//! One launch of SpMM: a copy of B where the plan has one, the product, and rows that groups share.

use cl_kernels::dense_rows;
use cl_kernels::{Array, spmm_merge, spmm_nonzero_split, spmm_row_split};
use csr_core::Layout;

use super::forms::{Columns, Form};
use super::{Copy, LongNodes, PatternPlan, Spmm, SpmmOperands, SpmmParameters, Tiles};
use crate::arguments::Arguments;
use crate::launch::{After, Size};
use crate::raw::Memory;
use crate::workspace::{Parts, Sequence, Workspace};
use crate::{Event, Queue, Result};

/// B as the kernels read it: row-major.
#[derive(Clone, Copy)]
struct RowMajor<'a> {
    array: Array<&'a Memory>,
    row_bytes: u32,
}

/// Arguments of a kernel of products by tiles: those that each of them takes, then its own.
macro_rules! by_tiles {
    (
        $kernel:ident, $spmm:expr, $form:expr, $tiles:expr, $operands:expr, $b:expr, $carries:expr
        $(, $own:ident $(: $value:expr)?)*
    ) => {
        $kernel::Arguments {
            tiles: $tiles.count() as u32,
            width: $spmm.dense.c.cols() as u32,
            tile_width: $form.tiling.tile_width,
            sub_group_size: $form.tiling.sub_group_size,
            boundary_rows: $tiles.boundary_rows.argument(),
            boundary_nonzeros: $tiles.boundary_nonzeros(),
            slots: $tiles.slots.argument(),
            offsets: $operands.offsets,
            columns: $operands.columns,
            values: $operands.values,
            b: $b.array,
            b_row_bytes: $b.row_bytes,
            c: $operands.c,
            c_leading: $spmm.dense.c.leading() as u64,
            alpha: $operands.alpha,
            beta: $operands.beta,
            carries: $carries,
            $($own $(: $value)?,)*
        }
    };
}

impl Spmm {
    /// Enqueues the product. Allocates nothing. `None` where no event was asked for.
    ///
    /// # Safety
    /// The operands belong to the pattern and the shapes the plan was made for, and B and C do not overlap.
    ///
    /// # Errors
    /// A workspace of another plan, or the driver's own failure.
    #[expect(unsafe_code, reason = "operands are trusted")]
    pub unsafe fn launch(
        &self,
        queue: &Queue,
        workspace: &mut Workspace,
        operands: &SpmmOperands<'_>,
        after: After<'_>,
    ) -> Result<Option<Event>> {
        workspace.run(self.owner, queue, after, |mut parts| {
            // SAFETY: the caller's promise.
            unsafe { self.enqueue(&mut parts, operands) }
        })
    }

    /// # Safety
    /// As [`Spmm::launch`].
    #[expect(unsafe_code, reason = "operands are trusted")]
    unsafe fn enqueue(
        &self,
        parts: &mut Parts<'_>,
        operands: &SpmmOperands<'_>,
    ) -> Result<Option<Event>> {
        let (scratch, last_kernel) = (parts.scratch, parts.kernel_count() - 1);
        let (array, leading) = match &self.copy {
            Some(copy) => (scratch.argument(), copy.leading),
            None => (operands.b, self.dense.b.leading()),
        };
        let row_bytes = (leading * self.dense.b_type.size_bytes()) as u32;
        let b = RowMajor { array, row_bytes };
        let number = self.form_for(&b, operands)?;
        let form = &self.forms[number];
        let mut sequence = parts.sequence();
        if let Some(copy) = &self.copy {
            // SAFETY: the caller's promise about B; the copy is as large as the workspace was made.
            unsafe { self.copy_b(&mut sequence, last_kernel, array, operands, copy)? };
        }
        let size = Size {
            groups: self.groups(&form.tiling),
            group_size: self.parameters.group_size() as usize,
        };
        let joins = self.join_groups() * form.tiling.tiles as usize;
        let join_size = (joins > 0 && size.groups > 0).then_some(Size { groups: joins, ..size });
        let kernel = number * self.kernel_names().len();
        let sums = self.sums(scratch);
        // SAFETY: the caller's promise about the operands; i-nodes and tiles are the pattern's, and there is memory for
        // the sums of what they cut.
        unsafe {
            match &self.plan {
                PatternPlan::Rows { long, .. } => {
                    let arguments = self.row_split(form, long.as_ref(), operands, b, sums);
                    let join = join_size.zip(long.as_ref()).map(|(join_size, long)| {
                        (self.row_split_join(form, long, operands, sums), join_size)
                    });
                    product_and_join(sequence, kernel, (&arguments, size), join)
                }
                PatternPlan::Tiles(tiles) => match self.parameters {
                    SpmmParameters::NonzeroSplit(_) => {
                        let arguments = self.nonzero_split(form, tiles, operands, b, sums);
                        let join = join_size.map(|join_size| {
                            (self.nonzero_split_join(form, tiles, operands, sums), join_size)
                        });
                        product_and_join(sequence, kernel, (&arguments, size), join)
                    }
                    _ => {
                        let counters = self.counters(scratch);
                        let arguments = self.merge(form, tiles, operands, b, sums, counters);
                        sequence.last(kernel, &arguments, size)
                    }
                },
            }
        }
    }

    /// Groups of a tile that add up rows which several sub-groups, or groups, have parts of.
    fn join_groups(&self) -> usize {
        match (&self.plan, self.parameters) {
            (PatternPlan::Tiles(tiles), SpmmParameters::NonzeroSplit(_)) => tiles.chains(),
            (PatternPlan::Rows { long: Some(long), .. }, SpmmParameters::RowSplit(parameters)) => {
                long.cut_count() * parameters.rows_at_once as usize
            }
            _ => 0,
        }
    }

    /// The form with the widest vectors that B and C allow where they start.
    fn form_for(&self, b: &RowMajor<'_>, operands: &SpmmOperands<'_>) -> Result<usize> {
        let of_b = (b.array, self.dense.b_type.size_bytes() as u64);
        let of_c = (operands.c, self.real_type.size_bytes() as u64);
        for (number, form) in self.forms.iter().enumerate() {
            let in_vectors = match (form.columns, self.dense.c.layout()) {
                (Columns::Vectors, Layout::RowMajor) => vec![of_b, of_c],
                (Columns::Vectors, Layout::ColumnMajor) | (Columns::VectorsOfB, _) => vec![of_b],
                (Columns::Apart | Columns::Halves, _) => Vec::new(),
            };
            let width = u64::from(form.tiling.vector_width);
            let mut fits = true;
            for (array, element) in in_vectors {
                fits &= array.start % width == 0;
                if let Some(memory) = array.memory.filter(|_| fits) {
                    fits = memory.alignment_bytes()? % (width * element).min(128) == 0;
                }
            }
            if fits {
                return Ok(number);
            }
        }
        Ok(self.forms.len() - 1)
    }

    /// # Safety
    /// B is as long as its shape spans, and `to` as the copy.
    #[expect(unsafe_code, reason = "operands are trusted")]
    unsafe fn copy_b(
        &self,
        sequence: &mut Sequence<'_>,
        kernel: usize,
        to: Array<&Memory>,
        operands: &SpmmOperands<'_>,
        copy: &Copy,
    ) -> Result<()> {
        let (rows, width) = (self.dense.b.rows(), self.dense.b.cols());
        let arguments = dense_rows::Arguments {
            rows: rows as u32,
            width: width as u32,
            leading: self.dense.b.leading() as u64,
            row_leading: copy.leading as u32,
            from: operands.b,
            to,
        };
        let groups = copy.parameters.groups(rows, width, self.dense.b.layout());
        let size = Size { groups, group_size: copy.parameters.group_size as usize };
        // SAFETY: the caller's promise.
        unsafe { sequence.next(kernel, &arguments, size) }
    }

    fn row_split<'a>(
        &'a self,
        form: &Form,
        long: Option<&'a LongNodes>,
        operands: &SpmmOperands<'a>,
        b: RowMajor<'a>,
        partial: Array<&'a Memory>,
    ) -> spmm_row_split::Arguments<&'a Memory> {
        let node_list = match &self.plan {
            PatternPlan::Rows { nodes, .. } => nodes.list().unwrap_or_else(Array::none),
            PatternPlan::Tiles(_) => Array::none(),
        };
        spmm_row_split::Arguments {
            nodes: self.nodes() as u32,
            parts: long.map_or(0, LongNodes::parts) as u32,
            node_groups: self.node_groups(&form.tiling) as u32,
            part_groups: self.part_groups(&form.tiling) as u32,
            width: self.dense.c.cols() as u32,
            tile_width: form.tiling.tile_width,
            sub_group_size: form.tiling.sub_group_size,
            node_list,
            long_nodes: long.map_or_else(Array::none, LongNodes::nodes),
            part_nodes: long.map_or_else(Array::none, LongNodes::part_nodes),
            offsets: operands.offsets,
            columns: operands.columns,
            values: operands.values,
            b: b.array,
            b_row_bytes: b.row_bytes,
            c: operands.c,
            c_leading: self.dense.c.leading() as u64,
            alpha: operands.alpha,
            beta: operands.beta,
            partial,
        }
    }

    fn row_split_join<'a>(
        &self,
        form: &Form,
        long: &'a LongNodes,
        operands: &SpmmOperands<'a>,
        partial: Array<&'a Memory>,
    ) -> spmm_row_split::JoinArguments<&'a Memory> {
        spmm_row_split::JoinArguments {
            cut_nodes: long.cut_count() as u32,
            width: self.dense.c.cols() as u32,
            tile_width: form.tiling.tile_width,
            sub_group_size: form.tiling.sub_group_size,
            long_nodes: long.nodes(),
            partial,
            c: operands.c,
            c_leading: self.dense.c.leading() as u64,
            alpha: operands.alpha,
            beta: operands.beta,
        }
    }

    fn merge<'a>(
        &self,
        form: &Form,
        tiles: &'a Tiles,
        operands: &SpmmOperands<'a>,
        b: RowMajor<'a>,
        carries: Array<&'a Memory>,
        counters: Array<&'a Memory>,
    ) -> spmm_merge::Arguments<&'a Memory> {
        let cuts = tiles.cuts() as u32;
        by_tiles!(spmm_merge, self, form, tiles, operands, b, carries, counters, cuts, zero: 0)
    }

    fn nonzero_split<'a>(
        &self,
        form: &Form,
        tiles: &'a Tiles,
        operands: &SpmmOperands<'a>,
        b: RowMajor<'a>,
        carries: Array<&'a Memory>,
    ) -> spmm_nonzero_split::Arguments<&'a Memory> {
        by_tiles!(spmm_nonzero_split, self, form, tiles, operands, b, carries)
    }

    fn nonzero_split_join<'a>(
        &self,
        form: &Form,
        tiles: &'a Tiles,
        operands: &SpmmOperands<'a>,
        carries: Array<&'a Memory>,
    ) -> spmm_nonzero_split::JoinArguments<&'a Memory> {
        spmm_nonzero_split::JoinArguments {
            tiles: tiles.count() as u32,
            chains: tiles.chains() as u32,
            width: self.dense.c.cols() as u32,
            tile_width: form.tiling.tile_width,
            sub_group_size: form.tiling.sub_group_size,
            chain_boundaries: tiles.chain_boundaries.argument(),
            boundary_rows: tiles.boundary_rows.argument(),
            slots: tiles.slots.argument(),
            carries,
            c: operands.c,
            c_leading: self.dense.c.leading() as u64,
            alpha: operands.alpha,
            beta: operands.beta,
        }
    }
}

/// Enqueues the product, and after it what adds up rows that several have parts of, where there are some: the next kernel.
///
/// # Safety
/// As [`Sequence::last`], for both.
#[expect(unsafe_code, reason = "operands are trusted")]
unsafe fn product_and_join<'m>(
    mut sequence: Sequence<'_>,
    kernel: usize,
    (product, size): (&dyn Arguments<'m>, Size),
    join: Option<(impl Arguments<'m>, Size)>,
) -> Result<Option<Event>> {
    // SAFETY: the caller's promise.
    unsafe {
        match join {
            None => sequence.last(kernel, product, size),
            Some((join, join_size)) => {
                sequence.next(kernel, product, size)?;
                sequence.last(kernel + 1, &join, join_size)
            }
        }
    }
}
