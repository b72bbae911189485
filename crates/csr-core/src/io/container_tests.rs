//! What a matrix may come in: gzip with padding, tar archives, other encodings; and what is refused by its name.

use std::io::Write as _;
use std::path::PathBuf;

use flate2::Compression;
use flate2::write::GzEncoder;
use tar::{Builder, EntryType, Header};

use super::*;

const MATRIX: &str = "%%MatrixMarket matrix coordinate real general\n2 2 1\n2 1 0.5\n";
const B: &str = "%%MatrixMarket matrix array real general\n2 1\n3\n4\n";

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

/// An archive of files and, where a name ends in "/", folders.
fn tar(members: &[(&str, &str)]) -> Vec<u8> {
    let mut builder = Builder::new(Vec::new());
    for (name, text) in members {
        let mut header = Header::new_gnu();
        header.set_size(text.len() as u64);
        header.set_mode(0o644);
        if name.ends_with('/') {
            header.set_entry_type(EntryType::Directory);
        }
        builder.append_data(&mut header, name, text.as_bytes()).unwrap();
    }
    builder.into_inner().unwrap()
}

/// A folder with one file in it.
fn put(name: &str, bytes: &[u8]) -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    std::fs::write(&path, bytes).unwrap();
    (folder, path)
}

/// The value of the only entry, read from a file of this name and from a stream; or the refusal, without the file's name.
fn read(name: &str, bytes: &[u8]) -> Result<f64, String> {
    let (folder, path) = put(name, bytes);
    let value = |coo: crate::Result<Coo<f64>>| match coo {
        Ok(coo) => Ok(coo.values()[0]),
        Err(error) => {
            let folder = format!("{}/", folder.path().display());
            Err(error.to_string().replace(&folder, ""))
        }
    };
    let from_file = value(ReadOptions::new().coo(&path));
    let from_stream = value(ReadOptions::new().coo_from(bytes, name));
    assert_eq!(from_file, from_stream);
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1, "something was unpacked");
    from_file
}

fn vector(name: &str, bytes: &[u8], suffix: &str) -> Result<Vec<f64>, String> {
    let (_folder, path) = put(name, bytes);
    let options = ReadOptions::new().member_suffix(suffix);
    options.vector(&path).map_err(|error| error.to_string())
}

#[test]
fn zeros_after_gzip_data_are_padding() {
    let padded = [gzip(MATRIX.as_bytes()), vec![0; 600]].concat();
    assert_eq!(read("a.mtx.gz", &padded), Ok(0.5));
    let (head, rest) = MATRIX.as_bytes().split_at(50);
    let members = [gzip(head), gzip(rest), vec![0]].concat();
    assert_eq!(read("a.mtx.gz", &members), Ok(0.5));
    let error =
        read("a.mtx.gz", &[gzip(MATRIX.as_bytes()), b"more".to_vec()].concat()).unwrap_err();
    assert!(error.contains("after the gzip data stands a byte 0x6d"), "{error}");
}

#[test]
fn the_matrix_of_an_archive_is_read_with_the_vectors_that_belong_to_it() {
    let members = [
        ("west/", ""),
        ("west/._west.mtx", "what macOS adds"),
        ("west/west_b.mtx", B),
        ("west/west.mtx", MATRIX),
        ("west/west_names.txt", "a\nb\n"),
    ];
    let plain = tar(&members);
    for (name, bytes) in [("w.tar", plain.clone()), ("w.tar.gz", gzip(&plain)), ("w", gzip(&plain))]
    {
        assert_eq!(read(name, &bytes), Ok(0.5), "{name}");
        assert_eq!(vector(name, &bytes, "_b"), Ok(vec![3.0, 4.0]), "{name}");
        let refusal = vector(name, &bytes, "_x").unwrap_err();
        assert!(
            refusal.contains("the archive holds no \"west/west_x.mtx\"; it holds"),
            "{refusal}"
        );
    }
    let refusal = vector("a.mtx", MATRIX.as_bytes(), "_b").unwrap_err();
    assert!(refusal.ends_with("it is no tar archive, and a vector of an archive is asked for"));
}

#[test]
fn errors_in_an_archive_name_the_member_and_its_line() {
    let bytes = gzip(&tar(&[("w/w.mtx", &MATRIX.replace("2 1 0.5", "3 1 0.5"))]));
    assert_eq!(
        read("w.tar.gz", &bytes),
        Err("mtx file \"w.tar.gz:w/w.mtx\", line 3: row 3 is outside 1..=2".to_owned())
    );
}

#[test]
fn an_archive_without_a_matrix_or_with_two_is_refused_with_what_it_holds() {
    assert_eq!(
        read("w.tar.gz", &gzip(&tar(&[("w/", ""), ("w/w.rb", "x")]))),
        Err("cannot read \"w.tar.gz\": the archive holds no matrix (NAME/NAME.mtx); it holds \"w/\", \"w/w.rb\""
            .to_owned())
    );
    let two = tar(&[("a/a.mtx", MATRIX), ("b/b.mtx", MATRIX)]);
    assert_eq!(
        read("w.tar", &two),
        Err("cannot read \"w.tar\": the archive holds 2 matrices where one is needed; it holds \
             \"a/a.mtx\", \"b/b.mtx\""
            .to_owned())
    );
    let error = read("w.tar", &tar(&[("x/a.mtx", MATRIX), ("x/b.mtx", MATRIX)])).unwrap_err();
    assert!(error.contains("holds 2 matrices where one is needed"), "{error}");
}

#[test]
fn a_single_matrix_of_another_name_is_found_in_a_file() {
    let bytes = gzip(&tar(&[("d/m_b.mtx", B), ("d/m.mtx", MATRIX)]));
    let (_folder, path) = put("x.tar.gz", &bytes);
    assert_eq!(read_matrix_market::<f64>(&path).unwrap().values(), [0.5]);
    assert_eq!(ReadOptions::new().sizes(&path).unwrap().rows, 2);
    assert_eq!(vector("x.tar.gz", &bytes, "_b"), Ok(vec![3.0, 4.0]));
    let error = ReadOptions::new().coo_from::<f64>(bytes.as_slice(), "-").unwrap_err().to_string();
    assert!(error.contains("\"d/m.mtx\" is not called as its folder"), "{error}");
}

#[test]
fn names_of_any_length_and_links_and_hostile_paths_are_no_harm() {
    let long = format!("{}/m/m.mtx", "f".repeat(300));
    assert_eq!(read("x.tar", &tar(&[(&long, MATRIX)])), Ok(0.5));
    // A name that leads elsewhere is a name and nothing more.
    let mut header = Header::new_gnu();
    header.as_mut_bytes()[..12].copy_from_slice(b"../../m/m.mt");
    header.as_mut_bytes()[12] = b'x';
    header.set_size(MATRIX.len() as u64);
    header.set_cksum();
    let mut builder = Builder::new(Vec::new());
    builder.append(&header, MATRIX.as_bytes()).unwrap();
    assert_eq!(read("x.tar", &builder.into_inner().unwrap()), Ok(0.5));
    let mut link = Header::new_gnu();
    link.set_entry_type(EntryType::Symlink);
    link.set_size(0);
    let mut builder = Builder::new(Vec::new());
    builder.append_link(&mut link, "m/m.mtx", "/etc/passwd").unwrap();
    let error = read("x.tar", &builder.into_inner().unwrap()).unwrap_err();
    assert!(error.contains("holds no matrix"), "{error}");
}

#[test]
fn an_archive_that_is_cut_short_or_damaged_is_refused() {
    let whole = tar(&[("a/a_b.mtx", B), ("a/a.mtx", MATRIX)]);
    let end = 3 * 512 + MATRIX.len();
    for len in [600, 1100, 1600, end - 1] {
        let error = read("a.tar", &whole[..len]).unwrap_err();
        assert!(error.contains("the archive is cut short"), "cut at {len}: {error}");
    }
    // As tar reads it, without the zeros at the end.
    assert_eq!(read("a.tar", &whole[..4 * 512]), Ok(0.5));
    let mut damaged = whole.clone();
    damaged[1024] ^= 1;
    let error = read("a.tar", &damaged).unwrap_err();
    assert!(error.contains("the header of member 2 has a wrong checksum"), "{error}");
    let packed = gzip(&whole);
    let error = read("a.tar.gz", &packed[..packed.len() - 5]).unwrap_err();
    assert!(error.contains("the gzip data is damaged or cut short"), "{error}");
}

#[test]
fn sizes_that_headers_only_claim_take_no_memory() {
    let mut header = Header::new_gnu();
    header.set_path("a/a.mtx").unwrap();
    header.set_size(u64::MAX / 2);
    header.set_cksum();
    let bytes = [header.as_bytes().as_slice(), MATRIX.as_bytes()].concat();
    assert!(read("a.tar", &bytes).unwrap_err().contains("the archive is cut short"));
    header.set_entry_type(EntryType::GNULongName);
    header.set_cksum();
    let bytes = [header.as_bytes().as_slice(), MATRIX.as_bytes()].concat();
    let error = read("a.tar", &bytes).unwrap_err();
    assert!(error.contains("above the limit of 65536"), "{error}");
}

#[test]
fn a_utf_8_mark_is_skipped_and_wider_text_is_named() {
    assert_eq!(read("a.mtx", &[b"\xef\xbb\xbf", MATRIX.as_bytes()].concat()), Ok(0.5));
    let wide: Vec<u8> = MATRIX.encode_utf16().flat_map(u16::to_le_bytes).collect();
    let error = read("a.mtx", &[b"\xff\xfe".to_vec(), wide.clone()].concat()).unwrap_err();
    assert!(error.contains("the text is UTF-16 (it begins with a byte-order mark)"), "{error}");
    let error = read("a.mtx", &wide).unwrap_err();
    assert!(
        error.contains("the text is UTF-16LE (it begins without a byte-order mark)"),
        "{error}"
    );
}

#[test]
fn other_compressions_are_named_with_the_line_that_unpacks_them() {
    for (start, words) in [
        (&b"BZh91AY&SY"[..], "it is bzip2 data, which is not read; to unpack it: bunzip2 -k \"m\""),
        (b"\xfd7zXZ\0\0", "it is xz data, which is not read; to unpack it: unxz -k \"m\""),
        (b"\x28\xb5\x2f\xfd\0", "it is zstd data, which is not read; to unpack it: unzstd \"m\""),
        (b"PK\x03\x04\x14", "it is a zip archive, which is not read; to unpack it: unzip \"m\""),
    ] {
        assert_eq!(read("m", start), Err(format!("cannot read \"m\": {words}")));
    }
    let twice = gzip(&gzip(MATRIX.as_bytes()));
    assert!(read("m.gz", &twice).unwrap_err().contains("it is gzip data in gzip data"));
}

#[test]
fn lines_that_end_in_carriage_returns_alone_are_named() {
    let text = "%%MatrixMarket matrix coordinate real general\r1 1 1\r1 1 2\r";
    let refusal = |text: &str| {
        ReadOptions::new().coo_from::<f64>(text.as_bytes(), "a.mtx").unwrap_err().to_string()
    };
    let named = "mtx file \"a.mtx\", line 1: its lines end in carriage returns alone, which are no ends of lines here; \
                 to convert it: tr '\\r' '\\n'";
    assert_eq!(refusal(text), named);
    // With line ends as well, nothing but the sizes is missing.
    let banner = text.split('\r').next().unwrap();
    for text in [format!("{banner}\r\n"), format!("{banner}\r"), banner.to_owned()] {
        assert!(refusal(&text).ends_with("line 1: the file ends before its sizes"), "{text:?}");
    }
}
