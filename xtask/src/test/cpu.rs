//! Processor time as Linux counts it, read from `/proc`.

use std::fs;
use std::time::Duration;

/// What `/proc/ID/stat` says of a process.
struct Stat {
    group: u32,
    /// Its own time and that of the children it has waited for, in ticks.
    ticks: u64,
}

impl Stat {
    fn read(process: &str) -> Option<Stat> {
        Stat::parse(&fs::read_to_string(format!("/proc/{process}/stat")).ok()?)
    }

    /// The program's name, in brackets, may hold anything; the fields after it are counted from the state on.
    fn parse(text: &str) -> Option<Stat> {
        let fields: Vec<&str> = text.rsplit_once(')')?.1.split_whitespace().collect();
        let number = |at: usize| fields.get(at)?.parse::<u64>().ok();
        let ticks = number(11)? + number(12)? + number(13)? + number(14)?;
        Some(Stat { group: u32::try_from(number(2)?).ok()?, ticks })
    }

    fn time(&self) -> Duration {
        let per_second = rustix::param::clock_ticks_per_second().max(1);
        Duration::from_micros(self.ticks * 1_000_000 / per_second)
    }
}

/// Of this process and of every child it has waited for; none where there is no `/proc`.
pub(super) fn of_us() -> Duration {
    of_process("self")
}

/// Of a process, which may have ended if it was not waited for, and of the children that it has waited for.
pub(super) fn of_process(process: &str) -> Duration {
    Stat::read(process).map_or(Duration::ZERO, |stat| stat.time())
}

/// Of all processes of a group, and of the children they have waited for.
pub(super) fn of_group(group: u32) -> Duration {
    let Ok(entries) = fs::read_dir("/proc") else { return Duration::ZERO };
    let names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    let processes = names.filter(|name| name.bytes().all(|byte| byte.is_ascii_digit()));
    let stats = processes.filter_map(|process| Stat::read(&process));
    stats.filter(|stat| stat.group == group).map(|stat| stat.time()).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_read_whatever_the_programs_name_is() {
        let line = "12 (a) b (c) S 1 77 77 0 -1 4194304 99 0 0 0 5 6 70 800 20 0 1 0 100 0 0\n";
        let stat = Stat::parse(line).unwrap();
        assert_eq!((stat.group, stat.ticks), (77, 881));
        assert!(Stat::parse("12 (a").is_none());
        assert!(Stat::parse("12 (a) S 1 77").is_none());
    }

    #[test]
    fn our_own_time_grows() {
        let before = of_us();
        let mut sum = 0u64;
        while of_us() == before {
            sum = std::hint::black_box(sum + 1);
        }
        assert!(of_us() > before);
    }
}
