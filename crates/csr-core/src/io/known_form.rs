//! Forms of data that are known by their first bytes and are not read: each is refused by its name, with what makes a
//! Matrix Market file of it.

use std::path::Path;

/// First bytes, what has them, and a command that unpacks a file; empty where there is none.
const FORMS: [(&[u8], &str, &str); 13] = [
    (b"\x1f\x8b", "gzip data in gzip data", "gunzip -k"),
    (b"BZh", "bzip2 data", "bunzip2 -k"),
    (b"\xfd7zXZ\0", "xz data", "unxz -k"),
    (b"\x28\xb5\x2f\xfd", "zstd data", "unzstd"),
    (b"PK\x03\x04", "a zip archive", "unzip"),
    (b"\x04\x22\x4d\x18", "lz4 data", "unlz4"),
    (b"LZIP", "lzip data", "lzip -dk"),
    (b"7z\xbc\xaf\x27\x1c", "a 7z archive", "7z x"),
    (b"\x1f\x9d", "data of compress", "uncompress"),
    (b"\x89HDF\r\n", "an HDF5 file", ""),
    (b"MATLAB 5.0 MAT-file", "a MATLAB file", ""),
    (b"%PDF-", "a PDF file", ""),
    (b"\x7fELF", "a program", ""),
];

/// What a program's standard input is called where files have their paths.
pub const STANDARD_INPUT: &str = "standard input";

/// Why data that begins so is not read; `None` for what may be text.
pub(super) fn refusal(start: &[u8], path: &Path) -> Option<String> {
    let is_piped = path == Path::new(STANDARD_INPUT);
    if let Some((encoding, mark)) = wide_encoding(start) {
        let text = format!(
            "the text is {encoding} (it begins {mark} a byte-order mark), and Matrix Market files are ASCII or UTF-8"
        );
        let command = format!("iconv -f {encoding} -t UTF-8");
        return Some(match is_piped {
            true => format!("{text}; to convert it, pipe it through {command}"),
            false => format!("{text}; to convert it: {command} {} > NEW.mtx", in_shell(path)),
        });
    }
    let (_, what, command) = FORMS.iter().find(|(bytes, ..)| start.starts_with(bytes))?;
    Some(match (*command, is_piped) {
        ("", _) => format!("it is {what}, and a Matrix Market file is needed"),
        // Whose parts are listed at their end.
        ("unzip" | "7z x", true) => {
            format!("it is {what}, which is not read; unpack it to a file with {command}")
        }
        (_, true) => {
            let (filter, _) = command.split_once(' ').unwrap_or((command, ""));
            format!("it is {what}, which is not read; pipe it through {filter} -dc")
        }
        _ => format!("it is {what}, which is not read; to unpack it: {command} {}", in_shell(path)),
    })
}

/// A path as a word of a shell's line, in which the shell finds nothing to do.
fn in_shell(path: &Path) -> String {
    let name = path.to_string_lossy();
    match name.contains(['$', '`', '"', '\\', '!']) {
        true => format!("'{}'", name.replace('\'', "'\\''")),
        false => format!("\"{name}\""),
    }
}

/// The name of an encoding with more than one byte a character, and "with" or "without" a byte-order mark.
fn wide_encoding(start: &[u8]) -> Option<(&'static str, &'static str)> {
    match start {
        [0xff, 0xfe, 0, 0, ..] | [0, 0, 0xfe, 0xff, ..] => Some(("UTF-32", "with")),
        [0xff, 0xfe, ..] | [0xfe, 0xff, ..] => Some(("UTF-16", "with")),
        [b'%', 0, 0, 0, ..] => Some(("UTF-32LE", "without")),
        [0, 0, 0, b'%', ..] => Some(("UTF-32BE", "without")),
        [b'%', 0, ..] => Some(("UTF-16LE", "without")),
        [0, b'%', ..] => Some(("UTF-16BE", "without")),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_comes_by_a_pipe_is_unpacked_in_the_pipe() {
        let of = |start: &[u8]| refusal(start, Path::new(STANDARD_INPUT)).unwrap_or_default();
        assert_eq!(
            of(b"BZh91"),
            "it is bzip2 data, which is not read; pipe it through bunzip2 -dc"
        );
        assert_eq!(of(b"LZIP\x01"), "it is lzip data, which is not read; pipe it through lzip -dc");
        assert_eq!(
            of(b"PK\x03\x04"),
            "it is a zip archive, which is not read; unpack it to a file with unzip"
        );
        assert!(of(b"\xff\xfe%\0").ends_with("pipe it through iconv -f UTF-16 -t UTF-8"));
    }

    #[test]
    fn what_is_not_read_is_named_with_the_command_that_unpacks_it() {
        let of = |start: &[u8]| refusal(start, Path::new("a.mtx.xz")).unwrap_or_default();
        assert_eq!(
            of(b"\xfd7zXZ\0\0\x04"),
            "it is xz data, which is not read; to unpack it: unxz -k \"a.mtx.xz\""
        );
        assert_eq!(of(b"\x89HDF\r\n"), "it is an HDF5 file, and a Matrix Market file is needed");
        assert!(of(b"\xff\xfe%\0").contains("UTF-16 (it begins with a byte-order mark)"));
        assert!(of(b"\0%\0%").contains("iconv -f UTF-16BE -t UTF-8 \"a.mtx.xz\""));
        assert!(of(b"%\0\0\0").contains("UTF-32"));
        let gzip = refusal(b"\x1f\x8b", Path::new("a.gz")).unwrap_or_default();
        assert!(gzip.ends_with("gunzip -k \"a.gz\""), "{gzip}");
        for text in [&b"%%MatrixMarket"[..], b"", b"\xef\xbb\xbf%%", b"1 1 1"] {
            assert_eq!(refusal(text, Path::new("a")), None);
        }
    }

    #[test]
    fn a_name_is_no_command_in_the_line_that_unpacks_it() {
        for (name, word) in [
            ("a b's.zip", "\"a b's.zip\""),
            ("$(rm x).zip", "'$(rm x).zip'"),
            ("`x`'\".zip", "'`x`'\\''\".zip'"),
        ] {
            let text = refusal(b"PK\x03\x04", Path::new(name)).unwrap_or_default();
            assert_eq!(
                text,
                format!("it is a zip archive, which is not read; to unpack it: unzip {word}")
            );
        }
    }
}
