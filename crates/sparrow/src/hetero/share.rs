//! The part of the nonzeros that the second of two devices takes: fixed, or learnt product by product.
//!
//! Learning takes at most [`PRODUCTS`] products. It begins with the first device alone. Then comes the share
//! that both bandwidths promise, and from each product the share at which both would have ended together: the
//! partner's time is what it took, its transfers included, and the first device's is its time alone, less the
//! partner's part. At last the best share and the first device alone are run in turns, and the share is kept
//! only if it gains more than noise does.

/// Most products until a share has settled.
pub const PRODUCTS: usize = 20;

/// Products with the first device alone, at the beginning; the first of them warms up.
const ALONE: usize = 3;
/// Most corrections of the share.
const CORRECTIONS: usize = 9;
/// Products of the final, alternately at the best share and alone.
const FINAL: usize = 8;
/// What the partner has to gain at least: less than this is noise.
const GAIN: f64 = 0.97;
/// Shares closer than this are the same.
const SETTLED: f64 = 0.01;

const _: () = assert!(ALONE + CORRECTIONS + FINAL <= PRODUCTS);

/// How the partner's share of the nonzeros is found.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Share {
    /// Always this part, 0 to 1: results are repeatable.
    Fixed(f64),
    /// By measuring, from what both bandwidths promise on; the last bits of rows near the cut may differ from
    /// run to run.
    Learnt {
        /// Bytes a second that the first device streams.
        device: f64,
        /// Bytes a second that the partner streams.
        partner: f64,
    },
}

/// Seconds of one product.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Timing {
    /// Until y was complete.
    pub(super) total: f64,
    /// Until the partner's part was, transfers included.
    pub(super) partner: f64,
}

/// Finds the share; asked before each product, told after it.
#[derive(Clone, Debug)]
pub(super) struct Learner {
    promised: f64,
    step: Step,
    alone: f64,
    best: (f64, f64),
}

#[derive(Clone, Debug, PartialEq)]
enum Step {
    Alone { done: usize },
    Correct { done: usize, share: f64 },
    Final { times: Vec<f64> },
    Settled { share: f64 },
}

impl Learner {
    pub(super) fn new(share: Share) -> Self {
        let (promised, step) = match share {
            Share::Fixed(share) => (share, Step::Settled { share: share.clamp(0.0, 1.0) }),
            Share::Learnt { device, partner } => {
                let promised = partner / (device + partner);
                let promised = if promised.is_finite() { promised } else { 0.5 };
                (promised.clamp(SETTLED, 1.0 - SETTLED), Step::Alone { done: 0 })
            }
        };
        Learner { promised, step, alone: f64::INFINITY, best: (f64::INFINITY, 0.0) }
    }

    /// The share of the next product.
    pub(super) fn share(&self) -> f64 {
        match &self.step {
            Step::Alone { .. } => 0.0,
            Step::Correct { share, .. } | Step::Settled { share } => *share,
            Step::Final { times } if times.len().is_multiple_of(2) => self.best.1,
            Step::Final { .. } => 0.0,
        }
    }

    /// Whether the share changes no more.
    pub(super) fn is_settled(&self) -> bool {
        matches!(self.step, Step::Settled { .. })
    }

    /// What a product at [`Learner::share`] took.
    pub(super) fn learn(&mut self, timing: Timing) {
        let step = std::mem::replace(&mut self.step, Step::Settled { share: 0.0 });
        self.step = match step {
            Step::Alone { done } => {
                if done > 0 {
                    self.alone = self.alone.min(timing.total);
                }
                match done + 1 {
                    ALONE => Step::Correct { done: 0, share: self.promised },
                    done => Step::Alone { done },
                }
            }
            Step::Correct { done, share } => self.correct(done + 1, share, timing),
            Step::Final { mut times } => {
                times.push(timing.total);
                match times.len() {
                    FINAL => Step::Settled { share: self.decide(&times) },
                    _ => Step::Final { times },
                }
            }
            Step::Settled { share } => Step::Settled { share },
        };
    }

    fn correct(&mut self, done: usize, share: f64, timing: Timing) -> Step {
        if timing.total < self.best.0 {
            self.best = (timing.total, share);
        }
        // The share was less than there is to cut off.
        if timing.partner == 0.0 {
            return Step::Final { times: Vec::new() };
        }
        // Both end together at `next` if the partner's time grows as its part does.
        let partner_whole = timing.partner / share;
        let next = self.alone / (self.alone + partner_whole);
        let is_same = (next - share).abs() < SETTLED * share.max(0.1);
        if done == CORRECTIONS || is_same || !next.is_finite() {
            return Step::Final { times: Vec::new() };
        }
        // A part of a thousandth is worth no transfers.
        if next < 0.001 {
            Step::Final { times: Vec::new() }
        } else {
            Step::Correct { done, share: next }
        }
    }

    /// The best share, or 0: even times were taken at the best share, odd ones alone.
    fn decide(&self, times: &[f64]) -> f64 {
        let least = |first: usize| {
            times.iter().skip(first).step_by(2).copied().fold(f64::INFINITY, f64::min)
        };
        if least(0) < GAIN * least(1) { self.best.1 } else { 0.0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two devices that take `device` and `partner` seconds for everything, and a partner that takes `fixed`
    /// seconds however little it does. The share it settles at, and the products that took.
    fn settle(device: f64, partner: f64, fixed: f64, promised: [f64; 2]) -> (f64, usize) {
        let [device_rate, partner_rate] = promised;
        let mut learner =
            Learner::new(Share::Learnt { device: device_rate, partner: partner_rate });
        let mut products = 0;
        while !learner.is_settled() {
            let share = learner.share();
            let its = if share > 0.0 { fixed + partner * share } else { 0.0 };
            let total = its.max(device * (1.0 - share));
            learner.learn(Timing { total, partner: its });
            products += 1;
            assert!(products <= PRODUCTS);
        }
        (learner.share(), products)
    }

    #[test]
    fn a_share_settles_where_both_end_together() {
        let (share, _) = settle(1.0, 3.0, 0.0, [3.0, 1.0]);
        assert!((share - 0.25).abs() < 0.01, "{share}");
        // A promise far off is corrected.
        let (share, _) = settle(1.0, 3.0, 0.0, [1.0, 9.0]);
        assert!((share - 0.25).abs() < 0.02, "{share}");
    }

    #[test]
    fn transfers_are_part_of_the_partners_time() {
        let (share, _) = settle(1.0, 1.0, 0.2, [1.0, 1.0]);
        assert!((share - 0.4).abs() < 0.05, "{share}");
    }

    #[test]
    fn a_partner_that_does_not_help_gets_nothing() {
        assert_eq!(settle(1.0, 100.0, 2.0, [1.0, 1.0]).0, 0.0);
        assert_eq!(settle(1.0, 50.0, 0.0, [1.0, 1.0]).0, 0.0);
    }

    #[test]
    fn a_fixed_share_is_kept() {
        let mut learner = Learner::new(Share::Fixed(0.3));
        learner.learn(Timing { total: 1.0, partner: 9.0 });
        assert!(learner.is_settled() && learner.share() == 0.3);
    }
}
