//! Compressed bodies, decoded while they are read, so that a small answer that unfolds into a huge
//! one (a bomb) ends at the limit.

use std::io::{self, Write};

use brotli_decompressor::DecompressorWriter;
use bytes::Bytes;
use flate2::write::MultiGzDecoder;
use http::HeaderValue;
use http::header::{CONTENT_ENCODING, CONTENT_LENGTH, HeaderMap};

/// What requests say they can take.
pub(crate) const ACCEPTED: HeaderValue = HeaderValue::from_static("gzip, br");

/// How much is decoded at once, in bytes.
const DECODE_BYTES: usize = 16 * 1024;
/// How far a compressed body may exceed its limit, for headers and trailers of short ones.
const ENVELOPE_BYTES: u64 = 64 * 1024;

/// How a body is compressed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Coding {
    Plain,
    Gzip,
    Brotli,
    /// One that was not asked for, or several.
    Unknown,
}

impl Coding {
    /// Takes the coding out of an answer's head, whose length is then none of the body's.
    pub(crate) fn take(headers: &mut HeaderMap) -> Self {
        let mut values = headers.get_all(CONTENT_ENCODING).iter();
        let coding = match (values.next(), values.next()) {
            (None, _) => return Self::Plain,
            (Some(value), None) => Self::of(value.as_bytes()),
            (Some(_), Some(_)) => Self::Unknown,
        };
        if matches!(coding, Self::Gzip | Self::Brotli) {
            headers.remove(CONTENT_ENCODING);
            headers.remove(CONTENT_LENGTH);
        }
        coding
    }

    fn of(value: &[u8]) -> Self {
        let value = value.trim_ascii();
        let is = |name: &str| value.eq_ignore_ascii_case(name.as_bytes());
        if value.is_empty() || is("identity") {
            Self::Plain
        } else if is("gzip") || is("x-gzip") {
            Self::Gzip
        } else if is("br") {
            Self::Brotli
        } else {
            Self::Unknown
        }
    }
}

/// Why a body cannot be decoded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum DecodeFault {
    TooLarge,
    Malformed,
    Unknown,
}

/// Decodes a body as its parts arrive.
pub(crate) struct BodyDecoder {
    stage: DecoderStage,
    limit: u64,
    /// The compressed bytes so far.
    taken: u64,
}

enum DecoderStage {
    Plain(CappedBody),
    Gzip(Box<MultiGzDecoder<CappedBody>>),
    Brotli(Box<DecompressorWriter<CappedBody>>),
}

/// A body that takes no more than its limit.
struct CappedBody {
    bytes: Vec<u8>,
    limit: u64,
}

impl BodyDecoder {
    pub(crate) fn new(coding: Coding, limit: u64) -> Result<Self, DecodeFault> {
        let body = CappedBody { bytes: Vec::new(), limit };
        let stage = match coding {
            Coding::Plain => DecoderStage::Plain(body),
            Coding::Gzip => DecoderStage::Gzip(Box::new(MultiGzDecoder::new(body))),
            Coding::Brotli => {
                DecoderStage::Brotli(Box::new(DecompressorWriter::new(body, DECODE_BYTES)))
            }
            Coding::Unknown => return Err(DecodeFault::Unknown),
        };
        Ok(Self { stage, limit, taken: 0 })
    }

    pub(crate) fn push(&mut self, part: &[u8]) -> Result<(), DecodeFault> {
        self.taken = self.taken.saturating_add(part.len() as u64);
        if self.taken > self.limit.saturating_add(ENVELOPE_BYTES) {
            return Err(DecodeFault::TooLarge);
        }
        let written = match &mut self.stage {
            DecoderStage::Plain(body) => body.write_all(part),
            DecoderStage::Gzip(decoder) => decoder.write_all(part),
            DecoderStage::Brotli(decoder) => decoder.write_all(part),
        };
        written.map_err(|error| fault(&error))
    }

    /// How many decoded bytes there are so far.
    pub(crate) fn decoded(&self) -> usize {
        let body = match &self.stage {
            DecoderStage::Plain(body) => body,
            DecoderStage::Gzip(decoder) => decoder.get_ref(),
            DecoderStage::Brotli(decoder) => decoder.get_ref(),
        };
        body.bytes.len()
    }

    /// What has been decoded of a body that goes on.
    pub(crate) fn into_partial(self) -> Bytes {
        let body = match self.stage {
            DecoderStage::Plain(body) => body.bytes,
            // They hold back what they decoded last. If it does not fit any more, it is left out.
            DecoderStage::Gzip(mut decoder) => {
                let _ = decoder.flush();
                decoder.get_ref().bytes.clone()
            }
            DecoderStage::Brotli(mut decoder) => {
                let _ = decoder.flush();
                decoder.get_ref().bytes.clone()
            }
        };
        body.into()
    }

    pub(crate) fn finish(self) -> Result<Bytes, DecodeFault> {
        // An answer to HEAD, for one, names a coding and has no body.
        if self.taken == 0 {
            return Ok(Bytes::new());
        }
        let body = match self.stage {
            DecoderStage::Plain(body) => body,
            DecoderStage::Gzip(decoder) => decoder.finish().map_err(|error| fault(&error))?,
            DecoderStage::Brotli(mut decoder) => {
                decoder.close().map_err(|error| fault(&error))?;
                decoder.into_inner().map_err(|_| DecodeFault::Malformed)?
            }
        };
        Ok(body.bytes.into())
    }
}

fn fault(error: &io::Error) -> DecodeFault {
    match error.kind() {
        io::ErrorKind::FileTooLarge => DecodeFault::TooLarge,
        _ => DecodeFault::Malformed,
    }
}

impl Write for CappedBody {
    fn write(&mut self, part: &[u8]) -> io::Result<usize> {
        if (self.bytes.len() + part.len()) as u64 > self.limit {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        self.bytes.extend_from_slice(part);
        Ok(part.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests;
