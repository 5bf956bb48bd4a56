//! Texts in the character sets that APIs still use, by their names in WHATWG's "Encoding".

use std::borrow::Cow;

use encoding_rs::{
    BIG5, EUC_JP, EUC_KR, Encoding, GB18030, GBK, ISO_2022_JP, SHIFT_JIS, UTF_8, UTF_16BE,
    UTF_16LE, WINDOWS_1252,
};

use crate::media::parameter;

/// How much of a text is searched for what it says about its character set, in bytes.
const HEAD: usize = 1024;

/// The first byte of three or more in UTF-8.
const LONG_LEAD: u8 = 0xe0;
const ESCAPE: u8 = 0x1b;

/// The text of a body. What is UTF-8 is read as such, whatever the server says: many say another name without
/// looking, and a secret in it must be found. Else the name that the server or the text itself gives counts, and
/// without one each byte that is not UTF-8 is read as windows-1252, which has every byte.
pub(super) fn decoded<'b>(body: &'b [u8], media_type: Option<&str>) -> Cow<'b, str> {
    if let Some((marked, length)) = Encoding::for_bom(body) {
        return marked.decode_without_bom_handling(&body[length..]).0;
    }
    let named = media_type.and_then(|media_type| parameter(media_type, "charset"));
    let named = named.and_then(|name| Encoding::for_label_no_replacement(name.as_bytes()));
    if let Ok(text) = std::str::from_utf8(body)
        && named.is_none_or(|named| !also_fits(named, body))
    {
        return Cow::Borrowed(text);
    }
    match named.or_else(|| find_declared(body)) {
        Some(named) if named != UTF_8 && named != WINDOWS_1252 => {
            named.decode_without_bom_handling(body).0
        }
        _ => {
            let mut text = String::with_capacity(body.len());
            for chunk in body.utf8_chunks() {
                text.push_str(chunk.valid());
                text.push_str(&WINDOWS_1252.decode_without_bom_handling(chunk.invalid()).0);
            }
            Cow::Owned(text)
        }
    }
}

/// Whether a body that is UTF-8 is rather what its server says.
fn also_fits(named: &'static Encoding, body: &[u8]) -> bool {
    if named == UTF_16LE || named == UTF_16BE {
        return body.contains(&0);
    }
    if named == ISO_2022_JP {
        return body.contains(&ESCAPE);
    }
    // UTF-8 takes three bytes for what these are for, and pairs of theirs can be pairs of UTF-8.
    [GBK, GB18030, BIG5, EUC_JP, EUC_KR, SHIFT_JIS].contains(&named)
        && !body.is_ascii()
        && !body.iter().any(|byte| *byte >= LONG_LEAD)
}

/// What markup says of itself: `<?xml encoding="...">` or `<meta charset="...">`.
fn find_declared(body: &[u8]) -> Option<&'static Encoding> {
    let lower = String::from_utf8_lossy(&body[..body.len().min(HEAD)]).to_ascii_lowercase();
    let head = lower.trim_start();
    let behind = match head.strip_prefix("<?xml") {
        Some(declaration) => declaration.split("?>").next()?.split_once("encoding")?.1,
        None if head.starts_with('<') => head.split_once("<meta")?.1.split_once("charset")?.1,
        None => return None,
    };
    let value = behind.trim_start().strip_prefix('=')?.trim_start().trim_start_matches(['"', '\'']);
    let end = value.find(|c: char| !(c.is_ascii_alphanumeric() || "-_:.".contains(c)));
    let name = &value[..end.unwrap_or(value.len())];
    let named = Encoding::for_label_no_replacement(name.as_bytes())?;
    // It could not be read there if it were.
    Some(named).filter(|named| *named != UTF_16LE && *named != UTF_16BE)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(media_type: &str, body: &[u8], expected: &str) {
        assert_eq!(decoded(body, Some(media_type)), expected, "{media_type}");
    }

    #[test]
    fn a_text_is_read_in_the_character_set_that_its_server_names() {
        for (name, body, expected) in [
            ("windows-1251", &b"\xcf\xf0\xe8\xe2\xe5\xf2"[..], "Привет"),
            ("cp1251", b"\xcf\xf0", "Пр"),
            ("koi8-r", b"\xf0\xd2\xc9", "При"),
            ("GBK", b"\xc4\xe3\xba\xc3", "你好"),
            ("gb2312", b"{\"a\":\"\xc4\xa3\"}", "{\"a\":\"模\"}"),
            ("Shift_JIS", b"\x93\xfa\x96\x7b", "日本"),
            ("x-sjis", b"\x93\xfa", "日"),
            ("EUC-JP", b"\xc6\xfc\xcb\xdc", "日本"),
            ("EUC-KR", b"\xc7\xd1", "한"),
            ("Big5", b"\xa4\xa4", "中"),
            ("ISO-8859-2", b"\xb1", "ą"),
            ("ISO-2022-JP", b"\x1b$B\x46\x7c\x1b(B", "日"),
            ("utf-16le", b"a\0\xe9\0", "aé"),
            ("UTF-16", b"\xfe\xff\0a\0\xe9", "aé"),
            // What they say without looking.
            ("iso-8859-1", "é 日".as_bytes(), "é 日"),
            ("windows-1251", "При".as_bytes(), "При"),
            ("gbk", "日本".as_bytes(), "日本"),
            ("utf-16", b"{\"a\":1}", "{\"a\":1}"),
            ("nonsense", b"\x80\xe9", "€é"),
            ("utf-8", b"caf\xe9 \xc3\xa9", "café é"),
            ("utf-8", b"\xef\xbb\xbf{}", "{}"),
        ] {
            check(&format!("application/json; charset=\"{name}\""), body, expected);
            check(&format!("text/plain;charset={name}"), body, expected);
        }
    }

    #[test]
    fn markup_says_itself_how_it_is_written() {
        let xml = b"<?xml version='1.0' encoding = 'windows-1251'?><a>\xcf\xf0</a>";
        let text = "<?xml version='1.0' encoding = 'windows-1251'?><a>Пр</a>";
        check("application/xml", xml, text);
        check("text/html", b"<html><meta charset=gbk>\xc4\xe3", "<html><meta charset=gbk>你");
        check("text/plain", b"charset=gbk \xc4\xe3", "charset=gbk Äã");
        check("text/xml", b"<?xml encoding='utf-16'?>\xe9", "<?xml encoding='utf-16'?>é");
    }
}
