//! Gzip data to text: members one after the other, and zeros that pad the last, as gzip itself reads them.

use std::io::{BufRead, Error, ErrorKind, Read, Result};

use flate2::bufread::GzDecoder;

/// Decompresses every member of a stream that begins with one.
pub(super) struct Gunzip<R> {
    /// `None` once the stream has ended.
    member: Option<GzDecoder<R>>,
}

impl<R: BufRead> Gunzip<R> {
    pub(super) fn new(stream: R) -> Self {
        Gunzip { member: Some(GzDecoder::new(stream)) }
    }
}

impl<R: BufRead> Read for Gunzip<R> {
    fn read(&mut self, buffer: &mut [u8]) -> Result<usize> {
        while let Some(member) = &mut self.member {
            let read = member.read(buffer).map_err(damaged)?;
            if read > 0 || buffer.is_empty() {
                return Ok(read);
            }
            let stream = self.member.take().map(GzDecoder::into_inner);
            self.member = stream.map(next_member).transpose()?.flatten();
        }
        Ok(0)
    }
}

/// What is left after a member; `None` where that is nothing, or zeros up to the end.
fn next_member<R: BufRead>(mut stream: R) -> Result<Option<GzDecoder<R>>> {
    match stream.fill_buf()?.first() {
        None => return Ok(None),
        Some(0) => {}
        Some(0x1f) => return Ok(Some(GzDecoder::new(stream))),
        Some(byte) => return Err(surplus(*byte)),
    }
    loop {
        let bytes = stream.fill_buf()?;
        if bytes.is_empty() {
            return Ok(None);
        }
        if let Some(byte) = bytes.iter().find(|byte| **byte != 0) {
            return Err(surplus(*byte));
        }
        let zeros = bytes.len();
        stream.consume(zeros);
    }
}

fn surplus(byte: u8) -> Error {
    let text = format!("after the gzip data stands a byte 0x{byte:02x}, which is none of it");
    Error::new(ErrorKind::InvalidData, text)
}

/// The decoder says "unexpected end of file" and the like, which the file itself is not to blame for if it is the
/// stream inside that ends.
fn damaged(reason: Error) -> Error {
    match reason.kind() {
        ErrorKind::Interrupted => reason,
        kind => Error::new(kind, format!("the gzip data is damaged or cut short: {reason}")),
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use flate2::Compression;
    use flate2::write::GzEncoder;

    use super::*;

    fn member(text: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
        encoder.write_all(text).unwrap();
        encoder.finish().unwrap()
    }

    fn unpack(parts: &[&[u8]]) -> std::result::Result<String, String> {
        let mut text = String::new();
        let bytes = parts.concat();
        let read = Gunzip::new(bytes.as_slice()).read_to_string(&mut text);
        read.map(|_| text).map_err(|error| error.to_string())
    }

    #[test]
    fn members_are_joined_and_zeros_after_the_last_are_padding() {
        let (first, empty, last) = (member(b"one "), member(b""), member(b"two"));
        assert_eq!(unpack(&[&first, &empty, &last]), Ok("one two".to_owned()));
        assert_eq!(unpack(&[&first, &[0]]), Ok("one ".to_owned()));
        assert_eq!(unpack(&[&first, &last, &vec![0; 100_000]]), Ok("one two".to_owned()));
    }

    #[test]
    fn other_bytes_after_a_member_are_an_error() {
        let first = member(b"one");
        for rest in [&b"junk"[..], &[0, 0, b'j']] {
            let error = unpack(&[&first, rest]).unwrap_err();
            assert_eq!(error, "after the gzip data stands a byte 0x6a, which is none of it");
        }
        let error = unpack(&[&first, &first[..7]]).unwrap_err();
        assert!(error.starts_with("the gzip data is damaged or cut short: "), "{error}");
    }
}
