//! What a product moves, from its pattern alone: the bandwidth model of D. Guo, W. Gropp and L. N. Olson, "A
//! hybrid format for better performance of sparse matrix-vector multiplication on a GPU", section 3.2, and what
//! it cannot see.
//!
//! [`Demand`] counts bytes and operations and has the paper's code balance. Its alpha, how often x is loaded from
//! memory, is found by running the gathers of x through a simulated cache ([`reuse`]); a GPU's loads between its
//! first and second cache are counted by [`sectors`]. [`GatherOrder`] is the order in which an algorithm gathers.
//!
//! Nothing here is measured: times are the device's, and come in as numbers or a [`Curve`].

mod curve;
mod demand;
mod gather_order;
mod lru;
mod reuse;
mod scatter;
mod sectors;

pub use curve::Curve;
pub use demand::Demand;
pub use gather_order::{GatherOrder, NO_COLUMN};
pub use lru::LruStack;
pub use reuse::{CacheReuse, CacheReuseQuestion, reuse};
pub use scatter::{random_indices, random_lengths};
pub use sectors::{FirstLevel, SECTOR_BYTES, Sectors, sectors};
