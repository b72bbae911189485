//! `sparrow gen`: a matrix of the suite as a Matrix Market file.

use csr_core::generate::Class;
use csr_core::io::{Encoding, write_matrix_market_to};
use serde_json::json;
use sparrow_bench::counted;

use crate::arguments::{Gen, Global};
use crate::failure::Failure;
use crate::output::{Files, shown, write_json_line, write_output};

pub(crate) fn run(global: &Global, arguments: &Gen) -> Result<(), Failure> {
    let Gen { class, out, generator } = arguments;
    let generator = sparrow_bench::GeneratorOptions::from(*generator);
    let class: Class = class.parse()?;
    let words = Files::new(global).writes("--out", [out.as_path()]).check()?;
    let matrix = class.generate_wide(generator.scale, generator.seed)?;
    let encoding = Encoding::of(out);
    write_output(out, |sink| write_matrix_market_to(sink, encoding, matrix.view()))?;
    let line = json!({
        "schema": "sparrow-gen/1",
        "version": env!("CARGO_PKG_VERSION"),
        "matrix": class.display_name(),
        "scale": generator.scale,
        "seed": generator.seed,
        "rows": matrix.rows(),
        "cols": matrix.cols(),
        "nnz": matrix.nnz(),
    });
    write_json_line(global.json.as_deref(), &line)?;
    words.say(format_args!(
        "{}: {} x {}, {}, to {}",
        class.display_name(),
        matrix.rows(),
        matrix.cols(),
        counted(matrix.nnz(), "nonzero"),
        shown(out)
    ))
}
