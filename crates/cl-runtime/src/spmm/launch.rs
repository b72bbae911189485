//! One launch of SpMM: a copy of B where it is column-major, the product, and rows that groups share.

use cl_kernels::dense_rows::{self, TILE_SIDE};
use cl_kernels::{Array, spmm_merge, spmm_row_split};
use csr_core::Layout;

use super::forms::{Columns, Form};
use super::{Copy, LongNodes, PatternPlan, Pieces, Spmm, SpmmOperands, SpmmParameters};
use crate::launch::{Size, launch};
use crate::raw::Memory;
use crate::spmv::workspace::{Parts, Workspace};
use crate::{Event, Queue, Result};

/// B as the kernels read it: row-major.
#[derive(Clone, Copy)]
struct RowMajor<'a> {
    array: Array<&'a Memory>,
    row_bytes: u32,
}

impl Spmm {
    /// Enqueues the product after the events in `wait`. Allocates nothing.
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
        wait: &[Event],
    ) -> Result<Event> {
        workspace.run(self.owner, queue, wait, |mut parts| {
            // SAFETY: the caller's promise.
            unsafe { self.enqueue(queue, &mut parts, operands) }
        })
    }

    /// # Safety
    /// As [`Spmm::launch`].
    #[expect(unsafe_code, reason = "operands are trusted")]
    unsafe fn enqueue(
        &self,
        queue: &Queue,
        parts: &mut Parts<'_>,
        operands: &SpmmOperands<'_>,
    ) -> Result<Event> {
        let scratch = parts.scratch;
        let mut wait = parts.wait.clone();
        let b = if let Some(copy) = &self.copy {
            // SAFETY: the caller's promise about B; the copy is as large as the workspace was made.
            let copied = unsafe { self.copy_b(queue, parts, operands, copy)? };
            *parts.first = Some(copied.clone());
            wait.push(copied);
            let row_bytes = copy.leading * self.dense.b_type.size_bytes();
            RowMajor { array: scratch.argument(), row_bytes: row_bytes as u32 }
        } else {
            let row_bytes = self.dense.b.leading() * self.dense.b_type.size_bytes();
            RowMajor { array: operands.b, row_bytes: row_bytes as u32 }
        };
        let number = self.form_for(&b, operands)?;
        let form = &self.forms[number];
        let size = Size {
            groups: self.groups(&form.tiling),
            group_size: self.parameters.group_size() as usize,
        };
        let first_kernel = number * self.kernel_names().len();
        let sums = Array {
            memory: scratch.argument().memory,
            start: (self.copy_words() * 4 / self.real_type.size_bytes()) as u64,
        };
        let kernel = &mut parts.kernels[first_kernel];
        // SAFETY: the caller's promise about the operands; i-nodes and pieces are the pattern's, and there is room for
        // the sums of what they cut.
        let product = unsafe {
            match &self.plan {
                PatternPlan::Rows { long, .. } => {
                    let arguments = self.row_split(form, long.as_ref(), operands, b, sums);
                    launch(queue, kernel, &arguments, size, &wait)?
                }
                PatternPlan::Pieces(pieces) => {
                    let arguments = self.merge(form, pieces, operands, b, sums);
                    launch(queue, kernel, &arguments, size, &wait)?
                }
            }
        };
        let joins = self.join_groups() * form.tiling.tiles as usize;
        if joins == 0 || size.groups == 0 {
            return Ok(product);
        }
        let size = Size { groups: joins, ..size };
        // Not for the product alone: a driver may show what never ran as complete.
        wait.push(product.clone());
        let kernel = &mut parts.kernels[first_kernel + 1];
        // SAFETY: as above.
        let joined = unsafe {
            match &self.plan {
                PatternPlan::Rows { long: Some(long), .. } => {
                    let arguments = self.row_split_join(form, long, operands, sums);
                    launch(queue, kernel, &arguments, size, &wait)
                }
                PatternPlan::Pieces(pieces) => {
                    let arguments = self.merge_join(form, pieces, operands, sums);
                    launch(queue, kernel, &arguments, size, &wait)
                }
                PatternPlan::Rows { long: None, .. } => return Ok(product),
            }
        };
        if joined.is_err() {
            // What was enqueued still writes to C and to the sums.
            product.wait()?;
        }
        // The events of both kernels are kept until the next launch: see `Workspace`.
        *parts.first = Some(product);
        joined
    }

    /// Groups of a tile that add up rows which several bunches, or groups, have parts of.
    fn join_groups(&self) -> usize {
        match (&self.plan, self.parameters) {
            (PatternPlan::Pieces(pieces), _) => pieces.chains(),
            (PatternPlan::Rows { long: Some(long), .. }, SpmmParameters::RowSplit(parameters)) => {
                long.count() * parameters.rows_at_once as usize
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
                (Columns::Apart, _) => Vec::new(),
            };
            let width = u64::from(form.tiling.vector_width);
            let mut fits = true;
            for (array, element) in in_vectors {
                let alignment = array.memory.alignment_bytes()?;
                fits &= array.start % width == 0 && alignment % (width * element).min(128) == 0;
            }
            if fits {
                return Ok(number);
            }
        }
        Ok(self.forms.len() - 1)
    }

    /// # Safety
    /// B is as long as its shape spans.
    #[expect(unsafe_code, reason = "operands are trusted")]
    unsafe fn copy_b(
        &self,
        queue: &Queue,
        parts: &mut Parts<'_>,
        operands: &SpmmOperands<'_>,
        copy: &Copy,
    ) -> Result<Event> {
        let (rows, width) = (self.dense.b.rows(), self.dense.b.cols());
        let arguments = dense_rows::Arguments {
            rows: rows as u32,
            width: width as u32,
            leading: self.dense.b.leading() as u64,
            row_leading: copy.leading as u32,
            from: operands.b,
            to: parts.scratch.argument(),
        };
        let groups = rows.div_ceil(TILE_SIDE) * width.div_ceil(TILE_SIDE);
        let group_size = copy.program.key().parameters[0].1 as usize;
        let size = Size { groups, group_size };
        let last = parts.kernels.len() - 1;
        // SAFETY: the caller's promise.
        unsafe { launch(queue, &mut parts.kernels[last], &arguments, size, &parts.wait) }
    }

    fn row_split<'a>(
        &'a self,
        form: &Form,
        long: Option<&'a LongNodes>,
        operands: &SpmmOperands<'a>,
        b: RowMajor<'a>,
        partial: Array<&'a Memory>,
    ) -> spmm_row_split::Arguments<&'a Memory> {
        // What there is none of is not read.
        let unread = operands.offsets;
        let node_list = match &self.plan {
            PatternPlan::Rows { nodes, .. } => nodes.list().unwrap_or(unread),
            PatternPlan::Pieces(_) => unread,
        };
        spmm_row_split::Arguments {
            nodes: self.nodes() as u32,
            parts: long.map_or(0, LongNodes::parts) as u32,
            node_groups: self.node_groups(&form.tiling) as u32,
            part_groups: self.part_groups(&form.tiling) as u32,
            width: self.dense.c.cols() as u32,
            tile_width: form.tiling.tile_width,
            bunch_size: form.tiling.bunch_size,
            node_list,
            long_nodes: long.map_or(unread, LongNodes::nodes),
            part_nodes: long.map_or(unread, LongNodes::part_nodes),
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
            cut_nodes: long.count() as u32,
            width: self.dense.c.cols() as u32,
            tile_width: form.tiling.tile_width,
            bunch_size: form.tiling.bunch_size,
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
        pieces: &'a Pieces,
        operands: &SpmmOperands<'a>,
        b: RowMajor<'a>,
        carries: Array<&'a Memory>,
    ) -> spmm_merge::Arguments<&'a Memory> {
        spmm_merge::Arguments {
            pieces: pieces.count() as u32,
            width: self.dense.c.cols() as u32,
            tile_width: form.tiling.tile_width,
            bunch_size: form.tiling.bunch_size,
            border_rows: pieces.border_rows.argument(),
            border_nonzeros: pieces.border_nonzeros(),
            slots: pieces.slots.argument(),
            offsets: operands.offsets,
            columns: operands.columns,
            values: operands.values,
            b: b.array,
            b_row_bytes: b.row_bytes,
            c: operands.c,
            c_leading: self.dense.c.leading() as u64,
            alpha: operands.alpha,
            beta: operands.beta,
            carries,
        }
    }

    fn merge_join<'a>(
        &self,
        form: &Form,
        pieces: &'a Pieces,
        operands: &SpmmOperands<'a>,
        carries: Array<&'a Memory>,
    ) -> spmm_merge::JoinArguments<&'a Memory> {
        spmm_merge::JoinArguments {
            pieces: pieces.count() as u32,
            chains: pieces.chains() as u32,
            width: self.dense.c.cols() as u32,
            tile_width: form.tiling.tile_width,
            bunch_size: form.tiling.bunch_size,
            chain_borders: pieces.chain_borders.argument(),
            border_rows: pieces.border_rows.argument(),
            slots: pieces.slots.argument(),
            carries,
            c: operands.c,
            c_leading: self.dense.c.leading() as u64,
            alpha: operands.alpha,
            beta: operands.beta,
        }
    }
}
