//! The assembled problems by name: their sizes at scale 1 and what builds each.

use super::assemble::assemble;
use super::elasticity::{self, Support};
use super::graph::rmat;
use super::random::class_seed;
use super::resistor::Network;
use super::setcover::set_cover;
use super::stencil::{Grid, convection, poisson};
use crate::{Csr, Offset, Result, Value};

/// A problem that the project discretises itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Problem {
    Poisson5,
    Poisson7,
    Poisson9,
    Stencil27,
    Elasticity,
    Convection,
    Rmat,
    Resistor,
    SetCover,
}

use Problem::*;

const RMAT_VERTICES: usize = 1 << 17;
const SET_COVER_TRIPS: usize = 1500;

impl Problem {
    pub(super) const ALL: [Problem; 9] =
        [Poisson5, Poisson7, Poisson9, Stencil27, Elasticity, Convection, Rmat, Resistor, SetCover];

    pub(super) fn name(self) -> &'static str {
        match self {
            Poisson5 => "poisson5",
            Poisson7 => "poisson7",
            Poisson9 => "poisson9",
            Stencil27 => "stencil27",
            Elasticity => "elasticity",
            Convection => "convection",
            Rmat => "rmat",
            Resistor => "resistor",
            SetCover => "setcover",
        }
    }

    pub(super) fn description(self) -> &'static str {
        match self {
            Poisson5 => "Poisson's equation on a square, 5-point differences",
            Poisson7 => "Poisson's equation in a cube, 7-point differences",
            Poisson9 => "Poisson's equation on a square, compact 9-point differences",
            Stencil27 => "the best case: a 27-point stencil in a cube",
            Elasticity => "elasticity of a cantilever, trilinear hexahedra, 3 unknowns a node",
            Convection => "convection-diffusion with a recirculating wind, upwind differences",
            Rmat => "an R-MAT graph of 16 edges a vertex",
            Resistor => "a resistor network with two supply rails, which are dense rows",
            SetCover => "a set-covering linear programme of trips and duties",
        }
    }

    /// The points at scale 1 of the problems that live on a grid.
    fn grid(self) -> Option<Grid> {
        match self {
            Poisson5 => Some(Grid([1, 700, 700])),
            Poisson7 => Some(Grid([100, 100, 100])),
            Poisson9 | Convection => Some(Grid([1, 1000, 1000])),
            Stencil27 => Some(Grid([160, 160, 160])),
            Elasticity => Some(Grid([60, 14, 14])),
            Resistor => Some(Grid([1, 400, 400])),
            Rmat | SetCover => None,
        }
    }

    /// Rows at scale 1, without the resistor network's rails.
    pub(super) fn base_rows(self) -> usize {
        let points = self.grid().map_or(0, Grid::points);
        match self {
            Elasticity => 3 * points,
            Rmat => RMAT_VERTICES,
            SetCover => SET_COVER_TRIPS,
            _ => points,
        }
    }

    pub(super) fn generate<V: Value, O: Offset>(self, scale: f64, seed: u64) -> Result<Csr<V, O>> {
        let seed = class_seed(self.name(), seed);
        let times = |count: usize| ((count as f64 * scale).round() as usize).max(1);
        let Some(grid) = self.grid().map(|grid| grid.scaled(scale)) else {
            return match self {
                SetCover => set_cover(times(SET_COVER_TRIPS), seed),
                _ => rmat(times(RMAT_VERTICES), seed),
            };
        };
        let n = grid.points();
        match self {
            Poisson7 => assemble(n, n, &poisson(grid, [6.0, -1.0, 0.0, 0.0])),
            Poisson9 => assemble(n, n, &poisson(grid, [20.0, -4.0, -1.0, 0.0])),
            Stencil27 => assemble(n, n, &poisson(grid, [26.0, -1.0, -1.0, -1.0])),
            Convection => assemble(n, n, &convection(grid)),
            Elasticity => {
                let beam = elasticity::Elasticity::new(grid, Support::Clamped);
                assemble(beam.unknowns(), beam.unknowns(), &beam)
            }
            Resistor => {
                let network = Network::new(grid, seed);
                assemble(network.unknowns(), network.unknowns(), &network)
            }
            _ => assemble(n, n, &poisson(grid, [4.0, -1.0, 0.0, 0.0])),
        }
    }
}
