mod cusparse;
use std::ffi::{c_void, CString};
use std::time::Instant;
use anyhow::{Result, bail, Context as _};
use csr_core::{Accumulator, Csr, ValueType};
use sparrow::{Algorithm, Context, DeviceArray, Matrix, Plan, PlanOptions, Product, Queue, Rates};
use csr_core::plan::csr_flat::PieceRules;
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

enum Kind { Lib(Algorithm, Vec<(String, u32)>), Own { source: String, options: String, group: usize, rules: PieceRules, per_unit: usize } }
struct Variant { name: String, types: String, kind: Kind }

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

fn one<T: Accumulator>(q: &Queue, cl: &Cl, m: &Csr<T, u32>, name: &str, variants: &[Variant], peer: Option<&cusparse::CuSparse>, rate: f64) -> Result<()> {
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
    let matrix = Matrix::upload_blocking(q, m.view())?;
    let xd = DeviceArray::upload_blocking(q, &x)?;
    for w in variants {
        if !w.types.is_empty() && w.types != T::TYPE.to_string() { continue; }
        let mut y = vec![T::from_f64(f64::NAN); rows];
        let mut extra = String::new();
        let mut run = || -> Result<f64> { match &w.kind {
            Kind::Lib(algorithm, parameters) => {
                let options = PlanOptions { algorithm: Some(*algorithm), parameters: parameters.clone(), ..Default::default() };
                let plan = Plan::new_blocking(q, &matrix, &options)?;
                let mut ws = plan.workspace_blocking(q)?;
                let mut su = Vec::new();
                for _ in 0..7 { let t = Instant::now(); let p2 = Plan::new_blocking(q, &matrix, &options)?; let a = t.elapsed(); let w2 = p2.workspace_blocking(q)?; q.finish_blocking()?; su.push((t.elapsed().as_secs_f64() * 1e6, a.as_secs_f64() * 1e6)); drop((p2, w2)); }
                su.sort_by(|a, b| a.0.total_cmp(&b.0));
                extra = format!(" setup {:.1} (plan {:.1})", su[3].0, su[3].1);
                let mut yd = DeviceArray::upload_blocking(q, &y)?;
                let inorder = q.in_order().unwrap();
                let t = time(|| { let p = Product { alpha: T::from_f64(1.0).into(), a: &matrix, x: &xd, beta: T::from_f64(0.0).into(), y: &mut yd }; plan.launch_unobserved(&q, &mut ws, p)?; Ok(()) }, || { q.finish_blocking()?; Ok(()) })?;
                y = yd.read_blocking(q)?;
                Ok(t)
            }
            Kind::Own { source, options, group, rules, per_unit } => {
                let starts = rules.starts(o)?;
                let pieces = starts.len() - 1;
                let bs = cl.upload(&starts)?;
                let bcar = cl.upload(&vec![0u64; pieces * 4 + 4])?;
                let bcnt = cl.upload(&vec![0u32; pieces * 2 + 4])?;
                let by = cl.upload(&y)?;
                let options = format!("{options} -DVALUE_{}", if ty == 1 { "F64" } else { "F32" });
                let p = cl.program(source, &options)?;
                let k = cl.kernel(p, "csr_flat")?;
                cl.arg(k, 0, &(rows as u32))?; cl.arg(k, 1, &(nnz as u64))?;
                let mut at = 2;
                for b in [bs, bo, bc, bv, bx, by] { cl.arg(k, at, &b)?; cl.arg(k, at + 1, &0u64)?; at += 2; }
                for v in [1.0f64, 0.0] { if ty == 1 { cl.arg(k, at, &v)? } else { cl.arg(k, at, &(v as f32))? } at += 1; }
                cl.arg(k, at, &0u32)?; at += 1;
                for b in [bcnt, bcar] { cl.arg(k, at, &b)?; cl.arg(k, at + 1, &0u64)?; at += 2; }
                if *per_unit > 0 { cl.arg(k, at, &(pieces as u32))?; }
                let enqueue = cl.f::<unsafe extern "C" fn(P, P, u32, *const usize, *const usize, *const usize, u32, *const P, *mut P) -> i32>("clEnqueueNDRangeKernel");
                let groups = if *per_unit > 0 { pieces.min(per_unit * 132) } else { pieces };
                let g = groups * group;
                let t = time(|| { let e = unsafe { enqueue(cl.queue, k, 1, std::ptr::null(), &g, group, 0, std::ptr::null(), std::ptr::null_mut()) }; if e != 0 { bail!("enqueue {e}") } Ok(()) }, || cl.finish())?;
                cl.read(by, &mut y)?;
                for b in [by, bs, bcar, bcnt] { cl.release(b); }
                Ok(t)
            }
        } };
        let t = match run() { Ok(t) => t, Err(e) => { println!("  {} {e}", w.name); continue; } };
        let eps = if ty == 1 { 1e-14 } else { 2e-6 };
        let wrong = (0..rows).filter(|r| { let (s, a) = reference[*r]; !((y[*r].to_f64() - s).abs() <= eps * (10.0 + (o[r + 1] - o[*r]) as f64) * a + 1e-30) }).count();
        println!("  {:<30} {t:>8.1} us  limit {:>5.2}  cuSPARSE x {:>5.2}{extra}{}", w.name, limit / t, best / t, if wrong > 0 { format!("  WRONG {wrong}") } else { String::new() });
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
        // lib | name | types | algorithm | k=v,k=v      own | name | types | file | group,piece,whole,per_unit | options
        let f: Vec<&str> = line.split('|').map(str::trim).collect();
        let kind = if f[0] == "lib" {
            Kind::Lib(f[3].parse().map_err(|e| anyhow::anyhow!("{e}"))?, f[4].split(',').filter(|t| !t.is_empty()).map(|t| { let (k, v) = t.split_once('=').unwrap(); (k.to_owned(), v.parse().unwrap()) }).collect())
        } else {
            let n: Vec<usize> = f[4].split(',').map(|t| t.parse().unwrap()).collect();
            let options = format!("-cl-nv-verbose -DLOADS_PAST_L1 -DGROUP_SIZE={} -DPIECE_NNZ={} -DWHOLE_ROW={} {}", n[0], n[1], n[2], f.get(5).unwrap_or(&""));
            Kind::Own { source: std::fs::read_to_string(dir.join(f[3]))?, options, group: n[0], rules: PieceRules { piece_nnz: n[1] as u32, whole_row: n[2] as u32 }, per_unit: n[3] }
        };
        variants.push(Variant { name: f[1].into(), types: f[2].into(), kind });
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
    if std::env::var("LAB_SETUP").is_ok() {
        for (n, distinct) in [(1, 1), (2, 2), (2, 1), (4, 4), (4, 1), (6, 6), (6, 3), (6, 1), (8, 8), (8, 4), (8, 1), (10, 10), (10, 1)] {
            let list: Vec<String> = (0..n).map(|i| format!("global uint *a{i}")).collect();
            let uses: Vec<String> = (0..n).map(|i| format!("a{i}[0] = 1;")).collect();
            let src = format!("kernel void k({}) {{ if (get_global_id(0) == 1u << 30) {{ {} }} }}", list.join(", "), uses.join(" "));
            let p = cl.program(&src, "")?;
            let k = cl.kernel(p, "k")?;
            let bufs: Vec<P> = (0..distinct).map(|_| cl.buffer(4 << 20, std::ptr::null())).collect::<Result<_>>()?;
            for i in 0..n { cl.arg(k, i as u32, &bufs[i % distinct])?; }
            let enqueue = cl.f::<unsafe extern "C" fn(P, P, u32, *const usize, *const usize, *const usize, u32, *const P, *mut P) -> i32>("clEnqueueNDRangeKernel");
            let (g, l) = (256usize * 300, 256usize);
            let t = time(|| { unsafe { enqueue(cl.queue, k, 1, std::ptr::null(), &g, &l, 0, std::ptr::null(), std::ptr::null_mut()); } Ok(()) }, || cl.finish())?;
            let now = Instant::now(); for _ in 0..200 { unsafe { enqueue(cl.queue, k, 1, std::ptr::null(), &g, &l, 0, std::ptr::null(), std::ptr::null_mut()); } } let host = now.elapsed().as_secs_f64() / 200.0 * 1e6; cl.finish()?;
            let t2 = time(|| { for i in 0..n { cl.arg(k, i as u32, &bufs[i % distinct])?; } unsafe { enqueue(cl.queue, k, 1, std::ptr::null(), &g, &l, 0, std::ptr::null(), std::ptr::null_mut()); } Ok(()) }, || cl.finish())?;
            println!("  args {n} distinct {distinct}: {t:.2} us a launch, host {host:.2}; args set each time {t2:.2}");
            for b in bufs { cl.release(b); }
        }
        let p = cl.program("kernel void k(global uint *a) { a[get_global_id(0)] = 1; }", "")?;
        let k = cl.kernel(p, "k")?;
        let big = cl.buffer(1 << 20, std::ptr::null())?;
        cl.arg(k, 0, &big)?;
        let enqueue = cl.f::<unsafe extern "C" fn(P, P, u32, *const usize, *const usize, *const usize, u32, *const P, *mut P) -> i32>("clEnqueueNDRangeKernel");
        let fill = cl.f::<unsafe extern "C" fn(P, P, *const c_void, usize, usize, usize, u32, *const P, *mut P) -> i32>("clEnqueueFillBuffer");
        let wait = cl.f::<unsafe extern "C" fn(u32, *const P) -> i32>("clWaitForEvents");
        let relk = cl.f::<unsafe extern "C" fn(P) -> i32>("clReleaseKernel");
        let (g, l) = (256usize, 64usize);
        let run = || { unsafe { enqueue(cl.queue, k, 1, std::ptr::null(), &g, &l, 0, std::ptr::null(), std::ptr::null_mut()); } };
        let med = |name: &str, f: &mut dyn FnMut() -> Result<()>| -> Result<()> { let mut s = Vec::new(); for _ in 0..31 { cl.finish()?; let t = Instant::now(); f()?; s.push(t.elapsed().as_secs_f64() * 1e6); } s.sort_by(f64::total_cmp); println!("  {name:<40} {:.2} us (min {:.2})", s[15], s[0]); Ok(()) };
        med("finish alone", &mut || cl.finish())?;
        med("enqueue", &mut || { run(); Ok(()) })?;
        med("enqueue, finish", &mut || { run(); cl.finish() })?;
        med("enqueue with event, wait", &mut || { let mut e: P = std::ptr::null_mut(); unsafe { enqueue(cl.queue, k, 1, std::ptr::null(), &g, &l, 0, std::ptr::null(), &mut e); wait(1, &e); } Ok(()) })?;
        let mut kept = Vec::new();
        med("create kernel", &mut || { kept.push(cl.kernel(p, "k")?); Ok(()) })?;
        med("create and release kernel", &mut || { let q = cl.kernel(p, "k")?; unsafe { relk(q); } Ok(()) })?;
        let mut held = Vec::new();
        med("create buffer 64K", &mut || { held.push(cl.buffer(65536, std::ptr::null())?); Ok(()) })?;
        for b in held.drain(..) { cl.release(b); }
        med("create, release buffer 64K", &mut || { let b = cl.buffer(65536, std::ptr::null())?; cl.release(b); Ok(()) })?;
        med("create buffer 64K, first kernel, finish", &mut || { let b = cl.buffer(65536, std::ptr::null())?; cl.arg(k, 0, &b)?; run(); cl.finish()?; held.push(b); Ok(()) })?;
        for b in held.drain(..) { cl.release(b); }
        med("create buffer 64K, fill, finish", &mut || { let b = cl.buffer(65536, std::ptr::null())?; let z = 0u32; unsafe { fill(cl.queue, b, (&raw const z).cast(), 4, 0, 65536, 0, std::ptr::null(), std::ptr::null_mut()); } cl.finish()?; held.push(b); Ok(()) })?;
        let b = held[0];
        med("fill, finish", &mut || { let z = 0u32; unsafe { fill(cl.queue, b, (&raw const z).cast(), 4, 0, 65536, 0, std::ptr::null(), std::ptr::null_mut()); } cl.finish() })?;
        cl.arg(k, 0, &b)?;
        med("kernel, fill, kernel, finish", &mut || { let z = 0u32; run(); unsafe { fill(cl.queue, b, (&raw const z).cast(), 4, 0, 65536, 0, std::ptr::null(), std::ptr::null_mut()); } run(); cl.finish() })?;
    }
    let peer = if std::env::var("LAB_NO_PEER").is_ok() { None } else { cusparse::CuSparse::open().ok() };
    for name in &args[2..] {
        let making = Making { scale, seed: csr_core::generate::DEFAULT_SEED };
        let input = Input::parse(name)?;
        let m: Csr<f64, u32> = input.load(making, &|_, _| {})?;
        for t in &types {
            match *t { "f32" => one(&q, &cl, &m.map_values::<f32>(), name, &variants, peer.as_ref(), rate)?, _ => one(&q, &cl, &m, name, &variants, peer.as_ref(), rate)? }
        }
    }
    Ok(())
}
