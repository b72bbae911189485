//! Other libraries' results on records that are made up.

use super::*;
use crate::figures::{Across, Picture};
use crate::json_lines;
use crate::record::{BatchRecord, Details, SpmmRecord};
use crate::samples::sample;

const MAKING: GeneratorOptions = GeneratorOptions { scale: 0.25, seed: 3 };

fn figure(name: &str) -> &'static PaperFigure {
    PaperFigure::named(name).unwrap()
}

/// A product with 64 columns that takes 100 us, with a vector 10.
fn spmm(algorithm: &str) -> Record {
    let row = || "row".to_owned();
    let details = Details::Spmm(SpmmRecord {
        columns: 64,
        layout_b: row(),
        layout_c: row(),
        chosen: String::new(),
        mean_inode: 1.0,
        single_us: Some(10.0),
    });
    let mut record = sample("full 10 x 1000", algorithm).with_details(details);
    (record.rows, record.cols, record.nnz) = (10, 1000, 10_000);
    (record.median_us, record.gflops) = (Some(100.0), Some(12.8));
    record
}

/// A record as its program writes it: of another platform, of the head's scale and seed.
fn peer(product: PeerProduct, record: Record) -> Record {
    Record {
        algorithm: product.name().to_owned(),
        platform: "cuSPARSE 12.6.3".to_owned(),
        driver: "CUDA 13.0".to_owned(),
        scale: Some(MAKING.scale),
        seed: MAKING.seed,
        ..record
    }
}

fn batch(algorithm: &str) -> Record {
    let details = Details::Batch(BatchRecord {
        batch_size: 100,
        batch_kind: "balanced 4".to_owned(),
        batch_form: "as given".to_owned(),
        batch_bytes: 0,
        padding: 0,
        not_ell: 0,
        loop_us: Some(1000.0),
        block_diagonal_us: None,
    });
    sample("nos3-like", algorithm).with_details(details)
}

fn text(figure: &PaperFigure, records: &[Record]) -> String {
    let head = serde_json::to_string(&PeersHeader::of(figure, MAKING)).unwrap();
    format!("{head}\n{}", json_lines(records).unwrap())
}

fn names(picture: &Picture) -> Vec<&str> {
    picture.series.iter().map(|series| series.name.as_str()).collect()
}

#[test]
fn a_file_of_peers_reads_back_with_its_scale_and_seed() {
    let records = [peer(PeerProduct::CusparseSpmm, spmm(""))];
    let peers = Peers::parse(&text(figure("spmm-4"), &records), figure("spmm-4")).unwrap();
    assert_eq!(peers, Peers { generator: MAKING, records: records.into() });
}

#[test]
fn a_file_of_another_figure_and_lines_that_are_none_of_it_are_refused() {
    let of = |records: &[Record]| text(figure("spmm-4"), records);
    let good = of(&[peer(PeerProduct::CusparseSpmm, spmm(""))]);
    let ours = of(&[spmm("spmm_merge")]);
    let batches = of(&[peer(PeerProduct::CusparseLoop, batch(""))]);
    let dense = of(&[peer(PeerProduct::CublasGemm, spmm(""))]);
    let theirs = || peer(PeerProduct::CusparseSpmm, spmm(""));
    let unscaled = of(&[theirs(), Record { scale: None, ..theirs() }]);
    let reseeded = of(&[Record { seed: 4, ..theirs() }]);
    let headless = good.split_once('\n').unwrap().1;
    let old = good.replace(PEERS_SCHEMA, "sparrow-figure-peers/0");
    let cut = &good[..good.len() - 9];
    let complaint =
        |text: &str, name: &str| Peers::parse(text, figure(name)).unwrap_err().to_string();
    let cases = [
        (&*good, "spmm-1", "for the figure spmm-4, not for spmm-1"),
        (&good, "evc-hyb-4", "evc-hyb-4 takes no results of other libraries: segmented-sum-4"),
        ("", "spmm-4", "line 1 is not the head"),
        (headless, "spmm-4", "line 1 is not the head"),
        (&old, "spmm-4", "its schema is \"sparrow-figure-peers/0\""),
        (&ours, "spmm-4", "line 2: spmm_merge is no product of another library"),
        (&batches, "spmm-4", "line 2: its op is \"batch\", the figure's \"spmm\""),
        (
            &dense,
            "spmm-4",
            "line 2: spmm-4 does not show cublas_gemm: of others it shows cusparse_spmm, mkl_spmm",
        ),
        (&unscaled, "spmm-4", "line 3: its scale is 1, the head's 0.25"),
        (&reseeded, "spmm-4", "line 2: its seed is 4, the head's 3"),
        (cut, "spmm-4", "line 2: EOF"),
        (&of(&[]), "spmm-4", "it has no results"),
    ];
    for (text, name, expected) in cases {
        let complaint = complaint(text, name);
        assert!(complaint.contains(expected), "{complaint}");
    }
}

#[test]
fn cusparse_is_two_lines_next_to_ours_over_the_aspect_ratio_and_no_device_of_its_own() {
    let records = [spmm("spmm"), peer(PeerProduct::CusparseSpmm, spmm(""))];
    let pictures = figure("spmm-1").pictures(&records);
    assert_eq!(pictures.len(), 1);
    let theirs = ["cuSPARSE, with a vector", "cuSPARSE, with 64 columns"];
    assert_eq!(names(&pictures[0])[2..], theirs);
    assert_eq!(pictures[0].series[2].points, [(0.01, Some(2.0))]);
    assert_eq!(pictures[0].series[3].points, [(0.01, Some(12.8))]);
    let points = figure("spmm-1").points(&records);
    assert!(points.iter().all(|point| point.platform == "Example Platform"));
    // Without them there is no line of theirs.
    assert_eq!(names(&figure("spmm-1").pictures(&records[..1])[0]).len(), 2);
}

#[test]
fn a_wrong_result_of_another_library_is_no_line() {
    let wrong = Record { verified: false, ..peer(PeerProduct::CusparseSpmm, spmm("")) };
    let pictures = figure("spmm-4").pictures(&[spmm("spmm_merge"), wrong]);
    assert_eq!(names(&pictures[0]).len(), 4);
}

#[test]
fn sparse_and_dense_products_of_both_vendors_stand_over_density() {
    use PeerProduct::{CublasGemm, CusparseSpmm, MklGemm, MklSpmm};
    let mut records = vec![spmm("spmm_merge")];
    let all = [CusparseSpmm, CublasGemm, MklSpmm, MklGemm];
    records.extend(all.map(|product| peer(product, spmm(""))));
    let pictures = figure("spmm-7").pictures(&records);
    let theirs = ["cuSPARSE", "MKL", "cuBLAS, dense product", "MKL, dense product"];
    assert_eq!(names(&pictures[0])[4..], theirs);
    assert_eq!(pictures[0].series[6].points, [(100.0, Some(0.1))]);
}

#[test]
fn gains_of_cusparse_are_over_as_many_of_our_products_with_a_vector() {
    let theirs = Record { median_us: Some(320.0), ..peer(PeerProduct::CusparseSpmm, spmm("")) };
    let pictures = figure("spmm-6").pictures(&[spmm("spmm"), theirs]);
    assert_eq!(names(&pictures[1]), ["the published rule", "the choice", "cuSPARSE"]);
    assert_eq!(pictures[1].series[2].points, [(1000.0, Some(2.0))]);
}

#[test]
fn cusparse_in_a_loop_in_one_matrix_and_batched_are_lines_of_a_batch() {
    use PeerProduct::{CusparseBatched, CusparseBlockDiagonal, CusparseLoop};
    let mut records = vec![batch("batched_csr_i")];
    let all = [CusparseLoop, CusparseBlockDiagonal, CusparseBatched];
    records.extend(all.map(|product| peer(product, batch(""))));
    let theirs = ["cuSPARSE in a loop", "cuSPARSE, block-diagonal", "cuSPARSE, batched"];
    for name in ["batched-3", "batched-4"] {
        let pictures = figure(name).pictures(&records);
        assert_eq!(names(&pictures[0])[2..], theirs, "{name}");
    }
}

/// A product with a vector that takes so many us.
fn spmv(algorithm: &str, variant: &str, us: f64) -> Record {
    let mut record = sample("a", algorithm);
    record.variant = variant.to_owned();
    (record.median_us, record.gflops) = (Some(us), Some(100.0 / us));
    record
}

#[test]
fn cusparse_is_the_csr_that_evc_hyb_is_compared_with_where_it_is_there() {
    let mut records =
        vec![spmv("evc_hyb", "hybrid", 2.0), spmv("csr_vector", "", 4.0), spmv("hyb", "", 3.0)];
    let speed_up = |records: &[Record]| {
        let pictures = figure("evc-hyb-3").pictures(records);
        let Across::Blocks { names, .. } = &pictures[0].across else { panic!("{pictures:?}") };
        (names[0].clone(), pictures[0].series[0].points[0].1)
    };
    assert_eq!(speed_up(&records), ("HYB, a".to_owned(), Some(1.5)));
    records.push(peer(PeerProduct::CusparseSpmv, spmv("", "", 1.0)));
    assert_eq!(speed_up(&records), ("CSR, a".to_owned(), Some(0.5)));
    let rates = figure("evc-hyb-5").pictures(&records);
    assert_eq!(names(&rates[0])[4..], ["cuSPARSE"]);
    assert_eq!(rates[0].series[4].points, [(0.0, Some(100.0))]);
    let random = figure("evc-hyb-15").pictures(&records);
    assert_eq!(names(&random[0])[4..], ["cuSPARSE"]);
}

#[test]
fn libraries_are_bars_of_the_segmented_sum_and_have_harmonic_means() {
    let records = [
        spmv("segmented_sum", "fused", 4.0),
        peer(PeerProduct::CusparseSpmv, spmv("", "", 2.0)),
        peer(PeerProduct::MklSpmv, spmv("", "", 5.0)),
    ];
    let pictures = figure("segmented-sum-5").pictures(&records);
    assert_eq!(names(&pictures[0])[6..], ["cuSPARSE", "MKL"]);
    assert_eq!(pictures[0].series[6].points, [(0.0, Some(50.0)), (1.0, Some(50.0))]);
}

#[test]
fn a_figure_that_would_drop_mkl_refuses_it_and_a_file_has_no_scale() {
    let mkl = [peer(PeerProduct::MklSpmv, spmv("", "", 5.0))];
    let complaint = Peers::parse(&text(figure("evc-hyb-3"), &mkl), figure("evc-hyb-3"));
    let expected = "line 2: evc-hyb-3 does not show mkl_spmv: of others it shows cusparse_spmv";
    assert_eq!(complaint.unwrap_err().to_string(), expected);
    let of_file = [Record { scale: None, source: "file".to_owned(), ..mkl[0].clone() }];
    for records in [mkl, of_file] {
        let read = Peers::parse(&text(figure("evc-hyb-5"), &records), figure("evc-hyb-5"));
        assert_eq!(read.unwrap().records, records);
    }
}
