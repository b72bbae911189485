//! The means that papers print.

/// The sum over the number; `None` of nothing.
pub(crate) fn arithmetic(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

/// Of values above 0; `None` of nothing.
pub(crate) fn geometric(values: &[f64]) -> Option<f64> {
    arithmetic(&values.iter().map(|value| value.ln()).collect::<Vec<_>>()).map(f64::exp)
}

/// Of values above 0; `None` of nothing.
pub(crate) fn harmonic(values: &[f64]) -> Option<f64> {
    arithmetic(&values.iter().map(|value| value.recip()).collect::<Vec<_>>()).map(f64::recip)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_three_means_of_2_and_8() {
        let values = [2.0, 8.0];
        let close = |mean: Option<f64>, value: f64| (mean.unwrap() - value).abs() < 1e-12;
        assert!(close(arithmetic(&values), 5.0));
        assert!(close(geometric(&values), 4.0));
        assert!(close(harmonic(&values), 3.2));
        assert_eq!([arithmetic(&[]), geometric(&[]), harmonic(&[])], [None; 3]);
    }
}
