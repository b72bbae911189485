//! What a choice loses on a matrix: over the best of what was tried there, or over what would run untuned.

/// What a rule may lose on a matrix: no more than two times of one thing differ by.
pub(super) const TOLERATED: f64 = 1.02;

/// What is lost counts so many times what is gained.
const LOSS: f64 = 3.0;

/// What a cost of `ratio` times the best loses, `untuned_ratio` times that of what would run untuned. Beyond twice the
/// best the square grows no further: one matrix that no rule suits must not decide about all others. What is slower
/// than without tuning loses that once more.
pub(super) fn loss(ratio: f64, untuned_ratio: f64) -> f64 {
    let log = ratio.max(1.0).ln();
    log + 2.0 * log.min(0.7).powi(2) + (untuned_ratio / UNTUNED_SLACK).max(1.0).ln()
}

/// So much slower than untuned is noise.
const UNTUNED_SLACK: f64 = 1.02;

/// What a cost of `ratio` times that of what runs untuned loses, if no more than `tolerated` is nothing.
pub(super) fn lost(ratio: f64, tolerated: f64) -> f64 {
    ratio.ln() * if ratio > tolerated { LOSS } else { 1.0 }
}
