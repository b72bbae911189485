// Shares of blocks that fit 16 bits, padding of sliced forms, and lines of x a gather of 32 touches.
use csr_core::Csr;
use sparrow_bench::{Input, Making};
use rayon::prelude::*;
fn lines(cols: impl Iterator<Item = u32>, per: u32) -> usize { let mut l: Vec<u32> = cols.map(|c| c / per).collect(); l.sort_unstable(); l.dedup(); l.len() }
fn main() -> anyhow::Result<()> {
    println!("name nnz/row | 16-bit share of nnz in blocks of 32,256,2048 nnz | slices of 32 rows: 16-bit share, pad T=1 unsorted, sorted1024; pad R8T4 unsorted, sorted; R4T8 | lines(128B f32) a warp: flat, sell32, r8t4, sectors flat sell32 r8t4");
    for name in std::env::args().skip(1) {
        let m: Csr<f64, u32> = Input::parse(&name)?.load(Making { scale: 1.0, seed: csr_core::generate::DEFAULT_SEED }, &|_, _| {})?;
        let (o, c) = (m.pattern().offsets(), m.pattern().columns());
        let (rows, nnz) = (m.rows(), m.nnz());
        let share = |b: usize| { let f: usize = c.par_chunks(b).map(|k| { let (lo, hi) = (k.iter().min().unwrap(), k.iter().max().unwrap()); if hi - lo < 65536 { k.len() } else { 0 } }).sum(); f as f64 / nnz as f64 };
        let len = |r: usize| (o[r + 1] - o[r]) as usize;
        let fit: usize = (0..rows.div_ceil(32)).into_par_iter().map(|s| { let a = o[s * 32] as usize; let b = o[(s * 32 + 32).min(rows)] as usize; if a == b { return 0 } let k = &c[a..b]; let (lo, hi) = (k.iter().min().unwrap(), k.iter().max().unwrap()); if hi - lo < 65536 { k.len() } else { 0 } }).sum();
        let pad = |r: usize, t: usize, window: usize| -> f64 {
            let total: usize = (0..rows.div_ceil(window)).into_par_iter().map(|w| { let mut l: Vec<usize> = (w * window..(w * window + window).min(rows)).map(len).collect(); if window > r { l.sort_unstable(); }
                l.chunks(r).map(|k| k.iter().max().unwrap().div_ceil(t) * t * r).sum::<usize>() }).sum();
            total as f64 / nnz as f64 };
        let sample: Vec<usize> = (0..2000).map(|i| i * (rows / 2000).max(1)).filter(|r| r + 32 <= rows).map(|r| r / 32 * 32).collect();
        let (mut fl, mut fs, mut n) = (0, 0, 0);
        for i in 0..4000usize { let at = (i * (nnz / 4000)) / 32 * 32; if at + 32 > nnz { break } fl += lines(c[at..at + 32].iter().copied(), 32); fs += lines(c[at..at + 32].iter().copied(), 8); n += 32; }
        let sell = |r: usize, t: usize| { let (mut l, mut s, mut n) = (0, 0, 0); for &r0 in &sample { let w = (r0..r0 + r).map(len).max().unwrap().div_ceil(t); let w = w.min(400); for k in 0..w { let it: Vec<u32> = (0..32).filter_map(|i| { let row = r0 + i / t; let e = k * t + i % t; (e < len(row)).then(|| c[o[row] as usize + e]) }).collect(); n += it.len(); l += lines(it.iter().copied(), 32); s += lines(it.iter().copied(), 8); } } (32.0 * l as f64 / n as f64, 32.0 * s as f64 / n as f64) };
        let (a, b) = (sell(32, 1), sell(8, 4));
        println!("{name:16} {:6.1} | {:.2} {:.2} {:.2} | {:.2} | {:.2} {:.2} | {:.2} {:.2} | {:.2} | lines {:.1} {:.1} {:.1} sectors {:.1} {:.1} {:.1}", nnz as f64 / rows as f64, share(32), share(256), share(2048), fit as f64 / nnz as f64,
            pad(32, 1, 32), pad(32, 1, 1024), pad(8, 4, 8), pad(8, 4, 1024), pad(4, 8, 4), fl as f64 * 32.0 / n as f64, a.0, b.0, fs as f64 * 32.0 / n as f64, a.1, b.1);
    }
    Ok(())
}
