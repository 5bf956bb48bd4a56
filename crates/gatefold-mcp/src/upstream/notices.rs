use std::sync::Arc;

use tokio::sync::{Notify, broadcast};

use super::message::ServerMessage;
use crate::protocol::methods;

/// Where notifications go that belong to no request.
#[derive(Clone)]
pub(crate) struct ServerNotices {
    /// Rung when one of its lists has changed.
    pub(crate) list_changed: Arc<Notify>,
    /// The resources that have changed.
    updates: broadcast::Sender<Arc<str>>,
    /// Whether somebody listens to a resource.
    is_wanted: Arc<dyn Fn(&str) -> bool + Send + Sync>,
}

impl ServerNotices {
    pub(crate) fn new(
        updates: broadcast::Sender<Arc<str>>,
        is_wanted: impl Fn(&str) -> bool + Send + Sync + 'static,
    ) -> Self {
        Self { list_changed: Arc::default(), updates, is_wanted: Arc::new(is_wanted) }
    }

    /// Passes on that a resource has changed, if somebody listens to it: a server that tells of
    /// what nobody asked for must not crowd out what others wait for.
    pub(crate) fn updated(&self, uri: &str) {
        if (self.is_wanted)(uri) {
            // Without a receiver there is nobody to tell, which is fine.
            let _ = self.updates.send(uri.into());
        }
    }

    /// Takes a notification that is news. False for any other.
    pub(crate) fn take(&self, message: &ServerMessage<'_>) -> bool {
        #[derive(serde::Deserialize)]
        struct Updated<'a> {
            #[serde(borrow)]
            uri: std::borrow::Cow<'a, str>,
        }
        match message.method.as_deref() {
            Some(
                methods::TOOLS_CHANGED | methods::PROMPTS_CHANGED | methods::RESOURCES_CHANGED,
            ) => self.list_changed.notify_one(),
            Some(methods::RESOURCE_UPDATED) => {
                let params = message.params.map_or("{}", |params| params.get());
                if let Ok(Updated { uri }) = serde_json::from_str(params) {
                    self.updated(&uri);
                }
            }
            _ => return false,
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_somebody_listens_to_is_passed_on() {
        let (updates, mut heard) = broadcast::channel(4);
        let notices = ServerNotices::new(updates, |uri| uri == "a://wanted");
        notices.updated("a://flood");
        notices.updated("a://wanted");
        assert_eq!(&*heard.try_recv().unwrap(), "a://wanted");
        assert!(heard.try_recv().is_err());
    }
}
