//! Parameters of requests, in queries and in forms.

use url::form_urlencoded;

/// The longest query or form, in bytes.
pub(crate) const FORM_BYTES: usize = 16 * 1024;
/// The most parameters of one request.
const PARAMETERS: usize = 64;

/// The parameters of a request, at most [`PARAMETERS`].
#[derive(Debug, Default)]
pub(crate) struct Parameters(Vec<(String, String)>);

/// A request that says one thing twice, or too much.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FormFault {
    TooMuch,
    /// The parameter is there twice (RFC 6749, section 3.1).
    Twice(&'static str),
}

impl FormFault {
    pub(crate) fn message(self) -> String {
        match self {
            Self::TooMuch => "the request has too many parameters".to_owned(),
            Self::Twice(name) => format!("the request has `{name}` twice"),
        }
    }
}

impl Parameters {
    pub(crate) fn read(text: &str) -> Result<Self, FormFault> {
        if text.len() > FORM_BYTES {
            return Err(FormFault::TooMuch);
        }
        let mut all = Vec::new();
        for (name, value) in form_urlencoded::parse(text.as_bytes()) {
            if all.len() == PARAMETERS {
                return Err(FormFault::TooMuch);
            }
            all.push((name.into_owned(), value.into_owned()));
        }
        Ok(Self(all))
    }

    /// A parameter that may be there once. An empty one counts as left out.
    pub(crate) fn one(&self, name: &'static str) -> Result<Option<&str>, FormFault> {
        let mut found = self.0.iter().filter(|(own, _)| own == name).map(|(_, value)| &**value);
        let first = found.next();
        if found.next().is_some() {
            return Err(FormFault::Twice(name));
        }
        Ok(first.filter(|value| !value.is_empty()))
    }

    /// The same, as text.
    pub(crate) fn text(&self, name: &'static str) -> Result<&str, FormFault> {
        Ok(self.one(name)?.unwrap_or_default())
    }

    pub(crate) fn count(&self, name: &str) -> usize {
        self.0.iter().filter(|(own, _)| own == name).count()
    }
}

/// Parameters added to an address that may have some already.
pub(crate) fn with_parameters(address: &str, parameters: &[(&str, &str)]) -> String {
    let query = form_urlencoded::Serializer::new(String::new()).extend_pairs(parameters).finish();
    let joint = match address.split_once('?') {
        None => "?",
        Some((_, "")) => "",
        Some(_) => "&",
    };
    format!("{address}{joint}{query}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_said_twice() {
        let read = Parameters::read("a=1&b=2&a=3&c=").expect("it is short");
        assert_eq!(read.one("a"), Err(FormFault::Twice("a")));
        assert_eq!(read.one("b"), Ok(Some("2")));
        assert_eq!((read.one("c"), read.one("d")), (Ok(None), Ok(None)));
    }

    #[test]
    fn a_request_is_bounded() {
        let many = "a=1&".repeat(PARAMETERS + 1);
        assert_eq!(Parameters::read(&many).err(), Some(FormFault::TooMuch));
        assert_eq!(Parameters::read(&"x".repeat(FORM_BYTES + 1)).err(), Some(FormFault::TooMuch));
    }

    #[test]
    fn an_address_keeps_its_own_parameters() {
        for (address, expected) in [
            ("https://a.example/cb", "https://a.example/cb?code=a%26b"),
            ("https://a.example/cb?", "https://a.example/cb?code=a%26b"),
            ("https://a.example/cb?x=1", "https://a.example/cb?x=1&code=a%26b"),
            ("com.example.app:/cb", "com.example.app:/cb?code=a%26b"),
        ] {
            assert_eq!(with_parameters(address, &[("code", "a&b")]), expected);
        }
    }
}
