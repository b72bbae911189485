//! Claims about the whole page: what it says, what it never says, and that it is well-formed.

use super::*;
use crate::samples::{failed, hetero_mut, hetero_sample, model_sample, sample};

/// Panics unless every start tag has its end tag in order and no bare `<` or `&` is left.
fn assert_well_formed(page: &str) {
    let mut open: Vec<&str> = Vec::new();
    let mut rest = page.strip_prefix("<!DOCTYPE html>").unwrap();
    while let Some(start) = rest.find('<') {
        assert_entities(&rest[..start]);
        let end = start + rest[start..].find('>').expect("an open tag is closed");
        let tag = &rest[start + 1..end];
        match tag.strip_prefix('/') {
            Some(name) => assert_eq!(open.pop(), Some(name), "before {}", &rest[..start]),
            None => {
                assert!(!tag.contains('<'), "{tag}");
                assert_eq!(tag.matches('"').count() % 2, 0, "{tag}");
                let name = tag.split_ascii_whitespace().next().unwrap();
                assert!(name.chars().all(|c| c.is_ascii_alphanumeric()), "{tag}");
                if name != "meta" {
                    open.push(name);
                }
            }
        }
        rest = &rest[end + 1..];
    }
    assert!(open.is_empty(), "left open: {open:?}");
}

fn assert_entities(text: &str) {
    for (place, _) in text.match_indices('&') {
        let known = ["&amp;", "&lt;", "&gt;", "&quot;", "&#39;"];
        assert!(known.iter().any(|e| text[place..].starts_with(e)), "{text}");
    }
}

fn count(page: &str, text: &str) -> usize {
    page.matches(text).count()
}

#[test]
fn the_page_is_well_formed_and_needs_nothing_from_outside() {
    let mut records = vec![sample("a", "csr_scalar"), failed("b", "csr_adaptive")];
    records[1].source = "likeness".to_owned();
    records.push(Record { value_type: "f32".to_owned(), ..sample("a", "csr_adaptive") });
    let page = html(&records, "Report").unwrap();
    assert_well_formed(&page);
    for outside in ["http:", "https:", "<script", "@import", "url(", "<link", " src="] {
        assert_eq!(count(&page, outside), 0, "{outside}");
    }
}

#[test]
fn the_model_has_four_figures_a_value_type_and_algorithm() {
    let records = [
        model_sample("a", "csr_scalar"),
        model_sample("b", "csr_scalar"),
        Record { value_type: "f32".to_owned(), ..model_sample("a", "csr_scalar") },
        sample("c", "csr_scalar"),
    ];
    let page = html(&records, "Report").unwrap();
    assert_well_formed(&page);
    assert_eq!(count(&page, "The bandwidth model"), 1);
    for title in ["Code balance and alpha", "Measured and modelled", "Where the time goes"] {
        // In the chart's title and in its heading, for each type.
        assert_eq!(count(&page, title), 4, "{title}");
    }
    assert!(page.contains("within 20% of the measured time: 3 of 3"));
    assert_eq!(count(&html(&records[3..], "Report").unwrap(), "bandwidth model"), 0);
}

#[test]
fn texts_of_records_are_escaped_wherever_they_stand() {
    let evil = "<script>&\"'\u{7}";
    let mut record = sample(evil, evil);
    for field in [
        &mut record.source,
        &mut record.variant,
        &mut record.params,
        &mut record.kernel_key,
        &mut record.value_type,
        &mut record.offset_type,
        &mut record.accumulate,
        &mut record.cache,
        &mut record.device,
        &mut record.platform,
        &mut record.driver,
        &mut record.version,
    ] {
        *field = evil.to_owned();
    }
    let page = html(&[record.clone(), Record { verified: false, ..record }], evil).unwrap();
    assert_well_formed(&page);
    assert!(!page.contains("<script") && !page.contains('\u{7}'));
    assert!(page.contains("&lt;script&gt;&amp;&quot;&#39;\u{fffd}"));
}

#[test]
fn no_records_are_an_error() {
    assert!(matches!(html(&[], "t"), Err(ReportError::Empty)));
}

#[test]
fn records_of_another_schema_are_refused_by_name() {
    let record = Record { schema: "sparrow-bench/9".to_owned(), ..sample("m", "a") };
    let error = html(&[sample("m", "a"), record], "t").unwrap_err();
    assert_eq!(
        error.to_string(),
        r#"record 1 has schema "sparrow-bench/9" where "sparrow-bench/1" is needed"#
    );
}

#[test]
fn values_that_are_no_measure_are_refused() {
    for value in [f64::NAN, f64::INFINITY, -1.0] {
        let record = Record { gbytes_per_s: Some(value), ..sample("m", "a") };
        let error = html(&[record], "t").unwrap_err().to_string();
        assert!(error.contains("(m, a) has gbytes_per_s"), "{error}");
    }
}

#[test]
fn a_result_with_nan_or_infinity_says_so() {
    let page = html(&[Record { non_finite: 3, ..sample("m", "a") }], "t").unwrap();
    assert_eq!(count(&page, "✓ yes, 3 NaN or ∞"), 1);
    assert!(page.contains("the 1 result verified (1 with NaN or infinity)"));
}

#[test]
fn a_failed_result_shows_no_time_even_if_its_record_holds_one() {
    let mut record = Record { verified: false, ..sample("m", "a") };
    record.median_us = Some(77.7);
    record.gflops = Some(66.6);
    record.gbytes_per_s = Some(55.5);
    record.limit_fraction = Some(0.444);
    record.setup_in_products = Some(33.3);
    let page = html(&[record], "t").unwrap();
    for figure in ["77.7", "66.6", "55.5", "44.4", "33.3"] {
        assert!(!page.contains(figure), "{figure}");
    }
    // In the chart; in the table as the verdict and where the time would stand; in the headline.
    assert_eq!(count(&page, "✕ FAILED"), 2);
    assert_eq!(count(&page, ">FAILED</td>"), 1);
    assert!(page.contains("0 of 1 result verified, 1 FAILED"));
    assert!(!page.contains("class=\"bar "));
}

#[test]
fn every_verified_result_has_a_bar_and_every_matrix_a_name() {
    let mut records = Vec::new();
    for matrix in 0..50 {
        let name = format!("matrix-{matrix}");
        records.push(Record { nnz: 1000 + matrix, ..sample(&name, "csr_scalar") });
        records.push(Record { nnz: 1000 + matrix, ..sample(&name, "csr_adaptive") });
    }
    let page = html(&records, "t").unwrap();
    assert_eq!(count(&page, "class=\"bar "), 100);
    assert_eq!(count(&page, "<text class=\"matrix\""), 50);
    assert_eq!(count(&page, "✓ yes"), 100);
}

#[test]
fn each_device_has_its_own_section_and_headline() {
    let other = Record { device: "Other CPU".to_owned(), ..failed("m", "a") };
    let page = html(&[sample("m", "a"), other], "t").unwrap();
    assert_well_formed(&page);
    assert_eq!(count(&page, "<section>"), 2);
    assert_eq!(count(&page, "class=\"headline\""), 2);
    assert!(page.contains("2 devices: "));
    assert_eq!(count(&page, "<details>"), 2);
}

#[test]
fn a_page_of_several_devices_says_which_is_the_fastest() {
    let other = Record {
        device: "Other GPU".to_owned(),
        median_us: Some(401.0),
        ..sample("m", "csr_scalar")
    };
    let page = html(&[sample("m", "csr_scalar"), other], "t").unwrap();
    assert_eq!(count(&page, "Which device: f64, 1 case, by the fastest result of each."), 1);
    assert!(
        page.contains(
            "<li>Other GPU (Example Platform, driver 1.0): takes 2.00 times as long</li>"
        )
    );
    assert_eq!(count(&html(&[sample("m", "a")], "t").unwrap(), "Which device"), 0);
}

#[test]
fn ids_are_unique_on_a_page_of_several_devices_and_types() {
    let mut records = vec![sample("m", "a"), sample("m", "a"), sample("m", "a")];
    records[1].value_type = "f32".to_owned();
    records[2].driver = "2".to_owned();
    let page = html(&records, "t").unwrap();
    let ids: Vec<&str> =
        page.split(" id=\"").skip(1).map(|rest| rest.split('"').next().unwrap()).collect();
    let unique: std::collections::BTreeSet<_> = ids.iter().collect();
    assert_eq!(unique.len(), ids.len());
    assert!(ids.len() > 9);
}

#[test]
fn likenesses_and_assembled_problems_are_marked_and_files_are_not() {
    let like = Record { source: "likeness".to_owned(), ..sample("pwtk-like", "a") };
    let file = Record { source: "file".to_owned(), ..sample("own", "a") };
    let page = html(&[sample("elasticity", "a"), like, file], "t").unwrap();
    assert!(page.contains("△ elasticity<") && page.contains("≈ pwtk-like<"));
    assert_eq!(count(&page, "class=\"badge\""), 2);
}

#[test]
fn a_result_without_a_rate_is_drawn_as_such_and_not_as_zero() {
    let mut record = sample("m", "host");
    record.stream_gbytes_per_s = None;
    record.copy_gbytes_per_s = None;
    record.limit_us = None;
    record.limit_fraction = None;
    let page = html(&[record], "t").unwrap();
    assert!(page.contains("no stream rate") && page.contains("its memory rate was not measured"));
    assert!(!page.contains("class=\"bar "));
}

#[test]
fn set_up_too_cheap_for_the_axis_is_said_to_be_below_it() {
    let free = Record { setup_in_products: Some(0.0), ..sample("m", "csr_scalar") };
    assert!(html(&[free], "t").unwrap().contains(">≤ 0.01<"));
    assert!(!html(&[sample("m", "csr_adaptive")], "t").unwrap().contains(">≤ "));
}

/// A run of four methods on `matrices` in two value types.
#[test]
fn a_papers_figure_is_a_page_with_a_bar_or_a_mark_for_each_value() {
    let with = |variant: &str, us: f64| {
        let mut record = sample("<m>", "csr_adaptive");
        record.variant = variant.to_owned();
        record.median_us = Some(us);
        record
    };
    let records =
        [with("baseline", 8.0), with("nrs", 4.0), with("nrs-log", 2.0), with("full", 1.0)];
    let figure = crate::figures::PaperFigure::named("csr-adaptive-10").unwrap();
    let page = figure_html(figure, &records, "sparrow bench figure csr-adaptive-10").unwrap();
    assert_well_formed(&page);
    // Four bars for the matrix and for each mean; a dashed line where nothing is gained.
    assert_eq!((count(&page, "class=\"bar s"), count(&page, "class=\"limit\"")), (12, 1));
    assert!(page.contains("&lt;m&gt;") && !page.contains("<m>"));
    let figure = crate::figures::PaperFigure::named("evc-hyb-15").unwrap();
    let random = |rows: u64| Record { nnz: rows * rows, ..sample("random", "hyb") };
    let page = figure_html(figure, &[random(1000), random(2000)], "again").unwrap();
    assert_well_formed(&page);
    assert_eq!(count(&page, "class=\"trace"), 1);
    assert!(matches!(figure_html(figure, &[], "again"), Err(ReportError::Empty)));
}

fn hetero_run(matrices: usize) -> Vec<Record> {
    let mut records = Vec::new();
    for value_type in ["f32", "f64"] {
        for matrix in 0..matrices {
            let name = format!("matrix-{matrix}");
            let on = |algorithm: &str, devices: &[&str]| Record {
                value_type: value_type.to_owned(),
                nnz: 1000 * (1 + matrix as u64),
                ..hetero_sample(&name, algorithm, devices)
            };
            let mut device = on("segmented_sum", &["Example GPU"]);
            device.variant = "device".to_owned();
            let hetero = hetero_mut(&mut device);
            hetero.dirty_tile_share = Some(matrix as f64 / 20.0);
            records.extend([
                on("host", &["host"]),
                device,
                on("segmented_sum", &["Example GPU"]),
                on("hetero", &["Example GPU", "host"]),
            ]);
        }
    }
    records
}

#[test]
fn hetero_records_have_a_panel_a_matrix_and_a_mean_for_each_value_type() {
    let page = html(&hetero_run(20), "t").unwrap();
    assert_well_formed(&page);
    assert_eq!(count(&page, "harmonic mean of 20</strong>"), 2);
    assert_eq!(count(&page, "<strong>△ matrix-"), 40);
    // Four methods on 20 matrices and their mean, and two bars of bandwidth a matrix, in two types.
    assert_eq!(count(&page, "class=\"bar "), 2 * (4 * 21 + 2 * 20));
    // Two points a matrix and type besides those of the legends.
    assert_eq!(count(&page, "times stage 1, "), 2 * 2 * 20);
    assert_eq!(count(&page, "what reading a stream reaches: Example GPU 400<"), 2);
    assert!(!page.contains("Share of the limit</h3>") && !page.contains('\u{fffd}'));
    let ids: Vec<&str> =
        page.split(" id=\"").skip(1).map(|rest| rest.split('"').next().unwrap()).collect();
    let unique: std::collections::BTreeSet<_> = ids.iter().collect();
    assert_eq!(unique.len(), ids.len());
}

#[test]
fn a_failed_hetero_result_shows_no_figure_and_takes_the_mean_of_its_method() {
    let mut records = hetero_run(2);
    records.truncate(8);
    let wrong = &mut records[1];
    wrong.verified = false;
    (wrong.median_us, wrong.gflops) = (Some(77.7), Some(66.6));
    let hetero = hetero_mut(wrong);
    (hetero.stage1_us, hetero.stage2_us, hetero.single_us) = (Some(55.5), Some(44.4), Some(33.3));
    let page = html(&records, "t").unwrap();
    for figure in ["77.7", "66.6", "55.5", "44.4", "33.3"] {
        assert!(!page.contains(figure), "{figure}");
    }
    // The panel, the mean's panel and the bar of bandwidth.
    assert_eq!(count(&page, "<text class=\"value failed\""), 3);
    // 7 of 8 results, 3 of 4 means, 3 of 4 bandwidths.
    assert_eq!(count(&page, "class=\"bar "), 13);
    assert_eq!(count(&page, "times stage 1, "), 3);
}

#[test]
fn records_without_a_hetero_part_keep_their_sections_next_to_others() {
    let alone = [sample("m", "csr_scalar"), failed("n", "csr_adaptive")];
    let section = |page: &str| {
        let start = page.find("<h3>Share of the limit").unwrap();
        let end = page[start..].find("</section>").unwrap();
        page[start..start + end].to_owned()
    };
    let mut mixed = alone.to_vec();
    mixed.extend(hetero_run(1));
    let (before, after) = (html(&alone, "t").unwrap(), html(&mixed, "t").unwrap());
    assert_well_formed(&after);
    assert_eq!(section(&before), section(&after));
    assert!(!before.contains("harmonic mean of"));
}

#[test]
fn stages_that_are_no_measure_are_refused() {
    let mut record = hetero_sample("m", "segmented_sum", &["GPU"]);
    hetero_mut(&mut record).stage2_us = Some(f64::NAN);
    let error = html(&[record], "t").unwrap_err().to_string();
    assert!(error.contains("(m, segmented_sum) has stage2_us"), "{error}");
}

#[test]
fn texts_of_hetero_records_are_escaped() {
    let evil = "<script>&\"'\u{7}";
    let mut records = vec![
        hetero_sample(evil, "segmented_sum", &[evil]),
        hetero_sample(evil, evil, &["other"]),
        hetero_sample(evil, "hetero", &[evil, "other"]),
    ];
    records[2].value_type = evil.to_owned();
    let page = html(&records, evil).unwrap();
    assert_well_formed(&page);
    assert!(!page.contains("<script") && !page.contains('\u{7}'));
}
