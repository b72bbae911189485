//! The OpenCL C of `cl/`, embedded, with its includes resolved: a driver sees one string.

use std::collections::BTreeSet;

/// A file of `cl/`: its path there, and its text.
#[derive(Clone, Copy, Debug)]
pub struct Source {
    /// Path below `cl/`, as an `#include` spells it.
    pub path: &'static str,
    /// The text of the file.
    pub text: &'static str,
}

macro_rules! sources {
    ($($path:literal),* $(,)?) => {
        [$(Source { path: $path, text: include_str!(concat!("../../../cl/", $path)) }),*]
    };
}

/// Every file of `cl/`.
pub(crate) const SOURCES: &[Source] = &sources![
    "item/scalar.h",
    "item/accumulate.h",
    "item/copied_values.h",
    "item/copy.h",
    "item/atomic.h",
    "item/dense.h",
    "item/lanes.h",
    "item/prefetch.h",
    "item/lane_loads.h",
    "item/lane_sums.h",
    "item/store.h",
    "subgroup/broadcast.h",
    "subgroup/sub_group.h",
    "group/reduce.h",
    "group/carry.h",
    "group/launch_sum.h",
    "group/combine.h",
    "group/combine_sub_group.h",
    "group/scan.h",
    "group/search.h",
    "group/size.h",
    "batched/batched_coo.cl",
    "batched/batched_csr_i.cl",
    "batched/batched_csr_i_in_step.cl",
    "batched/batched_ell.cl",
    "batched/batched_plan.cl",
    "batched/batched_rows.cl",
    "batched/by_two.h",
    "batched/in_step.h",
    "batched/operands.h",
    "batched/steps.h",
    "batched/task.h",
    "format/coo_to_csr.cl",
    "format/csr_to_coo.cl",
    "format/csr_to_dense.cl",
    "format/dense_rows.cl",
    "format/dense_to_csr.cl",
    "format/gather_values.cl",
    "format/row_lengths.cl",
    "format/row_offsets.cl",
    "format/scan.cl",
    "format/sort.cl",
    "format/value_coding.cl",
    "measure/dense_product.cl",
    "measure/gather_rate.cl",
    "measure/launch_cost.cl",
    "measure/rates.cl",
    "solver/bicgstab.cl",
    "solver/cg.cl",
    "solver/jacobi.cl",
    "solver/solver_vectors.cl",
    "solver/state.h",
    "solver/stream.h",
    "spgemm/batch.h",
    "spgemm/entries.h",
    "spgemm/flat.h",
    "spgemm/spgemm_bitmap.cl",
    "spgemm/spgemm_hash.cl",
    "spgemm/spgemm_long.cl",
    "spgemm/spgemm_order.cl",
    "spgemm/spgemm_parts.cl",
    "spgemm/spgemm_rows.cl",
    "spgemm/spgemm_sets.cl",
    "spgemm/spgemm_tiny.cl",
    "spgemm/spgemm_values.cl",
    "spgemm/sums.h",
    "spgemm/tiny_alone.h",
    "spgemm/tiny_together.h",
    "spmm/join.h",
    "spmm/shared_rows.h",
    "spmm/node.h",
    "spmm/spmm_merge.cl",
    "spmm/spmm_merge_plan.cl",
    "spmm/spmm_nonzero_split.cl",
    "spmm/spmm_row_split.cl",
    "spmm/spmm_row_split_plan.cl",
    "spmv/csr_scalar.cl",
    "spmv/csr_vector.cl",
    "spmv/csr_adaptive.cl",
    "spmv/csr_adaptive_plan.cl",
    "spmv/csr_flat.cl",
    "spmv/csr_flat_tile.h",
    "spmv/csr_flat_plan.cl",
    "spmv/csr_pieces.cl",
    "spmv/csr_tiles.cl",
    "spmv/csr_tiles_plan.cl",
    "spmv/csr_tiles_slice.h",
    "spmv/evc_hyb.cl",
    "spmv/evc_hyb_plan.cl",
    "spmv/evc_hyb_task.h",
    "spmv/hyb.cl",
    "spmv/hyb_plan.cl",
    "spmv/segmented_sum.cl",
    "spmv/segmented_sum_fused.h",
    "spmv/segmented_sum_rows.h",
    "spmv/segmented_sum_stage2.h",
    "spmv/segmented_sum_staged.h",
    "spmv/sell.cl",
    "spmv/sell_sigma.cl",
    "spmv/sell_sigma_plan.cl",
    "spmv/sell_sigma_slice.h",
    "spmv/sell_slice.h",
    "spmv/sell_values.cl",
    "vector/elementwise.cl",
    "vector/reduce.cl",
    "vector/sum_integers.cl",
    "vector/tile.h",
];

/// Why a source cannot be put together.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SourceError {
    /// No file of that path is embedded.
    #[error("\"{path}\", wanted by {wanted_by}, is no file of cl/")]
    Missing {
        /// The path asked for.
        path: String,
        /// Who asked.
        wanted_by: String,
    },
}

/// The text of `path` with every `#include "..."` replaced by the file it names, each file once.
///
/// `#line` directives keep the compiler's messages pointing into `cl/`.
///
/// # Errors
/// A path that is not embedded.
pub fn kernel_source(path: &str) -> Result<String, SourceError> {
    let mut text = String::new();
    let mut included = BTreeSet::new();
    append(path, "a kernel", &mut included, &mut text)?;
    Ok(text)
}

fn append(
    path: &str,
    wanted_by: &str,
    included: &mut BTreeSet<&'static str>,
    text: &mut String,
) -> Result<(), SourceError> {
    let source = SOURCES.iter().find(|source| source.path == path).ok_or_else(|| {
        SourceError::Missing { path: path.to_owned(), wanted_by: wanted_by.to_owned() }
    })?;
    if !included.insert(source.path) {
        return Ok(());
    }
    text.push_str(&format!("#line 1 \"cl/{path}\"\n"));
    for (number, line) in source.text.lines().enumerate() {
        match included_path(line) {
            Some(inner) => {
                append(inner, path, included, text)?;
                text.push_str(&format!("#line {} \"cl/{path}\"\n", number + 2));
            }
            None => {
                text.push_str(line);
                text.push('\n');
            }
        }
    }
    Ok(())
}

fn included_path(line: &str) -> Option<&str> {
    line.trim().strip_prefix("#include")?.trim().strip_prefix('"')?.strip_suffix('"')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kernel_resolves_and_no_include_is_left() {
        for source in SOURCES.iter().filter(|source| source.path.ends_with(".cl")) {
            let text = kernel_source(source.path).unwrap();
            assert!(!text.contains("#include"), "{}", source.path);
            assert_eq!(text.matches("#ifndef ITEM_SCALAR_H").count(), 1, "{}", source.path);
        }
    }

    #[test]
    fn a_warning_is_turned_off_only_where_the_compiler_knows_it() {
        let mut turned_off = 0;
        for source in SOURCES {
            let lines: Vec<&str> = source.text.lines().collect();
            for (at, line) in lines.iter().enumerate() {
                let Some(name) = line.strip_prefix("#pragma clang diagnostic ignored ") else {
                    continue;
                };
                turned_off += 1;
                let guard = format!("#if __has_warning({name})");
                assert_eq!(lines[at - 1], guard, "{}:{}", source.path, at + 1);
            }
        }
        assert!(turned_off > 0);
    }

    /// Lists what `path` includes, in order, each with whether that stands under a condition; the guard of a header is none.
    fn inclusions(path: &str, is_conditional: bool, found: &mut Vec<(&'static str, bool)>) {
        let source = SOURCES.iter().find(|source| source.path == path).unwrap();
        let mut depth = 0_i32;
        for line in source.text.lines() {
            let is_guard = line.starts_with("#ifndef") && line.ends_with("_H");
            match included_path(line) {
                Some(inner) => {
                    let is_conditional = is_conditional || depth > 0;
                    let inner = SOURCES.iter().find(|source| source.path == inner).unwrap().path;
                    let is_new = found.iter().all(|(known, _)| *known != inner);
                    found.push((inner, is_conditional));
                    if is_new {
                        inclusions(inner, is_conditional, found);
                    }
                }
                None if line.starts_with("#if") && !is_guard => depth += 1,
                None if line.starts_with("#endif") => depth -= 1,
                None => {}
            }
            depth = depth.max(0);
        }
    }

    #[test]
    fn what_comes_first_under_a_condition_is_included_nowhere_else() {
        for source in SOURCES.iter().filter(|source| source.path.ends_with(".cl")) {
            let mut found = Vec::new();
            inclusions(source.path, false, &mut found);
            for (at, (path, is_conditional)) in found.iter().enumerate() {
                let is_first = found[..at].iter().all(|(known, _)| known != path);
                let is_wanted = found[at..].contains(&(*path, false));
                assert!(!(is_first && *is_conditional && is_wanted), "{}: {path}", source.path);
            }
        }
    }

    #[test]
    fn an_unknown_file_is_named() {
        let error = kernel_source("spmv/none.cl").unwrap_err();
        assert_eq!(error.to_string(), "\"spmv/none.cl\", wanted by a kernel, is no file of cl/");
    }
}
