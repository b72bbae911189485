//! Bytes and operations of one product, and their quotient.

/// What a format makes a product y = A x move and compute.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Demand {
    /// Rows of A.
    pub rows: u64,
    /// Nonzeros of A.
    pub nnz: u64,
    /// Entries that are stored and loaded for them, padding included: the paper's nnz / beta.
    pub stored: u64,
    /// Bytes of a stored value of A.
    pub value_bytes: u64,
    /// Bytes of an element of x and y.
    pub element_bytes: u64,
    /// Bytes that say where rows and columns are, besides a column of four bytes for each stored entry: row
    /// offsets, as often as they are read, and what a plan holds.
    pub structure_bytes: u64,
}

/// Bytes of a column index.
const COLUMN_BYTES: u64 = 4;

impl Demand {
    /// Operations as the paper counts them: two a nonzero, three a row (alpha, beta, their sum).
    pub fn flops(&self) -> f64 {
        2.0 * self.nnz as f64 + 3.0 * self.rows as f64
    }

    /// Bytes of A: values and columns with padding, and structure.
    pub fn matrix_bytes(&self) -> f64 {
        (self.stored * (self.value_bytes + COLUMN_BYTES) + self.structure_bytes) as f64
    }

    /// Bytes of x where each element is loaded `alpha` times for each nonzero that needs it: 1 is once a nonzero.
    pub fn x_bytes(&self, alpha: f64) -> f64 {
        alpha * (self.nnz * self.element_bytes) as f64
    }

    /// Bytes of y, which is stored once; beta is 0 and y is not read (the paper reads it: its 16 N).
    pub fn y_bytes(&self) -> f64 {
        (self.rows * self.element_bytes) as f64
    }

    /// Bytes to and from memory.
    pub fn bytes(&self, alpha: f64) -> f64 {
        self.matrix_bytes() + self.x_bytes(alpha) + self.y_bytes()
    }

    /// The paper's B: bytes an operation; infinite where there is nothing to compute.
    pub fn code_balance(&self, alpha: f64) -> f64 {
        self.bytes(alpha) / self.flops()
    }

    /// Bytes that pass through a cache between one gather of x and the next: all but x, in the mean.
    pub fn stream_bytes_per_gather(&self) -> f64 {
        (self.matrix_bytes() + self.y_bytes()) / self.nnz.max(1) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_balance_is_the_papers_but_for_what_is_not_read() {
        // f64, no padding, 20 nonzeros a row: the paper has (12 + 8 alpha + 16 / 20) / (2 + 3 / 20), of which
        // 8 / 20 is y read. Here row offsets take a part of that.
        let rows = 1000;
        let demand = Demand {
            rows,
            nnz: 20 * rows,
            stored: 20 * rows,
            value_bytes: 8,
            element_bytes: 8,
            structure_bytes: 0,
        };
        let expected = (12.0 + 8.0 * 0.5 + 8.0 / 20.0) / (2.0 + 3.0 / 20.0);
        assert!((demand.code_balance(0.5) - expected).abs() < 1e-12);
        let padded = Demand { stored: 25 * rows, ..demand };
        assert!((padded.bytes(0.5) - demand.bytes(0.5) - 12.0 * 5.0 * 1000.0).abs() < 1e-6);
    }
}
