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
    use crate::samples::{failed, model_sample, sample};
    use expect_test::expect;

    #[test]
    fn the_form_of_a_record_is_the_published_one() {
        expect![[r#"
            {"schema":"sparrow-bench/1","version":"0.1.0","matrix":"elasticity","source":"assembled","rows":62451,"cols":62451,"nnz":4007383,"op":"spmv","algorithm":"csr_adaptive","variant":"","params":"group_size=256,nnz_per_wg=1024","kernel_key":"csr_adaptive-f64-u32","value_type":"f64","offset_type":"u32","accumulate":"plain","device":"Example GPU","platform":"Example Platform","driver":"1.0","seed":1,"stream_gbytes_per_s":400.0,"copy_gbytes_per_s":380.0,"cache":"hot","median_us":200.5,"min_us":198.0,"p95_us":215.25,"runs":100,"gflops":40.0,"gbytes_per_s":245.0,"limit_us":122.825,"limit_fraction":0.6125,"setup_us":300.0,"setup_in_products":1.5,"plan_bytes":31312,"repeatable":true,"verified":true,"error_in_tolerance":0.0625}
        "#]].assert_eq(&json_lines(&[sample("elasticity", "csr_adaptive")]).unwrap());
    }

    #[test]
    fn what_the_model_adds_stands_beside_the_other_fields() {
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
