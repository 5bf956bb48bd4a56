use crate::upstream::roots::SessionRoots;
use gatefold_core::Domain;
use tokio::sync::broadcast;

use super::super::process;
use super::super::settings::StdioSettings;
use super::*;

fn request(id: u64) -> WireRequest {
    WireRequest {
        id,
        kind: RequestKind::Ordinary,
        method: "tools/call",
        name: None,
        headers: Vec::new(),
        text: crate::protocol::rpc::request(id, "tools/call", &()),
        back_channel: Arc::default(),
        limit: 1024,
    }
}

#[tokio::test]
async fn requests_under_way_are_bounded() {
    let (command, args) = ("sleep".to_owned(), vec!["60".to_owned()]);
    let settings = StdioSettings { command, args, ..StdioSettings::default() };
    let spawned = process::spawn(&settings).await.unwrap();
    let notices = ServerNotices::new(
        broadcast::Sender::new(1),
        SessionRoots::new(Arc::default(), true),
        |_| false,
    );
    let domain = Domain::parse("up").unwrap();
    let log = Arc::new(LogBudget::new(domain.clone()));
    let wire = StdioWire::new(domain, spawned, notices, Arc::default(), log, &TaskTracker::new());
    let mut pending = Vec::new();
    for _ in 0..PENDING_REQUESTS {
        let mut one = Box::pin(wire.request(request(wire.next_id())));
        assert!(futures::poll!(&mut one).is_pending());
        pending.push(one);
    }
    let one_more = wire.request(request(wire.next_id())).await;
    assert!(matches!(one_more, Err(WireError::Full)), "{one_more:?}");
    drop(pending);
    assert!(wire.shared.lock().waiting.is_empty(), "those given up have left");
    wire.close().await;
}
