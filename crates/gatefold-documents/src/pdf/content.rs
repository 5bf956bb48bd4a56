//! What a page draws, as far as it is text.

use std::collections::HashMap;
use std::rc::Rc;
use std::time::Instant;

use lopdf::content::{Content, Operation};
use lopdf::{Dictionary, Object, ObjectId, Stream};

use super::file::PdfFile;
use super::fonts::Font;
use super::layout::{DrawnPosition, Lines};
use super::pages::Page;
use crate::PdfFault;

/// How deep drawings may be in drawings, and states in states.
const MAX_DEPTH: usize = 8;
const MAX_STATES: usize = 64;

/// The most text of one page, in bytes.
const MAX_PAGE: usize = 512 * 1024;

/// The most parts of one page's content.
const MAX_PARTS: usize = 1000;

/// Every how many operations the time is looked at.
const TIME_EVERY: usize = 256;

pub(super) struct ContentReader<'f, 'b> {
    file: &'f PdfFile<'b>,
    until: Instant,
    fonts: HashMap<ObjectId, Rc<Font>>,
    unreadable: usize,
}

/// A transformation: the matrix of the format, row by row.
type Matrix = [f32; 6];

const IDENTITY: Matrix = [1.0, 0.0, 0.0, 1.0, 0.0, 0.0];

/// First one transformation, then the other.
fn then(a: Matrix, b: Matrix) -> Matrix {
    [
        a[0] * b[0] + a[1] * b[2],
        a[0] * b[1] + a[1] * b[3],
        a[2] * b[0] + a[3] * b[2],
        a[2] * b[1] + a[3] * b[3],
        a[4] * b[0] + a[5] * b[2] + b[4],
        a[4] * b[1] + a[5] * b[3] + b[5],
    ]
}

/// What `q` keeps and `Q` brings back.
#[derive(Clone)]
struct GraphicsState {
    matrix: Matrix,
    font: Option<Rc<Font>>,
    size: f32,
    character_spacing: f32,
    word_spacing: f32,
    scale: f32,
    leading: f32,
}

/// One stream of content on its way through its operations.
struct Drawing<'f> {
    resources: Option<&'f Dictionary>,
    state: GraphicsState,
    states: Vec<GraphicsState>,
    /// Where the next glyph goes, and where the line begins.
    text: Matrix,
    line: Matrix,
    depth: usize,
}

impl<'f, 'b> ContentReader<'f, 'b> {
    pub(super) fn new(file: &'f PdfFile<'b>, until: Instant) -> Self {
        Self { file, until, fonts: HashMap::new(), unreadable: 0 }
    }

    /// How many glyphs so far have no letters.
    pub(super) fn unreadable(&self) -> usize {
        self.unreadable
    }

    /// Whether something that pages need was too much to read.
    pub(super) fn is_exhausted(&self) -> bool {
        self.file.is_exhausted()
    }

    pub(super) fn text(&mut self, page: &Page<'f>) -> Result<String, PdfFault> {
        let mut content = Vec::new();
        let parts = match self.file.get(page.dictionary, b"Contents") {
            Some(Object::Array(parts)) => &parts[..],
            Some(part) => std::slice::from_ref(part),
            None => &[],
        };
        for part in parts.iter().take(MAX_PARTS) {
            if let Object::Stream(stream) = self.file.follow(part) {
                content.extend(self.file.data(stream)?);
                // Parts end between words.
                content.push(b'\n');
            }
        }
        let state = GraphicsState {
            matrix: IDENTITY,
            font: None,
            size: 1.0,
            character_spacing: 0.0,
            word_spacing: 0.0,
            scale: 1.0,
            leading: 0.0,
        };
        let mut lines = Lines::default();
        self.draw(&content, Drawing::new(page.resources, state, 0), &mut lines)?;
        Ok(lines.into_text())
    }

    fn draw(
        &mut self,
        content: &[u8],
        mut drawing: Drawing<'f>,
        lines: &mut Lines,
    ) -> Result<(), PdfFault> {
        // What comes after something that cannot be read is lost, what is before it is not.
        let operations = Content::decode_iter(content).map_while(Result::ok);
        for (number, operation) in operations.enumerate() {
            if number % TIME_EVERY == 0 && Instant::now() >= self.until {
                return Err(PdfFault::TooLong);
            }
            if lines.len() > MAX_PAGE {
                return Err(PdfFault::TooLarge);
            }
            match &operation.operator[..] {
                "Do" => self.draw_form(&operation, &drawing, lines)?,
                "Tf" => self.choose_font(&operation, &mut drawing),
                "Tj" | "TJ" | "'" | "\"" => self.show(&operation, &mut drawing, lines),
                _ => drawing.apply(&operation),
            }
        }
        Ok(())
    }

    /// Draws what is kept in a stream of its own.
    fn draw_form(
        &mut self,
        operation: &Operation,
        drawing: &Drawing<'f>,
        lines: &mut Lines,
    ) -> Result<(), PdfFault> {
        let form = operation.operands.first().and_then(|name| name.as_name().ok());
        let form =
            form.and_then(|name| self.resource(drawing, b"XObject", name)).map(|(_, form)| form);
        let Some(Object::Stream(Stream { dict, .. })) = form else { return Ok(()) };
        let is_form = self
            .file
            .get(dict, b"Subtype")
            .is_some_and(|kind| kind.as_name().is_ok_and(|kind| kind == b"Form"));
        if !is_form || drawing.depth == MAX_DEPTH {
            return Ok(());
        }
        let Some(Object::Stream(stream)) = form else { return Ok(()) };
        let content = self.file.data(stream)?;
        let own = self.file.get(dict, b"Resources").and_then(|own| own.as_dict().ok());
        let mut state = drawing.state.clone();
        if let Some(matrix) =
            self.file.get(dict, b"Matrix").and_then(|matrix| matrix.as_array().ok())
        {
            state.matrix = then(self.matrix(matrix), state.matrix);
        }
        let inner = Drawing::new(own.or(drawing.resources), state, drawing.depth + 1);
        self.draw(&content, inner, lines)
    }

    fn matrix(&self, numbers: &[Object]) -> Matrix {
        let mut matrix = IDENTITY;
        for (to, from) in matrix.iter_mut().zip(numbers) {
            *to = self.file.number(from).unwrap_or_default();
        }
        matrix
    }

    /// A named resource, and what it is kept by.
    fn resource(
        &self,
        drawing: &Drawing<'f>,
        kind: &[u8],
        name: &[u8],
    ) -> Option<(Option<ObjectId>, &'f Object)> {
        let resources = self.file.get(drawing.resources?, kind)?.as_dict().ok()?;
        let object = resources.get(name).ok()?;
        Some((object.as_reference().ok(), self.file.follow(object)))
    }

    fn choose_font(&mut self, operation: &Operation, drawing: &mut Drawing<'f>) {
        let [Object::Name(name), size] = &operation.operands[..] else { return };
        drawing.state.size = size.as_float().unwrap_or_default();
        drawing.state.font = match self.resource(drawing, b"Font", name) {
            Some((id, Object::Dictionary(font))) => {
                let known = id.and_then(|id| self.fonts.get(&id).cloned());
                let read = known.unwrap_or_else(|| Rc::new(Font::read(self.file, font)));
                if let Some(id) = id {
                    self.fonts.insert(id, read.clone());
                }
                Some(read)
            }
            _ => None,
        };
    }

    fn show(&mut self, operation: &Operation, drawing: &mut Drawing<'f>, lines: &mut Lines) {
        let operands = &operation.operands[..];
        if let (Some([word, character]), "\"") = (numbers(operands), &operation.operator[..]) {
            (drawing.state.word_spacing, drawing.state.character_spacing) = (word, character);
        }
        if matches!(&operation.operator[..], "'" | "\"") {
            drawing.next_line(0.0, -drawing.state.leading);
        }
        match operands.last() {
            Some(Object::Array(parts)) => {
                for part in parts {
                    match part {
                        Object::String(string, _) => self.show_string(string, drawing, lines),
                        shift => drawing.shift(shift.as_float().unwrap_or_default()),
                    }
                }
            }
            Some(Object::String(string, _)) => self.show_string(string, drawing, lines),
            _ => {}
        }
    }

    fn show_string(&mut self, string: &[u8], drawing: &mut Drawing<'f>, lines: &mut Lines) {
        let Some(font) = drawing.state.font.clone() else { return };
        let from = drawing.place();
        let mut text = String::new();
        for glyph in font.glyphs(string) {
            match glyph.text {
                Some(letters) => text.push_str(&letters),
                None => self.unreadable += 1,
            }
            drawing.advance(glyph.width, glyph.is_space);
        }
        if !text.is_empty() {
            lines.push(from, &text, drawing.place());
        }
    }
}

impl<'f> Drawing<'f> {
    fn new(resources: Option<&'f Dictionary>, state: GraphicsState, depth: usize) -> Self {
        Self { resources, state, states: Vec::new(), text: IDENTITY, line: IDENTITY, depth }
    }

    /// Does what neither draws nor needs more than the operands.
    fn apply(&mut self, operation: &Operation) {
        let operands = &operation.operands[..];
        let first = operands.first().and_then(|number| number.as_float().ok()).unwrap_or_default();
        match &operation.operator[..] {
            "q" if self.states.len() < MAX_STATES => self.states.push(self.state.clone()),
            "Q" => self.state = self.states.pop().unwrap_or_else(|| self.state.clone()),
            "cm" => {
                if let Some(matrix) = numbers(operands) {
                    self.state.matrix = then(matrix, self.state.matrix);
                }
            }
            "BT" => (self.text, self.line) = (IDENTITY, IDENTITY),
            "Tm" => {
                if let Some(matrix) = numbers(operands) {
                    (self.text, self.line) = (matrix, matrix);
                }
            }
            "Td" | "TD" => {
                if let Some([x, y]) = numbers(operands) {
                    if operation.operator == "TD" {
                        self.state.leading = -y;
                    }
                    self.next_line(x, y);
                }
            }
            "T*" => self.next_line(0.0, -self.state.leading),
            "TL" => self.state.leading = first,
            "Tc" => self.state.character_spacing = first,
            "Tw" => self.state.word_spacing = first,
            "Tz" => self.state.scale = first / 100.0,
            _ => {}
        }
    }

    fn next_line(&mut self, x: f32, y: f32) {
        self.line = then([1.0, 0.0, 0.0, 1.0, x, y], self.line);
        self.text = self.line;
    }

    /// Moves by what a list of strings has between them, in thousandths of an em to the left.
    fn shift(&mut self, thousandths: f32) {
        self.go(-thousandths / 1000.0 * self.state.size);
    }

    fn advance(&mut self, width: f32, is_space: bool) {
        let word = if is_space { self.state.word_spacing } else { 0.0 };
        self.go(width * self.state.size + self.state.character_spacing + word);
    }

    fn go(&mut self, along: f32) {
        self.text = then([1.0, 0.0, 0.0, 1.0, along * self.state.scale, 0.0], self.text);
    }

    fn place(&self) -> DrawnPosition {
        let matrix = then(self.text, self.state.matrix);
        let em = self.state.size;
        DrawnPosition { x: matrix[4], y: matrix[5], along: (matrix[0] * em, matrix[1] * em) }
    }
}

/// The first operands, if they are numbers.
fn numbers<const N: usize>(operands: &[Object]) -> Option<[f32; N]> {
    let numbers: Vec<_> =
        operands.iter().take(N).map_while(|number| number.as_float().ok()).collect();
    numbers.try_into().ok()
}
