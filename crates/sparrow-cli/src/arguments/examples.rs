//! Examples at the end of `--help`, of the command and of each of its commands.

/// Of the command.
pub(super) const EXAMPLES: &str = "\
Examples:
  sparrow devices
      what is here
  sparrow bench pwtk
      how fast a likeness of pwtk is multiplied
  sparrow spmv a.mtx --out y.mtx
      one product, verified
  sparrow solve a.mtx --b b.mtx --out x.mtx
      A x = b
  sparrow COMMAND --help
      all that a command takes

Status: 0 done; 1 a run or a verification failed, or there is no device; 2 bad usage or input;
128 and a signal's number: interrupted.";

/// Of `devices`.
pub(super) const DEVICES_EXAMPLES: &str = "\
Examples:
  sparrow devices
      every device
  sparrow devices --table --device nvidia
      and what its tuning is";

/// Of `info`.
pub(super) const INFO_EXAMPLES: &str = "\
Examples:
  sparrow info a.mtx.gz
      rows by length
  sparrow info pwtk --explain
      which algorithm, and why";

/// Of `spmv`.
pub(super) const SPMV_EXAMPLES: &str = "\
Examples:
  sparrow spmv a.mtx --x x.mtx --out y.mtx
      y = A x
  sparrow spmv a.mtx --x ones --y y.mtx --alpha -1 --beta 1 --out r.mtx
      r = y - A 1
  sparrow gen poisson5 --out - | sparrow spmv - --device host
      without OpenCL";

/// Of `solve`.
pub(super) const SOLVE_EXAMPLES: &str = "\
Examples:
  sparrow solve a.mtx --b ones --precondition jacobi
      symmetric A, by CG
  sparrow solve a.mtx --b b.mtx --method bicgstab --out x.mtx
      any A";

/// Of `bench`.
pub(super) const BENCH_EXAMPLES: &str = "\
Examples:
  sparrow bench a.mtx
      y = A x by the algorithm that the library chooses
  sparrow bench --suite quick --algorithms all --html r.html
      every algorithm
  sparrow bench spmm a.mtx --columns 1,8,32
      another operation";

/// Of `tune`.
pub(super) const TUNE_EXAMPLES: &str = "\
Examples:
  sparrow tune --quick
      twenty seconds a device
  sparrow tune judge --suite quick
      whether it helped";

/// Of `gen`.
pub(super) const GEN_EXAMPLES: &str = "\
Examples:
  sparrow gen poisson7 --scale 0.1 --out a.mtx.gz
      a tenth of the rows";

/// Of `selftest`.
pub(super) const SELFTEST_EXAMPLES: &str = "\
Examples:
  sparrow selftest --json report.jsonl
      a report that can be sent";

/// Of `completions`.
pub(super) const COMPLETIONS_EXAMPLES: &str = "\
Examples:
  sparrow completions bash > ~/.local/share/bash-completion/completions/sparrow
      bash
  sparrow completions fish > ~/.config/fish/completions/sparrow.fish
      fish
  sparrow completions zsh > FOLDER/_sparrow
      zsh, a folder of $fpath";

/// Of `man`.
pub(super) const MAN_EXAMPLES: &str = "\
Examples:
  sparrow man | man -l -
      read it
  sparrow man --folder ~/.local/share/man/man1
      install it";

/// Of `bench spmv`.
pub(super) const BENCH_SPMV_EXAMPLES: &str = "\
Examples:
  sparrow bench spmv a.mtx --algorithms all
      each algorithm on a file
  sparrow bench spmv cant --products many --model
      what a plan for many products gains, and where the time goes";

/// Of `bench spmm`.
pub(super) const BENCH_SPMM_EXAMPLES: &str = "\
Examples:
  sparrow bench spmm cant --columns 1-16,32
      what a number of columns costs";

/// Of `bench spgemm`.
pub(super) const BENCH_SPGEMM_EXAMPLES: &str = "\
Examples:
  sparrow bench spgemm cant --value-type f64
      A A in f64";

/// Of `bench batch`.
pub(super) const BENCH_BATCH_EXAMPLES: &str = "\
Examples:
  sparrow bench batch nos3.mtx --batch-size 100,10000
      many problems of one matrix";

/// Of `bench figure`.
pub(super) const BENCH_FIGURE_EXAMPLES: &str = "\
Examples:
  sparrow bench figure csr-adaptive-10 --html figure.html
      in at most four minutes
  sparrow bench figure csr-adaptive-10 cant pwtk --budget 1m --json figure.jsonl
      on two matrices
  sparrow bench figure spmm-4 --peers cusparse.jsonl --html figure.html
      with cuSPARSE, as sparrow-peers figure spmm-4 --json cusparse.jsonl timed it";

/// Of `bench hetero`.
pub(super) const BENCH_HETERO_EXAMPLES: &str = "\
Examples:
  sparrow bench hetero cant --share 0.2
      a fifth of the nonzeros on the host";

/// Of `bench convert`.
pub(super) const BENCH_CONVERT_EXAMPLES: &str = "\
Examples:
  sparrow bench convert a.mtx --value-type f32
      the conversions of a file";

/// Of `bench vector`.
pub(super) const BENCH_VECTOR_EXAMPLES: &str = "\
Examples:
  sparrow bench vector --value-type f32
      in f32";

/// Of `tune judge`.
pub(super) const JUDGE_EXAMPLES: &str = "\
Examples:
  sparrow tune judge a.mtx --products many
      a file of yours, where many products follow";

/// Of `tune merge`.
pub(super) const MERGE_EXAMPLES: &str = "\
Examples:
  sparrow tune merge raw.jsonl --into table.toml
      an entry from raw timings";
