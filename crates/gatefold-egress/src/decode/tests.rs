use std::io::Write as _;

use flate2::Compression;
use flate2::write::GzEncoder;

use super::*;

/// 16 MiB of zeros.
const BROTLI_BOMB: [u8; 14] =
    [0x9f, 0xff, 0xff, 0xff, 0x00, 0x24, 0x00, 0xe2, 0xb1, 0x40, 0x72, 0xef, 0xff, 0x01];
/// `hello hello hello hello`
const BROTLI_HELLO: [u8; 20] = [
    0x1b, 0x16, 0x00, 0xf8, 0x8d, 0x94, 0x6e, 0xde, 0x44, 0x55, 0x86, 0x96, 0x6c, 0x20, 0x6f, 0x21,
    0x4f, 0x1c, 0xe0, 0x38,
];
const BOMB_BYTES: u64 = 16 << 20;

fn gzip(text: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(text).unwrap();
    encoder.finish().unwrap()
}

fn decoded(coding: Coding, body: &[u8], size: usize, limit: u64) -> Result<Bytes, DecodeFault> {
    let mut decoder = BodyDecoder::new(coding, limit)?;
    for part in body.chunks(size) {
        decoder.push(part)?;
    }
    decoder.finish()
}

/// The body in pieces of every size becomes this text, or this fault.
#[track_caller]
fn check(coding: Coding, body: &[u8], limit: u64, expected: Result<&str, DecodeFault>) {
    for size in 1..=body.len().clamp(1, 40) {
        let found = decoded(coding, body, size, limit);
        let expected = expected.map(|text| Bytes::copy_from_slice(text.as_bytes()));
        assert_eq!(found, expected, "{coding:?} in pieces of {size}");
    }
}

#[test]
fn a_body_is_decoded_however_it_arrives() {
    let text = "hello hello hello hello";
    let two_members = [gzip(b"hello hello "), gzip(b"hello hello")].concat();
    check(Coding::Plain, text.as_bytes(), 23, Ok(text));
    check(Coding::Gzip, &gzip(text.as_bytes()), 23, Ok(text));
    check(Coding::Gzip, &two_members, 23, Ok(text));
    check(Coding::Brotli, &BROTLI_HELLO, 23, Ok(text));
    for coding in [Coding::Plain, Coding::Gzip, Coding::Brotli] {
        check(coding, b"", 0, Ok(""));
    }
}

#[test]
fn a_body_ends_at_its_limit_and_not_before_its_end() {
    let text = "hello hello hello hello";
    check(Coding::Plain, text.as_bytes(), 22, Err(DecodeFault::TooLarge));
    check(Coding::Gzip, &gzip(text.as_bytes()), 22, Err(DecodeFault::TooLarge));
    check(Coding::Brotli, &BROTLI_HELLO, 22, Err(DecodeFault::TooLarge));
    check(Coding::Gzip, &gzip(text.as_bytes())[..20], 23, Err(DecodeFault::Malformed));
    check(Coding::Brotli, &BROTLI_HELLO[..18], 23, Err(DecodeFault::Malformed));
    check(Coding::Gzip, text.as_bytes(), 23, Err(DecodeFault::Malformed));
    check(Coding::Brotli, &[0xff; 20], 23, Err(DecodeFault::Malformed));
    check(Coding::Unknown, text.as_bytes(), 23, Err(DecodeFault::Unknown));
}

#[test]
fn a_bomb_ends_at_the_limit() {
    let zeros = vec![0; usize::try_from(BOMB_BYTES).unwrap()];
    let gzip = gzip(&zeros);
    for (coding, bomb) in [(Coding::Gzip, &gzip[..]), (Coding::Brotli, &BROTLI_BOMB[..])] {
        let whole = decoded(coding, bomb, 8192, BOMB_BYTES).unwrap();
        assert_eq!(whole, zeros, "{coding:?}");
        let mut decoder = BodyDecoder::new(coding, 1 << 20).unwrap();
        assert_eq!(decoder.push(bomb), Err(DecodeFault::TooLarge), "{coding:?}");
        let held = match &decoder.stage {
            DecoderStage::Plain(body) => &body.bytes,
            DecoderStage::Gzip(decoder) => &decoder.get_ref().bytes,
            DecoderStage::Brotli(decoder) => &decoder.get_ref().bytes,
        };
        assert!(held.len() <= 1 << 20, "{coding:?}: {}", held.len());
    }
}

#[test]
fn what_unfolds_into_nothing_ends_too() {
    let nothing = gzip(b"").repeat(10_000);
    assert_eq!(decoded(Coding::Gzip, &nothing, 4096, 1000), Err(DecodeFault::TooLarge));
}

#[test]
fn the_coding_is_that_of_the_head() {
    for (values, expected, is_kept) in [
        (&[][..], Coding::Plain, true),
        (&["identity"], Coding::Plain, true),
        (&["GZip"], Coding::Gzip, false),
        (&[" x-gzip "], Coding::Gzip, false),
        (&["br"], Coding::Brotli, false),
        (&["gzip, br"], Coding::Unknown, true),
        (&["gzip", "br"], Coding::Unknown, true),
        (&["zstd"], Coding::Unknown, true),
    ] {
        let mut headers = HeaderMap::from_iter([(CONTENT_LENGTH, HeaderValue::from_static("9"))]);
        for value in values {
            headers.append(CONTENT_ENCODING, HeaderValue::from_static(value));
        }
        assert_eq!(Coding::take(&mut headers), expected, "{values:?}");
        assert_eq!(headers.contains_key(CONTENT_LENGTH), is_kept, "{values:?}");
    }
}

#[test]
fn what_came_of_a_stream_so_far_can_be_read() {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(b"data: 1\n\n").unwrap();
    encoder.flush().unwrap();
    encoder.write_all(b"data: 2\n\n").unwrap();
    encoder.flush().unwrap();
    for (coding, body, expected) in [
        (Coding::Gzip, encoder.get_ref().clone(), "data: 1\n\ndata: 2\n\n"),
        (Coding::Plain, b"data: 1\n\ndata: 2".to_vec(), "data: 1\n\ndata: 2"),
    ] {
        for size in 1..=body.len() {
            let mut decoder = BodyDecoder::new(coding, 1024).unwrap();
            body.chunks(size).for_each(|part| decoder.push(part).unwrap());
            assert_eq!(decoder.into_partial(), expected, "{coding:?} in pieces of {size}");
        }
    }
}
