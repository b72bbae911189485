//! Hyper-parameters that had another name in device tables of format 1.

/// Line of a device table (an algorithm's name), name in format 1, name now.
const RENAMED: [(&str, &str, &str); 7] = [
    ("batched", "bunch_size", "sub_group_size"),
    ("batched", "bunches_per_group", "sub_groups_per_group"),
    ("csr_flat", "piece_nnz", "tile_nnz"),
    ("csr_pieces", "pieces_per_unit", "chunks_per_unit"),
    ("csr_pieces", "least_piece", "least_chunk"),
    ("sell", "pieces_per_unit", "chunks_per_unit"),
    ("spmm_merge", "piece", "tile_length"),
];

/// Returns the name that a hyper-parameter of `algorithm` has now: `name`, unless that is its name in device tables of
/// format 1. Names that the algorithm never had are returned as they are.
pub fn current_name<'a>(algorithm: &str, name: &'a str) -> &'a str {
    let renamed = RENAMED.iter().find(|(of, old, _)| *of == algorithm && *old == name);
    renamed.map_or(name, |(_, _, new)| new)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Parameters;
    use crate::batched::Batched;
    use crate::csr_flat::CsrFlat;
    use crate::csr_pieces::CsrPieces;
    use crate::sell::Sell;
    use crate::spmm_merge::SpmmMerge;

    #[test]
    fn every_new_name_is_one_of_the_algorithms_and_no_old_one_is() {
        for (algorithm, old, new) in RENAMED {
            let space = match algorithm {
                Batched::ALGORITHM => Batched::SPACE,
                CsrFlat::ALGORITHM => CsrFlat::SPACE,
                CsrPieces::ALGORITHM => CsrPieces::SPACE,
                Sell::ALGORITHM => Sell::SPACE,
                SpmmMerge::ALGORITHM => SpmmMerge::SPACE,
                other => panic!("{other} has no space here"),
            };
            let has = |name: &str| space.iter().any(|space| space.name == name);
            assert!(has(new) && !has(old), "{algorithm}: {old}, {new}");
        }
    }

    #[test]
    fn a_parameter_is_set_by_its_old_name_too() {
        let mut parameters = CsrFlat::default();
        parameters.set("piece_nnz", 2048).unwrap();
        assert_eq!(parameters.tile_nnz, 2048);
        let error = parameters.set("pieces_per_unit", 1).unwrap_err().to_string();
        assert!(
            error.starts_with("csr_flat has no parameter \"pieces_per_unit\"; it has"),
            "{error}"
        );
    }
}
