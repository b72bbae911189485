mod cusparse;
use std::ffi::{c_void, CString};
use std::time::Instant;
use anyhow::{Result, bail, Context as _};
use csr_core::{Accumulator, Csr, ValueType};
use sparrow::{Context, Queue, Rates};
use sparrow_bench::{Input, Making};
use libloading::{Library, Symbol};
type P = *mut c_void;

pub fn time(mut launch: impl FnMut() -> Result<()>, mut finish: impl FnMut() -> Result<()>) -> Result<f64> {
    for _ in 0..3 { launch()?; }
    finish()?;
    let t = Instant::now();
    for _ in 0..5 { launch()?; }
    finish()?;
    let one = t.elapsed().as_secs_f64() / 5.0;
    let n = ((2e-3 / one).ceil() as usize).clamp(1, 1000);
    let mut s = Vec::new();
    for _ in 0..11 {
        let t = Instant::now();
        for _ in 0..n { launch()?; }
        finish()?;
        s.push(t.elapsed().as_secs_f64() / n as f64 * 1e6);
    }
    s.sort_by(f64::total_cmp);
    Ok(s[5])
}

struct Variant { name: String, source: String, options: [String; 2], group: usize, nnz: [usize; 2], units: usize, persist: usize, port: bool, sell: Option<(usize, usize, usize, usize)> }

struct Cl { lib: Library, context: P, queue: P, device: P }
impl Cl {
    fn f<T>(&self, name: &str) -> Symbol<'_, T> { unsafe { self.lib.get(name.as_bytes()).unwrap() } }
    fn buffer(&self, bytes: usize, data: *const c_void) -> Result<P> {
        let mut e = 0i32;
        let flags: u64 = if data.is_null() { 1 } else { 1 | 32 };
        let b = unsafe { self.f::<unsafe extern "C" fn(P, u64, usize, *const c_void, *mut i32) -> P>("clCreateBuffer")(self.context, flags, bytes.max(16), data, &mut e) };
        if e != 0 { bail!("clCreateBuffer {bytes}: {e}") }
        Ok(b)
    }
    fn upload<T>(&self, d: &[T]) -> Result<P> { if d.is_empty() { self.buffer(16, std::ptr::null()) } else { self.buffer(size_of_val(d), d.as_ptr().cast()) } }
    fn release(&self, b: P) { unsafe { self.f::<unsafe extern "C" fn(P) -> i32>("clReleaseMemObject")(b); } }
    fn finish(&self) -> Result<()> { let e = unsafe { self.f::<unsafe extern "C" fn(P) -> i32>("clFinish")(self.queue) }; if e != 0 { bail!("clFinish {e}") } Ok(()) }
    fn read<T>(&self, b: P, d: &mut [T]) -> Result<()> {
        let e = unsafe { self.f::<unsafe extern "C" fn(P, P, u32, usize, usize, *mut c_void, u32, *const P, *mut P) -> i32>("clEnqueueReadBuffer")(self.queue, b, 1, 0, size_of_val(d), d.as_mut_ptr().cast(), 0, std::ptr::null(), std::ptr::null_mut()) };
        if e != 0 { bail!("read {e}") } Ok(())
    }
    fn program(&self, source: &str, options: &str) -> Result<P> {
        let s = CString::new(source)?; let o = CString::new(options)?;
        let mut e = 0i32;
        let p = unsafe { self.f::<unsafe extern "C" fn(P, u32, *const *const i8, *const usize, *mut i32) -> P>("clCreateProgramWithSource")(self.context, 1, &s.as_ptr().cast(), std::ptr::null(), &mut e) };
        let e = unsafe { self.f::<unsafe extern "C" fn(P, u32, *const P, *const i8, P, P) -> i32>("clBuildProgram")(p, 1, &self.device, o.as_ptr().cast(), std::ptr::null_mut(), std::ptr::null_mut()) };
        if let Ok(to) = std::env::var("LAB_DUMP") {
            let mut n = 0usize;
            unsafe { self.f::<unsafe extern "C" fn(P, u32, usize, P, *mut usize) -> i32>("clGetProgramInfo")(p, 0x1165, 8, (&raw mut n).cast(), std::ptr::null_mut()); }
            let mut bytes = vec![0u8; n]; let mut at = bytes.as_mut_ptr();
            unsafe { self.f::<unsafe extern "C" fn(P, u32, usize, P, *mut usize) -> i32>("clGetProgramInfo")(p, 0x1166, 8, (&raw mut at).cast(), std::ptr::null_mut()); }
            let mut k = 0; while std::path::Path::new(&format!("{to}/{k}.ptx")).exists() { k += 1; }
            while bytes.last() == Some(&0) { bytes.pop(); }
            std::fs::write(format!("{to}/{k}.ptx"), &bytes)?;
        }
        if e != 0 || std::env::var("LAB_LOG").is_ok() {
            let mut log = vec![0u8; 1 << 16]; let mut n = 0usize;
            unsafe { self.f::<unsafe extern "C" fn(P, P, u32, usize, P, *mut usize) -> i32>("clGetProgramBuildInfo")(p, self.device, 0x1183, log.len(), log.as_mut_ptr().cast(), &mut n); }
            let text = String::from_utf8_lossy(&log[..n.min(log.len())]).to_string();
            if e != 0 { bail!("build {e}: {text}") }
            for l in text.lines().filter(|l| l.contains("registers") || l.contains("spill")) { println!("     {}", l.trim()); }
        }
        Ok(p)
    }
    fn kernel(&self, p: P, name: &str) -> Result<P> {
        let n = CString::new(name)?; let mut e = 0i32;
        let k = unsafe { self.f::<unsafe extern "C" fn(P, *const i8, *mut i32) -> P>("clCreateKernel")(p, n.as_ptr().cast(), &mut e) };
        if e != 0 { bail!("kernel {name}: {e}") } Ok(k)
    }
    fn arg<T>(&self, k: P, i: u32, v: &T) -> Result<()> {
        let e = unsafe { self.f::<unsafe extern "C" fn(P, u32, usize, *const c_void) -> i32>("clSetKernelArg")(k, i, size_of::<T>(), (&raw const *v).cast()) };
        if e != 0 { bail!("arg {i}: {e}") } Ok(())
    }
}

fn one<T: Accumulator>(cl: &Cl, m: &Csr<T, u32>, name: &str, variants: &[Variant], peer: Option<&cusparse::CuSparse>, rate: f64) -> Result<()> {
    let ty = (T::TYPE == ValueType::F64) as usize;
    let vs = if ty == 1 { 8 } else { 4 };
    let x: Vec<T> = csr_core::random_vector(7, m.cols());
    let (rows, cols, nnz) = (m.rows(), m.cols(), m.nnz());
    let bytes = nnz * (4 + vs) + 4 * (rows + 1) + vs * (rows + cols);
    let limit = bytes as f64 / rate / 1e3;
    let mut best = f64::NAN;
    print!("{name:<16} {} nnz {nnz:>10} rows {rows:>8} limit {limit:>7.1}", T::TYPE);
    if let Some(peer) = peer {
        let t = peer.spmv(m, &x)?;
        let b = t.iter().min_by(|a, b| a.1.total_cmp(&b.1)).unwrap();
        best = b.1;
        print!("  cuSPARSE {:>7.1} ({}, {:.2})", b.1, b.0, limit / b.1);
    }
    println!();
    // reference
    use rayon::prelude::*;
    let (o, c, v) = (m.pattern().offsets(), m.pattern().columns(), m.values());
    let xr: Vec<f64> = x.iter().map(|v| csr_core::Value::to_f64(*v)).collect();
    let reference: Vec<(f64, f64)> = (0..rows).into_par_iter().map(|r| {
        let (mut s, mut a) = (0f64, 0f64);
        for k in o[r] as usize..o[r + 1] as usize { let p = v[k].to_f64() * xr[c[k] as usize]; s += p; a += p.abs(); }
        (s, a)
    }).collect();
    let (bo, bc, bv, bx) = (cl.upload(o)?, cl.upload(c)?, cl.upload(v)?, cl.upload(&x)?);
    for w in variants {
        let mut y = vec![T::from_f64(f64::NAN); rows];
        let by = cl.upload(&y)?;
        let per = w.nnz[ty];
        let pieces = nnz.div_ceil(per).max(1);
        let bs = cl.buffer((pieces + 2) * 8, std::ptr::null())?;
        let bn = cl.buffer((nnz + 64) * 2, std::ptr::null())?;
        let bcar = cl.upload(&vec![0u64; pieces * 4 + 4])?;
        let bcnt = cl.upload(&vec![0u32; pieces * 2 + 4])?;
        let p = match cl.program(&w.source, &w.options[ty]) { Ok(p) => p, Err(e) => { println!("  {} {e}", w.name); continue; } };
        if let Some((t, pk, bits, window)) = w.sell {
            let go = || -> Result<Option<(f64, f64)>> {
                let r = 32 / t;
                let mut perm: Vec<u32> = (0..rows as u32).collect();
                if window > 0 { perm.par_chunks_mut(window).for_each(|k| k.sort_by_key(|r| std::cmp::Reverse(o[*r as usize + 1] - o[*r as usize]))); }
                let slices = rows.div_ceil(r);
                let len = |i: usize| if i < rows { (o[perm[i] as usize + 1] - o[perm[i] as usize]) as usize } else { 0 };
                let mut starts = vec![0u32; slices + 1];
                for s in 0..slices { let m = (s * r..s * r + r).map(len).max().unwrap(); starts[s + 1] = starts[s] + m.div_ceil(t).next_multiple_of(pk) as u32; }
                let total = starts[slices] as usize * 32;
                if total > nnz * 3 { println!("  {:<26} padding {:.2}", w.name, total as f64 / nnz as f64); return Ok(None); }
                let mut cs = vec![0u32; total]; let mut vals = vec![T::from_f64(0.0); total]; let mut bases = vec![0u32; slices];
                let (mut cl_, mut vl) = (&mut cs[..], &mut vals[..]);
                let mut jobs = Vec::new();
                for s in 0..slices { let n = (starts[s + 1] - starts[s]) as usize * 32; let (a, b) = cl_.split_at_mut(n); cl_ = b; let (d, e) = vl.split_at_mut(n); vl = e; jobs.push((s, a, d)); }
                let wide: usize = jobs.into_par_iter().zip(bases.par_iter_mut()).map(|((s, a, d), base)| {
                    let its = |i: usize| { let row = perm[s * r + i] as usize; o[row] as usize..o[row + 1] as usize };
                    let n = r.min(rows - s * r);
                    let lo = (0..n).flat_map(its).map(|k| c[k]).min().unwrap_or(0); let hi = (0..n).flat_map(its).map(|k| c[k]).max().unwrap_or(0);
                    *base = if bits == 16 { lo } else { 0 };
                    a.fill(lo - *base);
                    for i in 0..n { for (e, k) in its(i).enumerate() { let (step, lane) = (e / t, i * t + e % t); let at = step / pk * pk * 32 + lane * pk + step % pk; a[at] = c[k] - *base; d[at] = v[k]; } }
                    usize::from(bits == 16 && hi - lo > 65535)
                }).sum();
                if wide > 0 { println!("  {:<26} wide {:.3}", w.name, wide as f64 / slices as f64); return Ok(None); }
                let bcs = if bits == 16 { cl.upload(&cs.iter().map(|c| *c as u16).collect::<Vec<_>>())? } else { cl.upload(&cs)? };
                let (bst, bba, bpe, bva) = (cl.upload(&starts)?, cl.upload(&bases)?, cl.upload(&perm)?, cl.upload(&vals)?);
                let k = cl.kernel(p, "spmv")?;
                cl.arg(k, 0, &(rows as u32))?; cl.arg(k, 1, &(slices as u32))?;
                for (i, b) in [bo, bpe, bst, bba, bcs, bva, bx, by].iter().enumerate() { cl.arg(k, i as u32 + 2, b)?; }
                let enqueue = cl.f::<unsafe extern "C" fn(P, P, u32, *const usize, *const usize, *const usize, u32, *const P, *mut P) -> i32>("clEnqueueNDRangeKernel");
                let g = (slices * 32).next_multiple_of(w.group);
                let t = time(|| { let e = unsafe { enqueue(cl.queue, k, 1, std::ptr::null(), &g, &w.group, 0, std::ptr::null(), std::ptr::null_mut()) }; if e != 0 { bail!("enqueue {e}") } Ok(()) }, || cl.finish())?;
                for b in [bcs, bst, bba, bpe, bva] { cl.release(b); }
                Ok(Some((total as f64 / nnz as f64, t)))
            };
            match go() { Ok(Some((pad, t))) => {
                cl.read(by, &mut y)?;
                let eps = if ty == 1 { 1e-14 } else { 2e-6 };
                let wrong = (0..rows).filter(|r| { let (s, a) = reference[*r]; !((y[*r].to_f64() - s).abs() <= eps * (10.0 + (o[r + 1] - o[*r]) as f64) * a + 1e-30) }).count();
                println!("  {:<26} {t:>8.1} us  limit {:>5.2}  cuSPARSE x {:>5.2}  padding {pad:.2}{}", w.name, limit / t, best / t, if wrong > 0 { format!(" WRONG {wrong}") } else { String::new() });
            } Ok(None) => {} Err(e) => println!("  {} {e}", w.name) }
            for b in [by, bn, bs, bcar, bcnt] { cl.release(b); }
            continue;
        }
        let run = || -> Result<(f64, f64)> {
            let (plan, k) = (cl.kernel(p, "plan")?, cl.kernel(p, "spmv")?);
            for (i, b) in [bo, bs].iter().enumerate() { cl.arg(plan, i as u32 + 3, b)?; }
            for kk in [plan, k] { cl.arg(kk, 0, &(rows as u32))?; if !w.port || kk == plan { cl.arg(kk, 1, &(nnz as u32))?; cl.arg(kk, 2, &(pieces as u32))?; } }
            if w.port {
                cl.arg(k, 1, &(nnz as u64))?;
                let mut at = 2;
                cl.arg(plan, 5, &bc)?; cl.arg(plan, 6, &bn)?;
                for b in [bs, bo, bc, bn, bv, bx, by] { cl.arg(k, at, &b)?; cl.arg(k, at + 1, &0u64)?; at += 2; }
                for v in [1.0f64, 0.0] { if ty == 1 { cl.arg(k, at, &v)? } else { cl.arg(k, at, &(v as f32))? } at += 1; }
                cl.arg(k, at, &0u32)?; at += 1;
                for b in [bcnt, bcar] { cl.arg(k, at, &b)?; cl.arg(k, at + 1, &0u64)?; at += 2; }
            } else {
            for (i, b) in [bo, bc, bv, bx, by, bs, bcar, bcnt].iter().enumerate() { cl.arg(k, i as u32 + 3, b)?; }
            }
            let enqueue = cl.f::<unsafe extern "C" fn(P, P, u32, *const usize, *const usize, *const usize, u32, *const P, *mut P) -> i32>("clEnqueueNDRangeKernel");
            let go = |k: P, groups: usize, local: usize| -> Result<()> {
                let g = groups * local;
                let e = unsafe { enqueue(cl.queue, k, 1, std::ptr::null(), &g, &local, 0, std::ptr::null(), std::ptr::null_mut()) };
                if e != 0 { bail!("enqueue {e}") } Ok(())
            };
            let tp = if w.port { go(plan, (pieces + 1).div_ceil(64), 64)?; cl.finish()?; 0.0 } else { time(|| go(plan, (pieces + 1).div_ceil(64), 64), || cl.finish())? };
            let t = time(|| go(k, pieces.div_ceil(w.units).min(w.persist), w.group), || cl.finish())?;
            if std::env::var("LAB_EVENTS").is_ok() {
                let g = pieces.div_ceil(w.units).min(w.persist) * w.group; let local = w.group;
                let release = cl.f::<unsafe extern "C" fn(P) -> i32>("clReleaseEvent");
                let retain = cl.f::<unsafe extern "C" fn(P) -> i32>("clRetainEvent");
                let info = cl.f::<unsafe extern "C" fn(P, u32, usize, P, *mut usize) -> i32>("clGetEventInfo");
                let mut held: P = std::ptr::null_mut();
                let mut ev = |mode: u32| -> Result<()> {
                    let mut e: P = std::ptr::null_mut();
                    if mode & 2 != 0 { let mut at = 2; for b in [bs, bo, bc, bn, bv, bx, by] { cl.arg(k, at, &b)?; at += 2; } at += 3; for b in [bcnt, bcar] { cl.arg(k, at, &b)?; at += 2; } }
                    let r = unsafe { enqueue(cl.queue, k, 1, std::ptr::null(), &g, &local, 0, std::ptr::null(), if mode & 1 != 0 { &mut e } else { std::ptr::null_mut() }) };
                    if r != 0 { bail!("enqueue {r}") }
                    if mode & 1 != 0 {
                        if mode & 4 != 0 {
                            unsafe { retain(e); if !held.is_null() { let mut st = 0i32; let mut n = 0; info(held, 0x11D3, 4, (&raw mut st).cast(), &mut n); release(held); } release(e); }
                            held = e;
                        } else { unsafe { release(e); } }
                    }
                    Ok(())
                };
                for mode in [0u32, 1, 2, 3, 5, 7] {
                    let t = time(|| ev(mode), || cl.finish())?;
                    let now = Instant::now(); for _ in 0..200 { ev(mode)?; } let host = now.elapsed().as_secs_f64() / 200.0 * 1e6; cl.finish()?;
                    println!("  mode {mode} (1 event, 2 args, 4 held and asked): {t:.2} us, host alone {host:.2}");
                }
            }
            Ok((tp, t))
        };
        let (tp, t) = match run() { Ok(t) => t, Err(e) => { println!("  {} {e}", w.name); continue; } };
        cl.read(by, &mut y)?;
        let eps = if ty == 1 { 1e-14 } else { 2e-6 };
        let mut wrong = 0; let mut worst = (0usize, 0f64);
        for r in 0..rows {
            let (s, a) = reference[r];
            let d = (y[r].to_f64() - s).abs();
            let bound = eps * (10.0 + ((o[r+1]-o[r]) as f64)) * a + 1e-30;
            if !(d <= bound) { wrong += 1; if wrong == 1 { worst = (r, y[r].to_f64() - s); } }
        }
        println!("  {:<26} {t:>8.1} us  limit {:>5.2}  cuSPARSE x {:>5.2}  plan {tp:>5.1}{}", w.name, limit / t, best / t,
            if wrong > 0 { format!("  WRONG {wrong} rows, first {worst:?} len {}", o[worst.0+1]-o[worst.0]) } else { String::new() });
        for b in [by, bn, bs, bcar, bcnt] { cl.release(b); }
    }
    for b in [bo, bc, bv, bx] { cl.release(b); }
    Ok(())
}

fn main() -> Result<()> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let config = std::fs::read_to_string(&args[0])?;
    let dir = std::path::Path::new(&args[0]).parent().unwrap().to_path_buf();
    let types: Vec<&str> = args[1].split(',').collect();
    let device = std::env::var("LAB_DEVICE").unwrap_or("NVIDIA".into());
    let scale: f64 = std::env::var("LAB_SCALE").ok().map_or(1.0, |s| s.parse().unwrap());
    let mut variants = Vec::new();
    for line in config.lines().filter(|l| !l.trim().is_empty() && !l.starts_with('#')) {
        // name | file | group | nnz32 | nnz64 | common options | f32 options | f64 options
        let f: Vec<&str> = line.split('|').map(str::trim).collect();
        let group: usize = f[2].parse()?;
        let n: [usize; 2] = [f[3].parse()?, f[4].parse()?];
        let opt = |i: usize| format!("-DGROUP={group} -DNNZ={} {} {} {}", n[i], f.get(5).unwrap_or(&""), f.get(6 + i).unwrap_or(&""), if i == 0 { "-DF32" } else { "-DF64" });
        variants.push(Variant { name: f[0].into(), source: std::fs::read_to_string(dir.join(f[1]))?, options: [opt(0), opt(1)], group, nnz: n, units: f.get(5).and_then(|o| o.split("-DBUNCH=").nth(1)).map_or(1, |b| group / b.split(' ').next().unwrap().parse::<usize>().unwrap()), persist: f.get(5).and_then(|o| o.split("-DSTAYING_GROUPS=").nth(1)).map_or(1 << 30, |b| b.split(' ').next().unwrap().parse::<usize>().unwrap() * 132), port: f.get(5).is_some_and(|o| o.contains("-DPORT")), sell: f.get(5).filter(|o| o.contains("-DSELL")).map(|o| { let g = |k: &str, d: usize| o.split(k).nth(1).map_or(d, |b| b.split(' ').next().unwrap().parse::<usize>().unwrap()); (g("-DT=", 1), g("-DP=", 1), g("-DBITS=", 32), g("-DSORTED=", 0)) }) });
    }
    let q = Queue::new(&Context::new(&sparrow::find_device(&device)?)?)?;
    let rates = Rates::measure_blocking(&q)?;
    let rate = rates.copy.max(rates.read) * 1e-9;
    println!("rate {rate:.0} GB/s (copy {:.0})", rates.copy * 1e-9);
    let lib = unsafe { Library::new("libOpenCL.so.1").or_else(|_| Library::new(std::env::var("OPENCL_DYLIB_PATH").unwrap())).context("libOpenCL")? };
    let context = q.context().as_raw() as P; let queue = q.as_raw() as P;
    let mut device: P = std::ptr::null_mut();
    unsafe { let f: Symbol<unsafe extern "C" fn(P, u32, usize, P, *mut usize) -> i32> = lib.get(b"clGetContextInfo")?; f(context, 0x1081, 8, (&raw mut device).cast(), std::ptr::null_mut()); }
    let cl = Cl { lib, context, queue, device };
    let peer = if std::env::var("LAB_NO_PEER").is_ok() { None } else { cusparse::CuSparse::open().ok() };
    for name in &args[2..] {
        let making = Making { scale, seed: csr_core::generate::DEFAULT_SEED };
        let input = Input::parse(name)?;
        let m: Csr<f64, u32> = input.load(making, &|_, _| {})?;
        for t in &types {
            match *t { "f32" => one(&cl, &m.map_values::<f32>(), name, &variants, peer.as_ref(), rate)?, _ => one(&cl, &m, name, &variants, peer.as_ref(), rate)? }
        }
    }
    Ok(())
}
