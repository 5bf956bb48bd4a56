use std::sync::Arc;

use tokio::sync::{Notify, broadcast};

use super::message::ServerMessage;
use super::roots::SessionRoots;
use super::source_log::SourceLog;
use crate::protocol::methods;

/// Where notifications and questions go that belong to no request.
#[derive(Clone)]
pub(crate) struct ServerNotices {
    /// Notified when one of the server's lists has changed.
    pub(crate) list_changed: Arc<Notify>,
    /// The resources that have changed.
    updates: broadcast::Sender<Arc<str>>,
    /// Whether somebody listens to a resource.
    is_wanted: Arc<dyn Fn(&str) -> bool + Send + Sync>,
    pub(crate) roots: Arc<SessionRoots>,
    /// Keeps what the server says besides its answers.
    pub(crate) log: Option<Arc<SourceLog>>,
}

impl ServerNotices {
    pub(crate) fn new(
        updates: broadcast::Sender<Arc<str>>,
        roots: Arc<SessionRoots>,
        is_wanted: impl Fn(&str) -> bool + Send + Sync + 'static,
    ) -> Self {
        let (list_changed, is_wanted) = (Arc::default(), Arc::new(is_wanted));
        Self { list_changed, updates, is_wanted, roots, log: None }
    }

    /// Keeps what the server says in this log too.
    pub(crate) fn logging(self, log: &Arc<SourceLog>) -> Self {
        Self { log: Some(log.clone()), ..self }
    }

    /// Passes on that a resource has changed, if somebody listens to it. Updates that nobody asked
    /// for must not crowd out those that others wait for.
    pub(crate) fn updated(&self, uri: &str) {
        if (self.is_wanted)(uri) {
            // Without a receiver there is nobody to tell, which is fine.
            let _ = self.updates.send(uri.into());
        }
    }

    /// Handles a notification about changes. False for any other, such as a log message, although
    /// those are kept in the log.
    pub(crate) fn take(&self, message: &ServerMessage<'_>) -> bool {
        #[derive(serde::Deserialize)]
        struct UpdatedParams<'a> {
            #[serde(borrow)]
            uri: std::borrow::Cow<'a, str>,
        }
        match message.method.as_deref() {
            Some(
                methods::TOOLS_CHANGED | methods::PROMPTS_CHANGED | methods::RESOURCES_CHANGED,
            ) => self.list_changed.notify_one(),
            Some(methods::RESOURCE_UPDATED) => {
                let params = message.params.map_or("{}", |params| params.get());
                if let Ok(UpdatedParams { uri }) = serde_json::from_str(params) {
                    self.updated(&uri);
                }
            }
            Some(methods::LOG_MESSAGE) => {
                if let (Some(log), Some(params)) = (&self.log, message.params) {
                    log.take_notification(params);
                }
                return false;
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
        let notices = ServerNotices::new(updates, SessionRoots::new(Arc::default(), true), |uri| {
            uri == "a://wanted"
        });
        notices.updated("a://flood");
        notices.updated("a://wanted");
        assert_eq!(&*heard.try_recv().unwrap(), "a://wanted");
        assert!(heard.try_recv().is_err());
    }
}
