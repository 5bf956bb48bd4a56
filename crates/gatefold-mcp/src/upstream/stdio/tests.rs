use crate::upstream::roots::SessionRoots;
use gatefold_core::Domain;
use gatefold_dispatch::MemoryShare;
use tokio::sync::broadcast;

use super::super::process;
use super::super::settings::StdioSettings;
use super::*;

fn request(id: u64) -> WireRequest {
    let text = crate::protocol::rpc::request(id, "tools/call", &());
    WireRequest::of_ours(id, RequestKind::Ordinary, "tools/call", text, 1024)
}

async fn wire(settings: &StdioSettings) -> Arc<StdioWire> {
    let spawned = process::spawn(settings).await.unwrap();
    let notices = ServerNotices::new(
        broadcast::Sender::new(1),
        SessionRoots::new(Arc::default(), true),
        |_| false,
    );
    let domain = Domain::parse("up").unwrap();
    let log = Arc::new(LogBudget::new(domain.clone()));
    StdioWire::new(domain, spawned, notices, Arc::default(), log, &TaskTracker::new())
}

#[tokio::test]
async fn requests_under_way_are_bounded() {
    let (command, args) = ("sleep".to_owned(), vec!["60".to_owned()]);
    let wire = wire(&StdioSettings { command, args, ..StdioSettings::default() }).await;
    let mut pending = Vec::new();
    for _ in 0..PENDING_REQUESTS {
        let mut one = Box::pin(wire.request(request(wire.next_id())));
        assert!(futures::poll!(&mut one).is_pending());
        pending.push(one);
    }
    let one_more = wire.request(request(wire.next_id())).await;
    assert!(matches!(one_more, Err(WireError::Full)), "{one_more:?}");
    drop(pending);
    assert!(wire.shared.lock().waiting.is_empty(), "dropped requests are removed");
    wire.close().await;
}

struct Share;

impl MemoryShare for Share {
    fn may_wait(&self) -> bool {
        true
    }
}

#[tokio::test]
async fn what_a_server_does_not_read_is_not_kept_for_calls_that_are_over() {
    let (command, args) = ("sleep".to_owned(), vec!["60".to_owned()]);
    let wire = wire(&StdioSettings { command, args, ..StdioSettings::default() }).await;
    let memory: Arc<dyn MemoryShare> = Arc::new(Share);
    let mut pending = Vec::new();
    for _ in 0..10 {
        let text = " ".repeat(1024 * 1024);
        let request = WireRequest { text, memory: Some(memory.clone()), ..request(wire.next_id()) };
        let mut one = Box::pin(wire.request(request));
        assert!(futures::poll!(&mut one).is_pending());
        tokio::task::yield_now().await;
        pending.push(one);
    }
    assert_eq!(Arc::strong_count(&memory), 11);
    drop(pending);
    assert_eq!(Arc::strong_count(&memory), 2, "only the half-written one is kept");
    wire.close().await;
}
