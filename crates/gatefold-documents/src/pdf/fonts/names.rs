//! What the name of a glyph means.

use lopdf::{Dictionary, Document, Object};

/// The longest name, in bytes.
const MAX_NAME: usize = 64;

/// The text of a glyph by its name, as the Adobe Glyph List Specification reads names: what is after a
/// point says how it looks, parts are joined by `_`.
pub(super) fn text(name: &[u8]) -> Option<String> {
    let name = std::str::from_utf8(name).ok().filter(|name| name.len() <= MAX_NAME)?;
    let name = name.split('.').next().filter(|name| !name.is_empty())?;
    name.split('_').map(|part| listed(part).or_else(|| numbered(part))).collect()
}

/// The letter of a glyph that TeX draws as a picture: pdfTeX and dvips name it `a` and its code, which in
/// their fonts for text is that of ASCII for what ASCII prints.
pub(super) fn of_tex(name: &[u8], code: usize) -> Option<String> {
    let code = u8::try_from(code).ok().filter(u8::is_ascii_graphic)?;
    (name == format!("a{code}").as_bytes()).then(|| char::from(code).to_string())
}

/// A name that the library knows. It looks names up only as differences of an encoding.
fn listed(name: &str) -> Option<String> {
    let differences = Object::Array(vec![Object::Integer(1), Object::from(name)]);
    let encoding = Dictionary::from_iter([("Differences", differences)]);
    let font = [("Type", Object::from("Font")), ("Encoding", Object::Dictionary(encoding))];
    let font = Dictionary::from_iter(font);
    let nothing = Document::new();
    let encoding = font.get_font_encoding_with_limit(&nothing, 0).ok()?;
    let text = encoding.bytes_to_string(&[1]).ok()?;
    (!text.is_empty()).then_some(text)
}

/// A name such as `uni20AC` or `u1F600`.
fn numbered(name: &str) -> Option<String> {
    let digits = name.strip_prefix("uni").filter(|digits| digits.len() == 4);
    let digits =
        digits.or_else(|| name.strip_prefix('u').filter(|rest| (4..=6).contains(&rest.len())));
    let code = u32::from_str_radix(digits?, 16).ok()?;
    char::from_u32(code).filter(|c| !c.is_control()).map(String::from)
}

#[cfg(test)]
mod tests {
    use super::of_tex;

    #[test]
    fn a_picture_of_a_letter_has_the_code_that_its_name_says() {
        for (name, code, text) in
            [("a65", 65, Some("A")), ("a65", 66, None), ("a12", 12, None), ("b65", 65, None)]
        {
            assert_eq!(of_tex(name.as_bytes(), code).as_deref(), text, "{name} {code}");
        }
    }
}
