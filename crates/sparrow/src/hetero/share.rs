//! The part of the nonzeros that the second of two devices takes: fixed, or learnt product by product.
//!
//! Learning takes at most [`PRODUCTS`] products. It begins with the first device alone. Then comes the share
//! that both bandwidths promise, and from each product the share at which both would have ended together: the
//! partner's time is what it took, its transfers included, and the first device's is its time alone, less the
//! partner's part. At last the best share, the first device alone and, if it might win, the partner alone are
//! run alternately. The partner gets a part only if that gains more than noise does.

/// Most products until a share has settled.
pub const PRODUCTS: usize = 20;

/// Products with the first device alone, at the beginning; the first of them warms up.
const ALONE: usize = 3;
/// Most corrections of the share.
const CORRECTIONS: usize = 5;
/// Products of each share in the final.
const FINAL: usize = 4;
/// The partner alone is tried if, by its part, it would take no more than so many times the first device's
/// time. Both at once may hinder each other to half their speed, where they share their cores.
const MIGHT_WIN: f64 = 3.0;
/// What the partner has to gain at least: less than this is noise.
const GAIN: f64 = 0.97;
/// Shares closer than this are the same.
const SETTLED: f64 = 0.01;

const _: () = assert!(ALONE + CORRECTIONS + 3 * FINAL <= PRODUCTS);

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
    /// The partner's time for everything, as its part foretells.
    partner_alone: f64,
    /// Time and share of the best product of both.
    best: (f64, f64),
}

#[derive(Clone, Debug, PartialEq)]
enum Step {
    Alone {
        done: usize,
    },
    Correct {
        done: usize,
        share: f64,
    },
    /// The shares that are compared, and the times so far, alternately.
    Final {
        shares: Vec<f64>,
        times: Vec<f64>,
    },
    Settled {
        share: f64,
    },
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
        Learner {
            promised,
            step,
            alone: f64::INFINITY,
            partner_alone: f64::INFINITY,
            best: (f64::INFINITY, 0.0),
        }
    }

    /// The share of the next product.
    pub(super) fn share(&self) -> f64 {
        match &self.step {
            Step::Alone { .. } => 0.0,
            Step::Correct { share, .. } | Step::Settled { share } => *share,
            Step::Final { shares, times } => shares[times.len() % shares.len()],
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
            Step::Final { shares, mut times } => {
                times.push(timing.total);
                match times.len() == FINAL * shares.len() {
                    true => Step::Settled { share: decide(&shares, &times) },
                    false => Step::Final { shares, times },
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
            return self.compare();
        }
        // Both end together at `next` if the partner's time grows as its part does.
        self.partner_alone = timing.partner / share;
        let next = self.alone / (self.alone + self.partner_alone);
        let is_same = (next - share).abs() < SETTLED * share.max(0.1);
        // A part of a thousandth is worth no transfers.
        if done == CORRECTIONS || is_same || !next.is_finite() || next < 0.001 {
            return self.compare();
        }
        Step::Correct { done, share: next }
    }

    fn compare(&self) -> Step {
        let mut shares = vec![0.0, self.best.1];
        if self.partner_alone < MIGHT_WIN * self.alone {
            shares.push(1.0);
        }
        Step::Final { shares, times: Vec::new() }
    }
}

/// The share with the least time, as the median of its times. The partner has to gain enough to get a part, and both at
/// once on whichever is faster alone.
fn decide(shares: &[f64], times: &[f64]) -> f64 {
    // The least would reward a lucky one.
    let default = |place: usize| {
        let mut turns: Vec<f64> = times.iter().skip(place).step_by(shares.len()).copied().collect();
        turns.sort_by(f64::total_cmp);
        let inner = &turns[(turns.len() - 1) / 2..=turns.len() / 2];
        inner.iter().sum::<f64>() / inner.len() as f64
    };
    // In the order of `compare`: the first device alone, both, and the partner alone if it was tried.
    let (device, both) = (default(0), default(1));
    let partner = if shares.len() > 2 { default(2) } else { f64::INFINITY };
    let (alone, single) = if partner < GAIN * device { (2, partner) } else { (0, device) };
    if both < GAIN * single { shares[1] } else { shares[alone] }
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
    fn a_partner_that_is_better_alone_gets_everything() {
        // Both at once hinder each other: as on one chip's cores.
        let mut learner = Learner::new(Share::Learnt { device: 1.0, partner: 1.0 });
        while !learner.is_settled() {
            let share = learner.share();
            let hindered = if share > 0.0 && share < 1.0 { 2.5 } else { 1.0 };
            let partner = 0.6 * share * hindered;
            let total = partner.max((1.0 - share) * hindered);
            learner.learn(Timing { total, partner });
        }
        assert_eq!(learner.share(), 1.0);
    }

    #[test]
    fn both_at_once_have_to_gain_on_the_faster_of_the_two() {
        // Twice as fast as the first device and hardly faster than the partner: the partner alone.
        assert_eq!(decide(&[0.0, 0.5, 1.0], &[2.0, 0.99, 1.0]), 1.0);
        assert_eq!(decide(&[0.0, 0.5, 1.0], &[2.0, 0.9, 1.0]), 0.5);
        assert_eq!(decide(&[0.0, 0.5], &[1.0, 0.99]), 0.0);
    }

    #[test]
    fn a_fixed_share_is_kept() {
        let mut learner = Learner::new(Share::Fixed(0.3));
        learner.learn(Timing { total: 1.0, partner: 9.0 });
        assert!(learner.is_settled() && learner.share() == 0.3);
    }
}
