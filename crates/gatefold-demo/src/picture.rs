//! Small pictures: four colours, digits, and a PNG of them.
//!
//! The PNG (ISO/IEC 15948) is palette-based at two bits a pixel and stored without compression
//! (RFC 1951, section 3.2.4). A month takes about 6 KB, less than a compressor would cost to
//! build.

/// The most bytes that one stored deflate block can hold.
const MAX_STORED: usize = 65_535;
const PIXELS_PER_BYTE: usize = 4;
/// How many pixels one dot of a digit is wide and high.
const DOT: usize = 2;
/// How far one digit is from the next: three dots and a gap.
const ADVANCE: usize = 4 * DOT;

/// Digits of three by five dots, a row in each octal digit, the topmost first.
const DIGITS: [u16; 10] =
    [0o75557, 0o26227, 0o71747, 0o71717, 0o55711, 0o74717, 0o74757, 0o71111, 0o75757, 0o75717];
const HYPHEN: u16 = 0o00700;

const PALETTE: [[u8; 3]; 4] = [[255, 255, 255], [226, 229, 236], [38, 103, 181], [28, 33, 44]];

/// An index into the palette.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Colour {
    Paper,
    Shade,
    Accent,
    Ink,
}

/// A picture under way. What is drawn outside it is lost.
pub(crate) struct Canvas {
    width: usize,
    height: usize,
    pixels: Vec<Colour>,
}

impl Canvas {
    pub(crate) fn new(width: usize, height: usize) -> Self {
        Self { width, height, pixels: vec![Colour::Paper; width * height] }
    }

    pub(crate) fn fill(&mut self, x: usize, y: usize, width: usize, height: usize, colour: Colour) {
        for row in y..(y + height).min(self.height) {
            let (start, end) = (x.min(self.width), (x + width).min(self.width));
            self.pixels[row * self.width + start..row * self.width + end].fill(colour);
        }
    }

    /// Writes digits and hyphens from the upper left corner `x`, `y` on; others leave a gap.
    pub(crate) fn write(&mut self, x: usize, y: usize, text: &str, colour: Colour) {
        for (index, character) in text.chars().enumerate() {
            let dots = match character.to_digit(10) {
                Some(digit) => DIGITS.get(digit as usize).copied().unwrap_or(0),
                None if character == '-' => HYPHEN,
                None => 0,
            };
            for dot in (0..15).filter(|dot| dots >> (14 - dot) & 1 == 1) {
                let (column, row) = (dot % 3, dot / 3);
                self.fill(x + index * ADVANCE + column * DOT, y + row * DOT, DOT, DOT, colour);
            }
        }
    }

    pub(crate) fn into_png(self) -> Vec<u8> {
        let mut header = Vec::new();
        header.extend(length(self.width));
        header.extend(length(self.height));
        // Two bits a pixel, palette; deflate, no filter, not interlaced.
        header.extend([2, 3, 0, 0, 0]);
        let mut rows = Vec::new();
        for row in self.pixels.chunks(self.width) {
            rows.push(0);
            rows.extend(row.chunks(PIXELS_PER_BYTE).map(|pixels| {
                let packed = pixels.iter().fold(0, |byte, pixel| byte << 2 | *pixel as u8);
                packed << (2 * (PIXELS_PER_BYTE - pixels.len()))
            }));
        }
        let mut png = b"\x89PNG\r\n\x1a\n".to_vec();
        chunk(&mut png, *b"IHDR", &header);
        chunk(&mut png, *b"PLTE", PALETTE.as_flattened());
        chunk(&mut png, *b"IDAT", &zlib(&rows));
        chunk(&mut png, *b"IEND", &[]);
        png
    }
}

fn chunk(png: &mut Vec<u8>, kind: [u8; 4], data: &[u8]) {
    png.extend(length(data.len()));
    let start = png.len();
    png.extend(kind);
    png.extend(data);
    let check = crc32(&png[start..]);
    png.extend(check.to_be_bytes());
}

/// Wraps data as a zlib stream (RFC 1950) of stored blocks.
fn zlib(data: &[u8]) -> Vec<u8> {
    let mut stream = vec![0x78, 0x01];
    let mut blocks = data.chunks(MAX_STORED).peekable();
    while let Some(block) = blocks.next() {
        stream.push(u8::from(blocks.peek().is_none()));
        let size = u16::try_from(block.len()).expect("blocks are no longer than 65,535 bytes");
        stream.extend(size.to_le_bytes());
        stream.extend((!size).to_le_bytes());
        stream.extend(block);
    }
    stream.extend(adler32(data).to_be_bytes());
    stream
}

fn adler32(data: &[u8]) -> u32 {
    const MODULUS: u32 = 65_521;
    let (low, high) = data.iter().fold((1, 0), |(low, high), byte| {
        let low = (low + u32::from(*byte)) % MODULUS;
        (low, (high + low) % MODULUS)
    });
    high << 16 | low
}

fn crc32(data: &[u8]) -> u32 {
    const POLYNOMIAL: u32 = 0xEDB8_8320;
    !data.iter().fold(u32::MAX, |crc, byte| {
        (0..8).fold(crc ^ u32::from(*byte), |crc, _| {
            crc >> 1 ^ if crc & 1 == 1 { POLYNOMIAL } else { 0 }
        })
    })
}

fn length(size: usize) -> [u8; 4] {
    u32::try_from(size).expect("pictures are small").to_be_bytes()
}

#[cfg(test)]
mod tests {
    use super::{adler32, crc32};

    #[test]
    fn checksums_match_the_published_check_values() {
        // "123456789" is the customary check input; "Wikipedia" is the customary Adler example.
        assert_eq!(crc32(b"123456789"), 0xCBF4_3926);
        assert_eq!(adler32(b"Wikipedia"), 0x11E6_0398);
    }
}
