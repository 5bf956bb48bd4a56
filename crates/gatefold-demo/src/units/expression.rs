//! A small calculator: recursive descent over `+ - * / % ^`, brackets and a few functions.
//!
//! ```text
//! sum     = product { ("+" | "-") product }
//! product = sign { ("*" | "/" | "%") sign }
//! sign    = "-" sign | power
//! power   = atom [ "^" sign ]
//! atom    = number | name "(" sum { "," sum } ")" | "(" sum ")"
//! ```

use crate::{
    error::{ToolError, refuse},
    units::rational::{Rational, Rounding},
};

/// How deeply brackets, signs and powers may nest.
const MAX_DEPTH: usize = 64;
/// How many arguments a function takes.
const MAX_ARGUMENTS: usize = 50;

pub(super) fn evaluate(text: &str) -> Result<Rational, ToolError> {
    let mut parser = Parser { text, position: 0, depth: 0 };
    let value = parser.sum()?;
    match parser.peek() {
        None => Ok(value),
        Some(_) => Err(parser.unexpected("an operator or the end")),
    }
}

struct Parser<'a> {
    text: &'a str,
    position: usize,
    depth: usize,
}

impl Parser<'_> {
    fn sum(&mut self) -> Result<Rational, ToolError> {
        let mut value = self.product()?;
        loop {
            if self.take('+') {
                value = value.add(self.product()?)?;
            } else if self.take('-') {
                value = value.subtract(self.product()?)?;
            } else {
                return Ok(value);
            }
        }
    }

    fn product(&mut self) -> Result<Rational, ToolError> {
        let mut value = self.sign()?;
        loop {
            if self.take('*') {
                value = value.multiply(self.sign()?)?;
            } else if self.take('/') {
                value = value.divide(self.sign()?)?;
            } else if self.take('%') {
                value = value.remainder(self.sign()?)?;
            } else {
                return Ok(value);
            }
        }
    }

    /// Every way to nest passes through here, so this is where the depth is counted.
    fn sign(&mut self) -> Result<Rational, ToolError> {
        if self.depth == MAX_DEPTH {
            return Err(refuse(
                format!("the expression nests more than {MAX_DEPTH} levels deep"),
                "calculate the inner parts first",
            ));
        }
        self.depth += 1;
        let value = if self.take('-') { self.sign()?.negate() } else { self.power()? };
        self.depth -= 1;
        Ok(value)
    }

    fn power(&mut self) -> Result<Rational, ToolError> {
        let base = self.atom()?;
        if self.take('^') { base.power(self.sign()?) } else { Ok(base) }
    }

    fn atom(&mut self) -> Result<Rational, ToolError> {
        if self.take('(') {
            let value = self.sum()?;
            self.expect(')')?;
            return Ok(value);
        }
        match self.peek() {
            Some(c) if c.is_ascii_digit() || c == '.' => self.number(),
            Some(c) if c.is_ascii_alphabetic() => self.function(),
            _ => Err(self.unexpected("a number, a function or `(`")),
        }
    }

    fn number(&mut self) -> Result<Rational, ToolError> {
        let mut previous = ' ';
        let digits = self.take_while(|c| {
            let sign_of_exponent = "+-".contains(c) && previous.eq_ignore_ascii_case(&'e');
            previous = c;
            c.is_ascii_digit() || ".eE".contains(c) || sign_of_exponent
        });
        Rational::parse(digits)
    }

    fn function(&mut self) -> Result<Rational, ToolError> {
        let name = self.take_while(|c| c.is_ascii_alphanumeric()).to_owned();
        self.expect('(')?;
        let mut arguments = vec![self.sum()?];
        while self.take(',') {
            if arguments.len() == MAX_ARGUMENTS {
                return Err(refuse(
                    format!("`{name}` has more than {MAX_ARGUMENTS} arguments"),
                    "nest calls of it",
                ));
            }
            arguments.push(self.sum()?);
        }
        self.expect(')')?;
        apply(&name, &arguments)
    }

    fn take_while(&mut self, mut accept: impl FnMut(char) -> bool) -> &str {
        let rest = &self.text[self.position..];
        let end = rest.find(|c| !accept(c)).unwrap_or(rest.len());
        self.position += end;
        &rest[..end]
    }

    fn peek(&mut self) -> Option<char> {
        let rest = &self.text[self.position..];
        self.position += rest.len() - rest.trim_start().len();
        self.text[self.position..].chars().next()
    }

    fn take(&mut self, wanted: char) -> bool {
        let found = self.peek() == Some(wanted);
        if found {
            self.position += wanted.len_utf8();
        }
        found
    }

    fn expect(&mut self, wanted: char) -> Result<(), ToolError> {
        if self.take(wanted) { Ok(()) } else { Err(self.unexpected(&format!("`{wanted}`"))) }
    }

    fn unexpected(&mut self, wanted: &str) -> ToolError {
        let found = self.peek().map_or("the end".to_owned(), |c| format!("`{c}`"));
        let column = self.text[..self.position].chars().count() + 1;
        refuse(
            format!("expected {wanted} at character {column}, found {found}"),
            "write it like `(1 + 2) * 3 ^ 2 / max(4, 5)`",
        )
    }
}

fn apply(name: &str, arguments: &[Rational]) -> Result<Rational, ToolError> {
    let whole = |value: Rational, rounding| value.round(0, rounding);
    match (name, arguments) {
        ("abs", [value]) => Ok(value.magnitude()),
        ("floor", [value]) => whole(*value, Rounding::Floor),
        ("ceil", [value]) => whole(*value, Rounding::Ceiling),
        ("round", [value]) => whole(*value, Rounding::HalfEven),
        ("sqrt", [value]) => value.square_root(),
        ("min", [first, rest @ ..]) => rest.iter().try_fold(*first, |least, value| {
            Ok(if value.compare(least)?.is_lt() { *value } else { least })
        }),
        ("max", [first, rest @ ..]) => rest.iter().try_fold(*first, |most, value| {
            Ok(if value.compare(most)?.is_gt() { *value } else { most })
        }),
        _ => Err(refuse(
            format!("there is no function `{name}` of {} arguments", arguments.len()),
            "the functions are abs(x), floor(x), ceil(x), round(x), sqrt(x), min(x, ...), max(x, ...)",
        )),
    }
}
