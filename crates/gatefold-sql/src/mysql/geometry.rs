//! Shapes as well-known text, from the server's binary form: four bytes with the reference system, then
//! well-known binary (OGC 06-103r4, section 8.2).

use std::fmt::Write as _;

/// How deep collections may lie in collections.
const MAX_DEPTH: usize = 8;

/// The longest form that is read. A longer one is told as bytes.
const MAX_BYTES: usize = 1 << 20;

/// A shape's text, or `None` where the bytes are not one.
pub(super) fn text(bytes: &[u8]) -> Option<String> {
    if bytes.len() > MAX_BYTES {
        return None;
    }
    let mut reader = ShapeReader { rest: bytes.get(4..)?, text: String::new() };
    reader.shape(0)?;
    reader.rest.is_empty().then_some(reader.text)
}

struct ShapeReader<'a> {
    rest: &'a [u8],
    text: String,
}

impl ShapeReader<'_> {
    fn shape(&mut self, depth: usize) -> Option<()> {
        if depth > MAX_DEPTH {
            return None;
        }
        let kind = self.kind()?;
        let names = [
            "POINT",
            "LINESTRING",
            "POLYGON",
            "MULTIPOINT",
            "MULTILINESTRING",
            "MULTIPOLYGON",
            "GEOMETRYCOLLECTION",
        ];
        self.text.push_str(names.get(usize::try_from(kind).ok()?.checked_sub(1)?)?);
        self.body(kind, depth)
    }

    /// What stands in a shape's parentheses. The parts of a shape of one kind do not repeat that kind.
    fn body(&mut self, kind: u32, depth: usize) -> Option<()> {
        self.text.push('(');
        match kind {
            1 => self.point()?,
            2 => self.list(Self::point)?,
            3 => self.list(|reader| reader.body(2, depth))?,
            4 => self.list(|reader| (reader.kind()? == 1).then(|| reader.point())?)?,
            5 => self.list(|reader| (reader.kind()? == 2).then(|| reader.body(2, depth))?)?,
            6 => self.list(|reader| (reader.kind()? == 3).then(|| reader.body(3, depth))?)?,
            _ => self.list(|reader| reader.shape(depth + 1))?,
        }
        self.text.push(')');
        Some(())
    }

    /// Every element takes bytes, so the bytes bound their number.
    fn list(&mut self, element: impl Fn(&mut Self) -> Option<()>) -> Option<()> {
        let count = self.number()?;
        for at in 0..count {
            if at > 0 {
                self.text.push(',');
            }
            element(self)?;
        }
        Some(())
    }

    fn point(&mut self) -> Option<()> {
        let (x, y) = (self.coordinate()?, self.coordinate()?);
        write!(self.text, "{x} {y}").ok()
    }

    /// The byte order, which is always little-endian here, and the kind.
    fn kind(&mut self) -> Option<u32> {
        let (order, rest) = self.rest.split_first()?;
        self.rest = rest;
        if *order == 1 { self.number() } else { None }
    }

    fn number(&mut self) -> Option<u32> {
        let (bytes, rest) = self.rest.split_first_chunk()?;
        self.rest = rest;
        Some(u32::from_le_bytes(*bytes))
    }

    fn coordinate(&mut self) -> Option<f64> {
        let (bytes, rest) = self.rest.split_first_chunk()?;
        self.rest = rest;
        Some(f64::from_le_bytes(*bytes))
    }
}
