//! Reverse Cuthill-McKee.
//!
//! Each connected part of the graph is numbered breadth first from a vertex at its end, the neighbours of a vertex in order
//! of their degree; at last the whole order is reversed. A vertex at the end is found by searches: from any vertex to that
//! of least degree among those farthest away, and again from there, as long as that makes the way longer.

use super::graph::Graph;
use crate::{Offset, PatternView};

/// Searches for a vertex at the end of a part, at most: each takes as long as numbering the part.
const MOST_SEARCHES: usize = 4;

/// The rows of a square matrix in reverse Cuthill-McKee order.
pub(super) fn row_order<O: Offset>(pattern: PatternView<'_, O>) -> Vec<u32> {
    let graph = Graph::of(pattern);
    let rows = graph.vertices();
    let mut by_degree: Vec<u32> = (0..rows as u32).collect();
    by_degree.sort_by_key(|row| graph.degree(*row as usize));
    let mut search = Search { seen_by: vec![0; rows], number: 0, found: Vec::new() };
    let mut is_numbered = vec![false; rows];
    let mut order = Vec::with_capacity(rows);
    for first in by_degree {
        if !is_numbered[first as usize] {
            let first = search.end_of_part(&graph, first);
            number_part(&graph, first, &mut is_numbered, &mut order);
        }
    }
    order.reverse();
    order
}

/// Breadth-first searches, and which of them has seen each vertex last.
struct Search {
    seen_by: Vec<u32>,
    number: u32,
    found: Vec<u32>,
}

impl Search {
    /// A vertex at the end of the connected part that `first` is in.
    fn end_of_part<O: Offset>(&mut self, graph: &Graph<'_, O>, first: u32) -> u32 {
        let mut end = first;
        let mut longest = 0;
        for _ in 0..MOST_SEARCHES {
            let (levels, farthest) = self.levels(graph, end);
            if levels <= longest {
                break;
            }
            (end, longest) = (farthest, levels);
        }
        end
    }

    /// Levels of a search from `first` beyond its own, and the vertex of least degree in the last of them.
    fn levels<O: Offset>(&mut self, graph: &Graph<'_, O>, first: u32) -> (usize, u32) {
        let Search { seen_by, number, found } = self;
        // 2^30 parts of four searches each.
        *number = number.wrapping_add(1);
        found.clear();
        found.push(first);
        seen_by[first as usize] = *number;
        let (mut levels, mut level) = (0, 0..1);
        loop {
            for at in level.clone() {
                for vertex in graph.neighbours(found[at] as usize) {
                    if std::mem::replace(&mut seen_by[vertex], *number) != *number {
                        found.push(vertex as u32);
                    }
                }
            }
            if found.len() == level.end {
                let least =
                    found[level].iter().min_by_key(|vertex| graph.degree(**vertex as usize));
                return (levels, least.copied().unwrap_or(first));
            }
            level = level.end..found.len();
            levels += 1;
        }
    }
}

/// Numbers the connected part that `first` is in, from there: after what `order` holds.
fn number_part<O: Offset>(
    graph: &Graph<'_, O>,
    first: u32,
    is_numbered: &mut [bool],
    order: &mut Vec<u32>,
) {
    let mut next = order.len();
    order.push(first);
    is_numbered[first as usize] = true;
    while let Some(vertex) = order.get(next).copied() {
        next += 1;
        let begin = order.len();
        for neighbour in graph.neighbours(vertex as usize) {
            if !std::mem::replace(&mut is_numbered[neighbour], true) {
                order.push(neighbour as u32);
            }
        }
        order[begin..].sort_by_key(|vertex| (graph.degree(*vertex as usize), *vertex));
    }
}
