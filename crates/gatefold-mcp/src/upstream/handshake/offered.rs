use serde::Deserialize;
use serde_json::Value;

/// The server capabilities that we act on. Any value except null counts as offered. Capabilities
/// that cannot be read count as not offered.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct OfferedCapabilities {
    pub(crate) tools: Option<ListChanges>,
    pub(crate) prompts: Option<ListChanges>,
    pub(crate) resources: Option<ListChanges>,
    pub(crate) logging: bool,
}

/// Whether a server announces changes of one of its lists.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ListChanges {
    Announced,
    Silent,
}

/// The lists whose changes a server announces.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct AnnouncedLists {
    pub(crate) tools: bool,
    pub(crate) prompts: bool,
    pub(crate) resources: bool,
}

impl OfferedCapabilities {
    /// Reads the object of a server's capabilities.
    pub(crate) fn read(capabilities: &str) -> Self {
        #[derive(Deserialize, Default)]
        struct CapabilityMembers {
            #[serde(default)]
            tools: Value,
            #[serde(default)]
            prompts: Value,
            #[serde(default)]
            resources: Value,
            #[serde(default)]
            logging: Value,
        }
        let read: CapabilityMembers = serde_json::from_str(capabilities).unwrap_or_default();
        let changes = |offered: &Value| match offered {
            Value::Null => None,
            offered if offered.get("listChanged") == Some(&Value::Bool(true)) => {
                Some(ListChanges::Announced)
            }
            _ => Some(ListChanges::Silent),
        };
        Self {
            tools: changes(&read.tools),
            prompts: changes(&read.prompts),
            resources: changes(&read.resources),
            logging: !read.logging.is_null(),
        }
    }

    pub(crate) fn announced(self) -> AnnouncedLists {
        let announced = |list: Option<ListChanges>| list == Some(ListChanges::Announced);
        AnnouncedLists {
            tools: announced(self.tools),
            prompts: announced(self.prompts),
            resources: announced(self.resources),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_said_is_not_offered() {
        let offered = OfferedCapabilities::read(
            r#"{"tools":{"listChanged":true},"prompts":{},"logging":null,"x":1}"#,
        );
        assert_eq!(
            offered,
            OfferedCapabilities {
                tools: Some(ListChanges::Announced),
                prompts: Some(ListChanges::Silent),
                resources: None,
                logging: false,
            }
        );
        assert_eq!(OfferedCapabilities::read("[]"), OfferedCapabilities::default());
    }
}
