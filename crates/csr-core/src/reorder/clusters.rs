//! Clusters of rows, one after the other.
//!
//! Vertices of the matrix's graph are merged, those of least degree first, each into the neighbour by which modularity gains
//! most (more edges between the two than chance would have put there), until none gains: what was merged into one vertex
//! is a cluster, and what each was merged into makes it a tree. The order is that of the trees' vertices, depth first, so
//! that clusters within clusters are together too.

use super::MatrixOrder;
use super::graph::Graph;
use crate::{Error, Offset, PatternView, Result, check_memory};

/// No vertex.
const NONE: u32 = u32::MAX;

/// Words of 4 bytes that a vertex takes at least: two lists of edges, its cluster and its degree, and what orders vertices.
const WORDS_OF_VERTEX: usize = 13;

/// Rows and columns, cluster by cluster.
pub(super) fn order<O: Offset>(pattern: PatternView<'_, O>) -> Result<MatrixOrder> {
    let is_square = pattern.rows() == pattern.cols();
    let vertices = pattern.rows() + if is_square { 0 } else { pattern.cols() };
    let (value, limit) = (vertices as u64, u64::from(NONE));
    if value > limit {
        let what = "the number of rows and columns of a matrix to be clustered";
        return Err(Error::TooLarge { what, value, limit });
    }
    check_memory::<[u32; WORDS_OF_VERTEX]>("an order of rows and columns", vertices)?;
    let graph = Graph::of(pattern);
    let mut clusters = Clusters::of_single_vertices(&graph);
    let mut by_degree: Vec<u32> = (0..graph.vertices() as u32).collect();
    by_degree.sort_by_key(|vertex| graph.degree(*vertex as usize));
    let mut roots = Vec::new();
    for vertex in by_degree {
        if !clusters.merge(&graph, vertex) {
            roots.push(vertex);
        }
    }
    let order = clusters.depth_first(&roots);
    if is_square {
        return Ok(MatrixOrder { rows: order, columns: None });
    }
    let first_column = pattern.rows() as u32;
    let (rows, mut columns): (Vec<u32>, Vec<u32>) =
        order.into_iter().partition(|vertex| *vertex < first_column);
    columns.iter_mut().for_each(|column| *column -= first_column);
    Ok(MatrixOrder { rows, columns: Some(columns) })
}

/// Vertices that were merged, and what they were merged into.
struct Clusters {
    /// What a vertex was merged into, or something further up; itself, if nothing.
    merged_into: Vec<u32>,
    /// Edges that end in a vertex and all that was merged into it.
    degrees: Vec<f64>,
    /// The vertex that was merged into this one last, and what was merged into the same before it.
    last_child: Vec<u32>,
    previous_sibling: Vec<u32>,
    /// Edges of those that were looked at, by the vertex at the other end, with their number.
    edges: Vec<Vec<(u32, f32)>>,
    /// Of the vertex in hand: the number of edges to each other one; 0 everywhere between vertices.
    weights: Vec<f32>,
    /// All edges, from both ends.
    total: f64,
}

impl Clusters {
    fn of_single_vertices<O: Offset>(graph: &Graph<'_, O>) -> Self {
        let vertices = graph.vertices();
        let degrees: Vec<f64> = (0..vertices).map(|vertex| graph.degree(vertex) as f64).collect();
        Clusters {
            merged_into: (0..vertices as u32).collect(),
            total: degrees.iter().sum::<f64>().max(1.0),
            degrees,
            last_child: vec![NONE; vertices],
            previous_sibling: vec![NONE; vertices],
            edges: vec![Vec::new(); vertices],
            weights: vec![0.0; vertices],
        }
    }

    /// The vertex that one is a part of now.
    fn root(&mut self, vertex: u32) -> u32 {
        let mut at = vertex;
        while self.merged_into[at as usize] != at {
            let next = self.merged_into[at as usize];
            // Halves the way for who comes next.
            self.merged_into[at as usize] = self.merged_into[next as usize];
            at = next;
        }
        at
    }

    /// Merges a vertex, with all that was merged into it, into the neighbour by which modularity gains most. Returns false
    /// where none gains.
    fn merge<O: Offset>(&mut self, graph: &Graph<'_, O>, vertex: u32) -> bool {
        let edges = self.edges_of(graph, vertex);
        let degree = self.degrees[vertex as usize];
        let gain = |clusters: &Self, (other, weight): (u32, f32)| {
            f64::from(weight) - degree * clusters.degrees[other as usize] / clusters.total
        };
        let best = edges.iter().map(|edge| (gain(self, *edge), edge.0));
        let best = best.max_by(|a, b| a.0.total_cmp(&b.0).then(b.1.cmp(&a.1)));
        self.edges[vertex as usize] = edges;
        match best {
            Some((gain, into)) if gain > 0.0 => {
                self.merged_into[vertex as usize] = into;
                self.degrees[into as usize] += degree;
                self.previous_sibling[vertex as usize] =
                    std::mem::replace(&mut self.last_child[into as usize], vertex);
                true
            }
            _ => false,
        }
    }

    /// The edges of a vertex and of all that was merged into it, to what is not, by what is at the other end now.
    fn edges_of<O: Offset>(&mut self, graph: &Graph<'_, O>, vertex: u32) -> Vec<(u32, f32)> {
        let mut found = Vec::new();
        for other in graph.neighbours(vertex as usize) {
            self.count(vertex, other as u32, 1.0, &mut found);
        }
        let mut child = self.last_child[vertex as usize];
        while child != NONE {
            for (other, weight) in std::mem::take(&mut self.edges[child as usize]) {
                self.count(vertex, other, weight, &mut found);
            }
            child = self.previous_sibling[child as usize];
        }
        let weigh = |other: u32| (other, std::mem::take(&mut self.weights[other as usize]));
        found.into_iter().map(weigh).collect()
    }

    /// Counts edges from `vertex` to `other`.
    fn count(&mut self, vertex: u32, other: u32, weight: f32, found: &mut Vec<u32>) {
        let other = self.root(other);
        if other == vertex {
            return;
        }
        let counted = &mut self.weights[other as usize];
        if *counted == 0.0 {
            found.push(other);
        }
        *counted += weight;
    }

    /// The vertices of the trees, each before what was merged into it, the last first.
    fn depth_first(&self, roots: &[u32]) -> Vec<u32> {
        let mut order = Vec::with_capacity(self.merged_into.len());
        let mut waiting = Vec::new();
        for &root in roots {
            waiting.push(root);
            while let Some(vertex) = waiting.pop() {
                order.push(vertex);
                let mut child = self.last_child[vertex as usize];
                while child != NONE {
                    waiting.push(child);
                    child = self.previous_sibling[child as usize];
                }
            }
        }
        order
    }
}
