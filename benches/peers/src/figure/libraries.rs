//! The libraries that a figure asks for, and what each calls its products.

use anyhow::Result;
use csr_core::Csr;
use sparrow_bench::Budget;
use sparrow_bench::figures::{Measured, PaperFigure, PeerProduct};

use crate::cusparse::{CuBlas, CuSparse};
use crate::mkl::{Mkl, MklValue};
use crate::timed::Timed;

/// A vendor's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Peer {
    /// NVIDIA's cuSPARSE, and cuBLAS for dense products
    Cusparse,
    /// Intel's MKL
    Mkl,
}

impl Peer {
    /// As `--peer` spells it.
    pub fn word(self) -> &'static str {
        match self {
            Peer::Cusparse => "cusparse",
            Peer::Mkl => "mkl",
        }
    }

    /// Whether its products run on the host's cores.
    pub fn is_on_host(self) -> bool {
        self == Peer::Mkl
    }
}

/// Opened.
pub struct Libraries {
    vendor: Vendor,
    /// "cuSPARSE 12.6.3".
    pub name: String,
    /// Where products run.
    pub device: String,
    /// "CUDA 13.0", or nothing.
    pub driver: String,
}

enum Vendor {
    Nvidia(CuSparse, Option<CuBlas>),
    Intel(Mkl),
}

impl Libraries {
    /// Opens what a figure needs; what is missing is an error.
    pub fn open(peer: Peer, figure: &PaperFigure) -> Result<Self> {
        let needs_dense = matches!(figure.measured, Measured::Spmm { with_dense: true, .. });
        match peer {
            Peer::Cusparse => {
                let sparse = CuSparse::open()?;
                let dense = needs_dense.then(CuBlas::open).transpose()?;
                let (device, driver) = sparse.device()?;
                let mut name = format!("cuSPARSE {}", sparse.version_text());
                if let Some(dense) = &dense {
                    name += &format!(" and cuBLAS {}", dense.version_text());
                }
                Ok(Libraries { vendor: Vendor::Nvidia(sparse, dense), name, device, driver })
            }
            Peer::Mkl => {
                let mkl = Mkl::open()?;
                let (name, device) = (format!("MKL {}", mkl.version_text()), mkl.device());
                Ok(Libraries { vendor: Vendor::Intel(mkl), name, device, driver: String::new() })
            }
        }
    }

    /// What the product with a vector is called.
    pub fn spmv_product(&self) -> PeerProduct {
        match self.vendor {
            Vendor::Nvidia(..) => PeerProduct::CusparseSpmv,
            Vendor::Intel(_) => PeerProduct::MklSpmv,
        }
    }

    /// What the product with a dense matrix is called.
    pub fn spmm_product(&self) -> PeerProduct {
        match self.vendor {
            Vendor::Nvidia(..) => PeerProduct::CusparseSpmm,
            Vendor::Intel(_) => PeerProduct::MklSpmm,
        }
    }

    /// What the product of two dense matrices is called.
    pub fn dense_product(&self) -> PeerProduct {
        match self.vendor {
            Vendor::Nvidia(..) => PeerProduct::CublasGemm,
            Vendor::Intel(_) => PeerProduct::MklGemm,
        }
    }

    /// cuSPARSE, which alone has batches.
    pub fn cusparse(&self) -> Result<&CuSparse> {
        match &self.vendor {
            Vendor::Nvidia(sparse, _) => Ok(sparse),
            Vendor::Intel(_) => anyhow::bail!("MKL is not compared for batches"),
        }
    }

    /// Times C = A B, row-major, by each algorithm.
    pub fn spmm<T: MklValue>(
        &self,
        matrix: &Csr<T, u32>,
        b: &[T],
        columns: usize,
        budget: &Budget,
    ) -> Result<Vec<Timed<T>>> {
        match &self.vendor {
            Vendor::Nvidia(sparse, _) => sparse.spmm(matrix, b, columns, budget),
            Vendor::Intel(mkl) => mkl.spmm(matrix, b, columns, budget),
        }
    }

    /// Times y = A x by each algorithm.
    pub fn spmv<T: MklValue>(
        &self,
        matrix: &Csr<T, u32>,
        x: &[T],
        budget: &Budget,
    ) -> Result<Vec<Timed<T>>> {
        let outcome = match &self.vendor {
            Vendor::Nvidia(sparse, _) => sparse.spmv(matrix, x, budget)?,
            Vendor::Intel(mkl) => mkl.spmv(matrix, x, budget)?,
        };
        Ok(outcome.timed)
    }

    /// Times C = A B with A's zeros written out.
    pub fn dense<T: MklValue>(
        &self,
        matrix: &Csr<T, u32>,
        b: &[T],
        columns: usize,
        budget: &Budget,
    ) -> Result<Timed<T>> {
        match &self.vendor {
            Vendor::Nvidia(sparse, Some(blas)) => {
                sparse.dense_product(blas, matrix, b, columns, budget)
            }
            Vendor::Nvidia(_, None) => anyhow::bail!("cuBLAS was not opened"),
            Vendor::Intel(mkl) => mkl.dense_product(matrix, b, columns, budget),
        }
    }
}
