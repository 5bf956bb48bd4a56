//! Numbers and texts as bytes, for records that only this crate reads.

use std::io::{Read as _, Write as _};

use flate2::Compression;
use flate2::read::ZlibDecoder;
use flate2::write::ZlibEncoder;

use crate::KnowledgeError;

#[derive(Debug, Default)]
pub(crate) struct RecordWriter {
    bytes: Vec<u8>,
}

impl RecordWriter {
    pub(crate) fn number(&mut self, mut number: u64) {
        while number >= 0x80 {
            self.bytes.push(number.to_le_bytes()[0] | 0x80);
            number >>= 7;
        }
        self.bytes.push(number.to_le_bytes()[0]);
    }

    pub(crate) fn size(&mut self, size: usize) {
        self.number(size as u64);
    }

    pub(crate) fn fixed(&mut self, number: u64) {
        self.bytes.extend(number.to_le_bytes());
    }

    pub(crate) fn text(&mut self, text: &str) {
        self.size(text.len());
        self.bytes.extend(text.as_bytes());
    }

    pub(crate) fn finish(self) -> Vec<u8> {
        self.bytes
    }
}

#[derive(Debug)]
pub(crate) struct RecordReader<'b> {
    rest: &'b [u8],
}

const CUT: KnowledgeError = KnowledgeError::Damaged("a record is cut");

impl<'b> RecordReader<'b> {
    pub(crate) fn new(bytes: &'b [u8]) -> Self {
        Self { rest: bytes }
    }

    pub(crate) fn number(&mut self) -> Result<u64, KnowledgeError> {
        let mut number = 0;
        for shift in (0..64).step_by(7) {
            let (byte, rest) = self.rest.split_first().ok_or(CUT)?;
            self.rest = rest;
            number |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Ok(number);
            }
        }
        Err(KnowledgeError::Damaged("a number is too long"))
    }

    pub(crate) fn size(&mut self) -> Result<usize, KnowledgeError> {
        usize::try_from(self.number()?).map_err(|_| KnowledgeError::Damaged("a size is too large"))
    }

    pub(crate) fn small(&mut self) -> Result<u32, KnowledgeError> {
        u32::try_from(self.number()?).map_err(|_| KnowledgeError::Damaged("a number is too large"))
    }

    /// A count of things that take a byte each at least, so that no count asks for memory that the
    /// record does not fill.
    pub(crate) fn count(&mut self) -> Result<usize, KnowledgeError> {
        let count = self.size()?;
        if count > self.rest.len() { Err(CUT) } else { Ok(count) }
    }

    pub(crate) fn fixed(&mut self) -> Result<u64, KnowledgeError> {
        let (bytes, rest) = self.rest.split_first_chunk().ok_or(CUT)?;
        self.rest = rest;
        Ok(u64::from_le_bytes(*bytes))
    }

    pub(crate) fn text(&mut self) -> Result<&'b str, KnowledgeError> {
        let size = self.size()?;
        let (bytes, rest) = self.rest.split_at_checked(size).ok_or(CUT)?;
        self.rest = rest;
        str::from_utf8(bytes).map_err(|_| KnowledgeError::Damaged("a record is not text"))
    }
}

pub(crate) fn compress(bytes: &[u8]) -> Result<Vec<u8>, KnowledgeError> {
    let failed = |_| KnowledgeError::Damaged("a text cannot be compressed");
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::new(3));
    encoder.write_all(bytes).map_err(failed)?;
    encoder.finish().map_err(failed)
}

pub(crate) fn decompress(bytes: &[u8], max: usize) -> Result<Vec<u8>, KnowledgeError> {
    let mut decoder = ZlibDecoder::new(bytes).take(max as u64 + 1);
    let mut plain = Vec::new();
    decoder
        .read_to_end(&mut plain)
        .map_err(|_| KnowledgeError::Damaged("a compressed record is damaged"))?;
    if plain.len() > max {
        return Err(KnowledgeError::Damaged("a record is larger than any that was written"));
    }
    Ok(plain)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn what_is_written_is_read(numbers: Vec<u64>, text: String) {
            let mut writer = RecordWriter::default();
            writer.size(numbers.len());
            for number in &numbers {
                writer.number(*number);
                writer.fixed(*number);
            }
            writer.text(&text);
            let bytes = decompress(&compress(&writer.finish()).unwrap(), 1 << 20).unwrap();
            let mut reader = RecordReader::new(&bytes);
            prop_assert_eq!(reader.count().unwrap(), numbers.len());
            for number in &numbers {
                prop_assert_eq!(reader.number().unwrap(), *number);
                prop_assert_eq!(reader.fixed().unwrap(), *number);
            }
            prop_assert_eq!(reader.text().unwrap(), text);
            prop_assert!(reader.number().is_err());
        }
    }

    #[test]
    fn a_bomb_is_not_decompressed() {
        let bomb = compress(&vec![0; 10_000_000]).unwrap();
        assert!(decompress(&bomb, 1000).is_err());
    }
}
