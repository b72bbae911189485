//! Records as JSON Lines: one object a line, fields as [`Record`] declares them.

use crate::record::Record;

/// One line of JSON a record, each ended by a newline; nothing for no records.
///
/// # Errors
/// None is known for a [`Record`]; the serialiser's signature admits one, and it is passed on.
pub fn json_lines(records: &[Record]) -> Result<String, serde_json::Error> {
    let mut lines = String::new();
    for record in records {
        lines.push_str(&serde_json::to_string(record)?);
        lines.push('\n');
    }
    Ok(lines)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::{
        BatchRecord, ConvertRecord, Details, EvcHybRecord, SpgemmRecord, SpmmRecord, SpmvRecord,
        VectorRecord,
    };
    use crate::samples::{failed, hetero_mut, hetero_sample, model_sample, sample};
    use expect_test::expect;

    #[test]
    fn the_form_of_a_record_is_the_published_one() {
        expect![[r#"
            {"schema":"sparrow-bench/1","version":"0.1.0","matrix":"elasticity","source":"assembled","rows":62451,"cols":62451,"nnz":4007383,"op":"spmv","algorithm":"csr_adaptive","variant":"","params":"group_size=256,nnz_per_wg=1024","kernel_key":"csr_adaptive-f64-u32","value_type":"f64","offset_type":"u32","accumulate":"plain","device":"Example GPU","platform":"Example Platform","driver":"1.0","seed":1,"stream_gbytes_per_s":400.0,"copy_gbytes_per_s":380.0,"cache":"hot","median_us":200.5,"min_us":198.0,"p95_us":215.25,"runs":100,"gflops":40.0,"gbytes_per_s":245.0,"limit_us":122.825,"limit_fraction":0.6125,"setup_us":300.0,"setup_in_products":1.5,"plan_bytes":31312,"repeatable":true,"verified":true,"error_in_tolerance":0.0625,"non_finite":0}
        "#]].assert_eq(&json_lines(&[sample("elasticity", "csr_adaptive")]).unwrap());
    }

    #[test]
    fn what_the_model_adds_stands_next_to_the_other_fields() {
        let line = json_lines(&[model_sample("m", "a")]).unwrap();
        let tail = &line[line.find("\"alpha\"").unwrap()..];
        expect![[r#"
            "alpha":0.25,"code_balance":7.6,"dram_bytes":49000000.0,"l2_sectors":2000000.0,"sector_rate":20.0,"launch_us":3.5,"predicted_us":180.45,"predicted_by":"memory","predicted_over_measured":0.9,"x_constant_us":120.0,"a_constant_us":100.0,"both_constant_us":40.0}
        "#]]
        .assert_eq(tail);
        let back: Record = serde_json::from_str(&line).unwrap();
        assert_eq!(back, model_sample("m", "a"));
    }

    #[test]
    fn what_each_operation_adds_comes_last_and_reads_back() {
        let evc_hyb = EvcHybRecord {
            vector_order: "permuted".to_owned(),
            split_row: 7,
            short_elements: 64,
            long_elements: 32,
            padding_percent: 1.5,
        };
        let mut hetero = hetero_sample("m", "a", &["GPU"]);
        hetero_mut(&mut hetero).evc_hyb = Some(evc_hyb.clone());
        let spmv = SpmvRecord { evc_hyb: Some(evc_hyb), ..SpmvRecord::default() };
        let row = || "row".to_owned();
        let spmm = SpmmRecord {
            columns: 32,
            layout_b: row(),
            layout_c: row(),
            chosen: "spmm_merge".to_owned(),
            mean_inode: 1.0,
            single_us: Some(20.0),
        };
        let spgemm =
            SpgemmRecord { products: 9, operand_nnz: 5, count_us: Some(1.5), fill_us: None };
        let batch = BatchRecord {
            batch_size: 2,
            batch_kind: "mixed".to_owned(),
            batch_form: "as given".to_owned(),
            batch_bytes: 80,
            padding: 0,
            not_ell: 0,
            loop_us: None,
            block_diagonal_us: Some(2.5),
        };
        let convert = ConvertRecord { entries: 3, host_us: None };
        let vector = VectorRecord {
            elements: 10,
            launch_us: Some(3.5),
            bare_launch_us: None,
            in_launches: None,
            copy_fraction: None,
        };
        let records = [
            hetero,
            sample("m", "a").with_details(Details::Spmv(spmv)),
            sample("m", "a").with_details(Details::Spmm(spmm)),
            sample("m", "a").with_details(Details::Spgemm(spgemm)),
            sample("m", "a").with_details(Details::Batch(batch)),
            sample("m", "a").with_details(Details::Convert(convert)),
            sample("m", "a").with_details(Details::Vector(vector)),
        ];
        let (mut tails, lines) = (String::new(), json_lines(&records).unwrap());
        for (line, record) in lines.lines().zip(&records) {
            let (head, tail) = line.split_once("\"non_finite\":0,").unwrap();
            assert!(head.contains(&format!("\"nnz\":4007383,\"op\":\"{}\",", record.op)), "{line}");
            tails.push_str(&format!("{}: {tail}\n", record.op));
            assert_eq!(serde_json::from_str::<Record>(line).unwrap(), *record);
        }
        expect![[r#"
            spmv: "devices":["GPU"],"share":0.0,"stage1_us":null,"stage2_us":null,"dirty_tile_share":null,"svm_bytes":0,"copied_bytes":0,"single_us":100.25,"vector_order":"permuted","split_row":7,"short_elements":64,"long_elements":32,"padding_percent":1.5}
            spmv: "vector_order":"permuted","split_row":7,"short_elements":64,"long_elements":32,"padding_percent":1.5}
            spmm: "columns":32,"layout_b":"row","layout_c":"row","chosen":"spmm_merge","mean_inode":1.0,"single_us":20.0}
            spgemm: "products":9,"operand_nnz":5,"count_us":1.5,"fill_us":null}
            batch: "batch_size":2,"batch_kind":"mixed","batch_form":"as given","batch_bytes":80,"padding":0,"not_ell":0,"loop_us":null,"block_diagonal_us":2.5}
            convert: "entries":3,"host_us":null}
            vector: "elements":10,"launch_us":3.5,"bare_launch_us":null,"in_launches":null,"copy_fraction":null}
        "#]]
        .assert_eq(&tails);
    }

    #[test]
    fn a_record_without_the_fields_of_its_operation_is_refused() {
        let line = json_lines(&[sample("m", "a")]).unwrap();
        let other = line.replace("\"op\":\"spmv\"", "\"op\":\"batch\"");
        let error = serde_json::from_str::<Record>(&other).unwrap_err().to_string();
        assert!(error.contains(r#"op is "batch", and the fields are those of "spmv""#), "{error}");
    }

    #[test]
    fn a_failed_result_has_nulls_where_times_would_stand() {
        let line = json_lines(&[failed("m", "a")]).unwrap();
        let value: serde_json::Value = serde_json::from_str(&line).unwrap();
        let timed = ["median_us", "min_us", "p95_us", "gflops", "gbytes_per_s", "limit_us"];
        for field in timed.iter().chain(&["limit_fraction", "setup_us", "setup_in_products"]) {
            assert_eq!(value.get(field), Some(&serde_json::Value::Null), "{field}");
        }
        assert_eq!(value["verified"], false);
    }

    #[test]
    fn lines_read_back_as_the_records_they_came_from() {
        let records = [sample("a\"b\n", "x"), failed("m", "y")];
        let lines = json_lines(&records).unwrap();
        let back: Vec<Record> =
            lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert_eq!(back, records);
        assert_eq!(json_lines(&[]).unwrap(), "");
    }
}
