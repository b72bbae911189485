//! The likenesses, one row a matrix: published figures and the rules that imitate the rest.
//!
//! Rows, columns, nonzeros, shortest and longest row are the papers' where they print them. Chosen: the
//! spread of row lengths; the band of the webs' local part and of classes whose band is not published;
//! how giant rows fall off, halving, but for dc1 and dc2, whose second row EVC-HYB gives. The shares
//! and means of `long` are the vector-CSR part in Table 3 of EVC-HYB.

use super::columns::{Far, Placement};
use super::lengths::Tail;
use super::likeness::Likeness;

/// Every likeness in the suite's order: [name, the papers' name where it differs, papers],
/// [rows, cols, nnz], [shortest, longest], sigma, columns, tail.
#[rustfmt::skip]
pub(super) const LIKENESSES: &[Likeness] = &[
    row(["dense2", "Dense", "CSR-Adaptive, segmented sum"],
        [2_000, 2_000, 4_000_000], [2_000, 2_000], 0.0, Placement::All, Tail::None),
    row(["pdb1HYS", "Protein", "CSR-Adaptive, segmented sum, EVC-HYB"],
        [36_417, 36_417, 4_344_765], [18, 204], 0.35, band(1_500, 3), Tail::None),
    row(["consph", "FEM/Spheres", "CSR-Adaptive, segmented sum"],
        [83_334, 83_334, 6_010_480], [1, 81], 0.2, band(2_500, 3), Tail::None),
    row(["cant", "FEM/Cantilever", "CSR-Adaptive, segmented sum"],
        [62_451, 62_451, 4_007_383], [1, 78], 0.2, band(300, 3), Tail::None),
    row(["pwtk", "Wind Tunnel", "CSR-Adaptive, segmented sum, EVC-HYB"],
        [217_918, 217_918, 11_634_424], [2, 180], 0.15, band(600, 6), Tail::None),
    row(["rma10", "FEM/Harbor", "CSR-Adaptive, segmented sum, EVC-HYB"],
        [46_835, 46_835, 2_374_001], [4, 145], 0.4, band(1_000, 3), Tail::None),
    row(["qcd5_4", "QCD", "CSR-Adaptive, segmented sum"],
        [49_152, 49_152, 1_916_928], [39, 39], 0.0, spread(2_000, 3, 0.3), Tail::None),
    row(["shipsec1", "FEM/Ship", "CSR-Adaptive, segmented sum, EVC-HYB"],
        [140_874, 140_874, 7_813_404], [24, 102], 0.2, band(3_000, 3), Tail::None),
    row(["mac_econ_fwd500", "Economics", "CSR-Adaptive, segmented sum, EVC-HYB"],
        [206_500, 206_500, 1_273_389], [1, 44], 0.5, spread(1_000, 1, 0.4), Tail::None),
    row(["mc2depi", "Epidemiology", "CSR-Adaptive, segmented sum"],
        [525_825, 525_825, 2_100_225], [2, 4], 0.0, Placement::FivePoint, Tail::None),
    row(["cop20k_A", "FEM/Accelerator", "CSR-Adaptive, segmented sum, EVC-HYB"],
        [121_192, 121_192, 2_624_331], [0, 81], 0.6, spread(3_000, 1, 0.3), Tail::None),
    row(["scircuit", "Circuit", "CSR-Adaptive, segmented sum, EVC-HYB"],
        [170_998, 170_998, 958_936], [1, 353], 0.6, spread(500, 1, 0.2), Tail::None),
    row(["webbase-1M", "Webbase", "CSR-Adaptive, segmented sum, EVC-HYB"],
        [1_000_005, 1_000_005, 3_105_536], [1, 4_700], 0.8, skew(1_000, 1, 0.5), long(0.113, 457.0)),
    row(["rail4284", "LP", "CSR-Adaptive, segmented sum"],
        [4_284, 1_096_894, 11_284_032], [1, 56_182], 1.0, ANYWHERE, Tail::None),
    row(["circuit5M", "", "CSR-Adaptive"],
        [5_558_326, 5_558_326, 59_524_291], [1, 1_290_501], 0.6, band(2_000, 1), giants(4, 0.5)),
    row(["eu-2005", "", "CSR-Adaptive"],
        [862_664, 862_664, 19_235_140], [0, 4_240], 1.0, skew(1_000, 1, 0.2), Tail::None),
    row(["in-2004", "", "CSR-Adaptive"],
        [1_382_908, 1_382_908, 16_917_053], [0, 7_753], 1.0, skew(1_000, 1, 0.2), Tail::None),
    row(["Ga41As41H72", "", "CSR-Adaptive"],
        [268_096, 268_096, 18_488_476], [18, 702], 0.5, spread(8_000, 1, 0.5), Tail::None),
    row(["Si41Ge41H72", "", "CSR-Adaptive"],
        [185_639, 185_639, 15_011_265], [13, 662], 0.5, spread(8_000, 1, 0.5), Tail::None),
    row(["mip1", "", "CSR-Adaptive"],
        [66_463, 66_463, 10_352_819], [4, 66_396], 0.6, spread(2_000, 4, 0.4), giants(3, 0.98)),
    row(["ASIC_680k", "", "CSR-Adaptive, segmented sum"],
        [682_862, 682_862, 3_871_773], [1, 395_259], 0.6, band(500, 1), giants(3, 0.5)),
    row(["dc2", "", "CSR-Adaptive, segmented sum"],
        [116_835, 116_835, 766_396], [1, 114_190], 0.6, band(500, 1), giants(2, 0.4133)),
    row(["FullChip", "", "CSR-Adaptive"],
        [2_987_012, 2_987_012, 26_621_990], [1, 2_312_481], 0.6, band(3_000, 1), giants(3, 0.5)),
    row(["ins2", "", "CSR-Adaptive, segmented sum"],
        [309_412, 309_412, 2_751_484], [5, 309_412], 0.3, band(500, 1), giants(1, 1.0)),
    row(["bone010", "", "CSR-Adaptive"],
        [986_703, 986_703, 47_851_783], [12, 81], 0.2, band(4_000, 3), Tail::None),
    row(["crankseg_2", "", "CSR-Adaptive"],
        [63_838, 63_838, 14_148_858], [48, 3_423], 0.3, band(3_000, 3), Tail::None),
    row(["ldoor", "", "CSR-Adaptive, EVC-HYB"],
        [952_203, 952_203, 42_493_817], [28, 77], 0.2, band(4_000, 3), Tail::None),
    row(["rajat31", "", "CSR-Adaptive"],
        [4_690_002, 4_690_002, 20_316_253], [1, 1_252], 0.5, band(3_000, 1), Tail::None),
    row(["rajat21", "", "segmented sum"],
        [411_676, 411_676, 1_876_011], [1, 118_689], 0.6, band(500, 1), giants(3, 0.5)),
    row(["Rucci1", "", "CSR-Adaptive"],
        [1_977_885, 109_900, 7_791_168], [4, 5], 0.1, band(500, 1), Tail::None),
    row(["boyd2", "", "CSR-Adaptive, segmented sum"],
        [466_316, 466_316, 1_500_397], [2, 93_262], 0.3, band(500, 1), giants(3, 0.5)),
    row(["sls", "", "CSR-Adaptive"],
        [1_748_122, 62_729, 6_804_304], [2, 5], 0.2, ANYWHERE, Tail::None),
    row(["transient", "", "CSR-Adaptive, segmented sum"],
        [178_866, 178_866, 961_790], [1, 60_423], 0.6, band(500, 1), giants(3, 0.5)),
    row(["TSOPF_RS_b2383", "", "EVC-HYB"],
        [38_120, 38_120, 16_171_169], [2, 983], 0.5, band(1_000, 40), Tail::None),
    row(["audikw_1", "", "EVC-HYB"],
        [943_695, 943_695, 77_651_847], [21, 345], 0.5, band(6_000, 3), Tail::None),
    row(["cage14", "", "EVC-HYB"],
        [1_505_785, 1_505_785, 27_130_349], [5, 41], 0.3, band(50_000, 1), Tail::None),
    row(["torso1", "", "EVC-HYB"],
        [116_158, 116_158, 8_516_500], [9, 3_263], 0.1, band(3_000, 1), long(0.88, 2696.0)),
    row(["web-Google", "", "EVC-HYB"],
        [916_428, 916_428, 5_105_039], [0, 456], 0.9, skew(1_000, 1, 0.9), Tail::None),
    row(["dc1", "ibm-dc1", "EVC-HYB"],
        [116_835, 116_835, 766_396], [1, 114_190], 0.6, band(500, 1), giants(2, 0.4133)),
    row(["raefsky3", "", "EVC-HYB"],
        [21_200, 21_200, 1_488_768], [32, 80], 0.1, band(700, 8), Tail::None),
    row(["msdoor", "", "EVC-HYB"],
        [415_863, 415_863, 20_240_935], [28, 77], 0.2, band(4_000, 3), Tail::None),
    row(["Stanford", "", "EVC-HYB"],
        [281_903, 281_903, 2_312_497], [0, 255], 1.0, skew(1_000, 1, 0.6), Tail::None),
    row(["pre2", "att-pre2", "EVC-HYB"],
        [659_033, 659_033, 5_959_282], [1, 628], 0.6, spread(3_000, 1, 0.2), long(0.0828, 623.0)),
    row(["indochina-2004", "", "EVC-HYB"],
        [7_414_866, 7_414_866, 194_109_311], [0, 6_985], 0.9, skew(5_000, 4, 0.2), long(0.354, 1000.0)),
    row(["Stanford_Berkeley", "", "EVC-HYB"],
        [683_446, 683_446, 7_583_376], [0, 83_448], 0.9, skew(1_000, 1, 0.5), long(0.525, 798.0)),
    row(["RM07R", "", "EVC-HYB"],
        [381_689, 381_689, 37_464_962], [1, 295], 0.3, band(8_000, 4), long(0.3626, 197.0)),
    row(["uniform16", "", ""],
        [4_194_304, 4_194_304, 67_108_864], [16, 16], 0.0, ANYWHERE, Tail::None),
];

/// Within this distance of the diagonal, in runs of so many columns shared by as many rows.
const fn band(band: u32, run: u32) -> Placement {
    Placement::Near { band, run, far_share: 0.0, far: Far::Uniform }
}

/// As `band`, but this share of the nonzeros anywhere.
const fn spread(band: u32, run: u32, far_share: f64) -> Placement {
    Placement::Near { band, run, far_share, far: Far::Uniform }
}

const ANYWHERE: Placement = spread(0, 1, 1.0);

/// As `band`, but this share of the nonzeros anywhere, crowded to low columns.
const fn skew(band: u32, run: u32, far_share: f64) -> Placement {
    Placement::Near { band, run, far_share, far: Far::Skewed }
}

const fn giants(rows: u32, ratio: f64) -> Tail {
    Tail::Giants { rows, ratio }
}

const fn long(nnz_share: f64, mean: f64) -> Tail {
    Tail::Long { nnz_share, mean }
}

const fn row(
    [name, also, papers]: [&'static str; 3],
    [rows, cols, nnz]: [usize; 3],
    [shortest, longest]: [u32; 2],
    sigma: f64,
    placement: Placement,
    tail: Tail,
) -> Likeness {
    let nnz = nnz as u64;
    Likeness { name, also, papers, rows, cols, nnz, shortest, longest, sigma, placement, tail }
}
