//! Forms of a batched product by pieces of equal nonzeros, beside the block-diagonal product by csr_flat.
//! lab2 LIST PROBLEMS MATRIX...   LIST: name | file | group,piece,whole | given or u16 or pattern | sets | options
use std::ffi::{c_void, CString};
use std::time::Instant;
use anyhow::{Result, bail, Context as _};
use csr_core::Csr;
use sparrow::{Algorithm, Context, DeviceArray, Matrix, Plan, PlanOptions, Product, Queue, Rates};
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


struct Variant { name: String, source: String, group: usize, piece: usize, whole: usize, form: String, sets: usize, options: String }

/// First row that begins at or behind each border, and the tail of the row before it (upper half).
fn starts(o: &[u32], piece: usize) -> Vec<u64> {
    let rows = o.len() - 1; let nnz = o[rows] as usize;
    let pieces = nnz.div_ceil(piece).max(1);
    (0..=pieces).map(|k| {
        if k == 0 { return 0; }
        if k == pieces { return rows as u64; }
        let border = (k * piece) as u32;
        let row = o[..rows].partition_point(|v| *v < border);
        row as u64 | u64::from(o[row] - border) << 32
    }).collect()
}

fn main() -> Result<()> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let dir = std::path::Path::new(&args[0]).parent().unwrap().to_path_buf();
    let problems: usize = args[1].parse()?;
    let device = std::env::var("LAB_DEVICE").unwrap_or("NVIDIA".into());
    let mut variants = Vec::new();
    for line in std::fs::read_to_string(&args[0])?.lines().filter(|l| !l.trim().is_empty() && !l.starts_with('#')) {
        let f: Vec<&str> = line.split('|').map(str::trim).collect();
        let n: Vec<usize> = f[2].split(',').map(|t| t.parse().unwrap()).collect();
        variants.push(Variant { name: f[0].into(), source: std::fs::read_to_string(dir.join(f[1]))?, group: n[0], piece: n[1], whole: n[2], form: f[3].into(), sets: f[4].parse()?, options: f.get(5).unwrap_or(&"").to_string() });
    }
    let q = Queue::new(&Context::new(&sparrow::find_device(&device)?)?)?;
    let rates = Rates::measure_blocking(&q)?;
    let rate = rates.copy.max(rates.read) * 1e-9;
    println!("rate {rate:.0} GB/s");
    let lib = unsafe { Library::new("libOpenCL.so.1").or_else(|_| Library::new(std::env::var("OPENCL_DYLIB_PATH").unwrap())).context("libOpenCL")? };
    let context = q.context().as_raw() as P; let queue = q.as_raw() as P;
    let mut dev: P = std::ptr::null_mut();
    unsafe { let f: Symbol<unsafe extern "C" fn(P, u32, usize, P, *mut usize) -> i32> = lib.get(b"clGetContextInfo")?; f(context, 0x1081, 8, (&raw mut dev).cast(), std::ptr::null_mut()); }
    let cl = Cl { lib, context, queue, device: dev };
    let mut ratios = vec![(0.0f64, 0usize); variants.len()];
    for name in &args[2..] {
        let m: Csr<f64, u32> = Input::parse(name)?.load(Making { scale: 1.0, seed: csr_core::generate::DEFAULT_SEED }, &|_, _| {})?;
        let (rows, cols, nnz) = (m.rows(), m.cols(), m.nnz());
        let (o, c, v) = (m.pattern().offsets(), m.pattern().columns(), m.values());
        let longest = o.windows(2).map(|w| w[1] - w[0]).max().unwrap();
        // The block-diagonal matrix.
        let mut bo = vec![0u32]; let mut bc = Vec::new(); let mut bv = Vec::new(); let mut ao: Vec<u32> = Vec::new();
        for p in 0..problems { let base = (p * nnz) as u32; bo.extend(o[1..].iter().map(|e| e + base)); bc.extend(c.iter().map(|e| e + (p * cols) as u32)); bv.extend(v.iter().map(|e| e * (1.0 + p as f64 / 4096.0))); ao.extend(o.iter()); }
        let x: Vec<f64> = csr_core::random_vector(7, cols * problems);
        let block = Csr::new(cols * problems, bo, bc, bv)?;
        let mut expected = vec![0.0f64; rows * problems];
        csr_core::product(1.0, block.view(), &x, 0.0, &mut expected)?;
        let given = (problems * (nnz * 12 + (rows + 1) * 4 + (rows + cols) * 8)) as f64;
        println!("{name} x {problems}: nnz {nnz} rows {rows} longest {longest} limit {:.1}", given / rate / 1e3);
        let matrix = Matrix::upload_blocking(&q, block.view())?;
        let xd = DeviceArray::upload_blocking(&q, &x)?;
        let mut yd = DeviceArray::upload_blocking(&q, &vec![f64::NAN; rows * problems])?;
        let options = PlanOptions { algorithm: Some(Algorithm::CsrFlat), ..Default::default() };
        let plan = Plan::new_blocking(&q, &matrix, &options)?;
        let mut ws = plan.workspace_blocking(&q)?;
        let base = time(|| { let p = Product { alpha: 1.0.into(), a: &matrix, x: &xd, beta: 0.0.into(), y: &mut yd }; plan.launch_unobserved(&q, &mut ws, p)?; Ok(()) }, || { q.finish_blocking()?; Ok(()) })?;
        println!("  {:<40} {base:>8.1} us  limit {:>5.2}", "block-diagonal, csr_flat", given / rate / 1e3 / base);
        let offsets_all = cl.upload(&ao)?; let columns_all = cl.upload(&c.repeat(problems))?;
        let narrow: Vec<u16> = c.iter().map(|e| *e as u16).collect(); let narrow_all = cl.upload(&narrow.repeat(problems))?;
        let values_all = cl.upload(block.values())?; let bx = cl.upload(&x)?;
        for (at, w) in variants.iter().enumerate() {
            let mut run = || -> Result<(f64, usize)> {
                let st = starts(o, w.piece); let pieces = st.len() - 1;
                let is_pattern = w.form == "pattern";
                let bs = cl.upload(&if is_pattern { st.clone() } else { st.repeat(problems) })?;
                let by = cl.upload(&vec![f64::NAN; rows * problems])?;
                let bytes = (problems * nnz * (8 + if is_pattern { 0 } else if w.form == "u16" { 2 } else { 4 })) as f64;
                let more: Vec<String> = w.options.split_whitespace().map(|o| match o.strip_prefix("KEEPMB=") { Some(mb) => format!("-DKEEP={:.4}", (mb.parse::<f64>().unwrap() * 1e6 / bytes).min(1.0)), None => o.to_owned() }).collect();
                let more = more.join(" ");
                let options = format!("{} -DPATTERN={} -DLOADS_PAST_L1 -DVALUE_F64 -DGROUP_SIZE={} -DPIECE_NNZ={} -DWHOLE_ROW={} -DSETS={} {} {}", if device == "NVIDIA" { "-cl-nv-verbose" } else { "" }, i32::from(is_pattern), w.group, w.piece.min(1024), w.whole.min(256), w.sets, if w.form == "u16" { "-DCOLUMNS_U16" } else { "" }, more);
                if longest as usize > w.whole { bail!("a row of {longest}") }
                let p = cl.program(&w.source, &options)?;
                let k = cl.kernel(p, "batched_flat")?;
                let mut n = 0;
                for v in [problems as u32, pieces as u32, nnz as u32, rows as u32] { cl.arg(k, n, &v)?; n += 1; }
                let one = |step: usize| if is_pattern { 0u64 } else { step as u64 };
                for v in [nnz as u64, one(nnz), one(rows + 1), cols as u64, rows as u64, one(pieces + 1)] { cl.arg(k, n, &v)?; n += 1; }
                for b in [bs, offsets_all, if w.form == "u16" { narrow_all } else { columns_all }, values_all, bx, by] { cl.arg(k, n, &b)?; n += 1; }
                for v in [1.0f64, 0.0] { cl.arg(k, n, &v)?; n += 1; }
                let enqueue = cl.f::<unsafe extern "C" fn(P, P, u32, *const usize, *const usize, *const usize, u32, *const P, *mut P) -> i32>("clEnqueueNDRangeKernel");
                let turns = problems.div_ceil(w.sets);
                let grid = w.options.contains("GRID");
                let g = if grid { [pieces * w.group, turns] } else { [pieces * turns * w.group, 1] };
                let l = [w.group, 1];
                let mut turn = 0u32;
                let t = time(|| { if w.options.contains("TURNS") { cl.arg(k, 1, &turn)?; turn ^= 1; } let e = unsafe { enqueue(cl.queue, k, if grid { 2 } else { 1 }, std::ptr::null(), g.as_ptr(), l.as_ptr(), 0, std::ptr::null(), std::ptr::null_mut()) }; if e != 0 { bail!("enqueue {e}") } Ok(()) }, || cl.finish())?;
                let mut y = vec![0.0f64; rows * problems];
                cl.read(by, &mut y)?;
                let wrong = y.iter().zip(&expected).filter(|(a, b)| !((**a - **b).abs() <= 1e-11 * (1.0 + b.abs()))).count();
                for b in [by, bs] { cl.release(b); }
                Ok((t, wrong))
            };
            match run() {
                Ok((t, wrong)) => { if wrong == 0 { ratios[at].0 += (base / t).ln(); ratios[at].1 += 1; } println!("  {:<40} {t:>8.1} us  limit {:>5.2}  block x {:>5.2}{}", w.name, given / rate / 1e3 / t, base / t, if wrong > 0 { format!("  WRONG {wrong}") } else { String::new() }) }
                Err(e) => println!("  {} {e}", w.name),
            }
        }
        for b in [offsets_all, columns_all, narrow_all, values_all, bx] { cl.release(b); }
    }
    for (w, (sum, n)) in variants.iter().zip(&ratios) { println!("mean {:<40} block x {:.3} of {n}", w.name, (sum / *n as f64).exp()); }
    Ok(())
}
