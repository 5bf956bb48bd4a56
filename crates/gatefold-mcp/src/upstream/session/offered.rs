use serde::Deserialize;
use serde_json::Value;

/// What a server says it can do, as far as we act on it. Any value but null offers the thing, and
/// what cannot be read is not offered.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Offered {
    pub(crate) tools: Option<Tells>,
    pub(crate) prompts: Option<Tells>,
    pub(crate) resources: Option<Tells>,
    pub(crate) logging: bool,
}

/// Whether a server tells of changes of a list that it has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tells {
    Changes,
    Nothing,
}

/// The lists whose changes a server tells of.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Told {
    pub(crate) tools: bool,
    pub(crate) prompts: bool,
    pub(crate) resources: bool,
}

impl Offered {
    /// Reads the object of a server's capabilities.
    pub(crate) fn read(capabilities: &str) -> Self {
        #[derive(Deserialize, Default)]
        struct Read {
            #[serde(default)]
            tools: Value,
            #[serde(default)]
            prompts: Value,
            #[serde(default)]
            resources: Value,
            #[serde(default)]
            logging: Value,
        }
        let read: Read = serde_json::from_str(capabilities).unwrap_or_default();
        let tells = |offered: &Value| match offered {
            Value::Null => None,
            offered if offered.get("listChanged") == Some(&Value::Bool(true)) => {
                Some(Tells::Changes)
            }
            _ => Some(Tells::Nothing),
        };
        Self {
            tools: tells(&read.tools),
            prompts: tells(&read.prompts),
            resources: tells(&read.resources),
            logging: !read.logging.is_null(),
        }
    }

    pub(crate) fn told(self) -> Told {
        let told = |list: Option<Tells>| list == Some(Tells::Changes);
        Told {
            tools: told(self.tools),
            prompts: told(self.prompts),
            resources: told(self.resources),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_said_is_not_offered() {
        let offered =
            Offered::read(r#"{"tools":{"listChanged":true},"prompts":{},"logging":null,"x":1}"#);
        assert_eq!(
            offered,
            Offered {
                tools: Some(Tells::Changes),
                prompts: Some(Tells::Nothing),
                resources: None,
                logging: false,
            }
        );
        assert_eq!(Offered::read("[]"), Offered::default());
    }
}
