//! A gateway with every kind of source: the demonstration's own.

use std::fmt::Write as _;
use std::future::pending;
use std::path::Path;
use std::time::Duration;

use gatefold_demo::{
    DemoApi, DemoServer, apis, create_database, create_folder, databases, servers, skill_folders,
};
use gatefold_testkit::RawClient;
use tokio::net::TcpListener;

use crate::process::{BINARY, Gateway, LIMIT};
use crate::scratch::Scratch;

/// How long to wait until the tools are listed again.
const PAUSE: Duration = Duration::from_millis(50);

/// Which of the demonstration's sources there are, and the built-in tools beside them.
pub(crate) struct EveryKind {
    /// A TOML array.
    pub(crate) builtin: &'static str,
    /// Further lines of a source's configuration; nothing for one that is left out.
    pub(crate) keys: fn(&str) -> Option<&'static str>,
}

/// Starts the gateway, with these lines of configuration besides, and waits until all tools are there.
pub(crate) async fn serve(scratch: &Scratch, kinds: &EveryKind, more: &str) -> Gateway {
    let config = config(&scratch.path().join("data"), kinds).await;
    scratch.write("gatefold.toml", config + more);
    let gateway = Gateway::serve(scratch).await;
    let flat = RawClient::new(format!("{}?disclosure=flat", gateway.url())).unwrap();
    let sources = servers().iter().chain(apis()).chain(databases()).chain(skill_folders());
    let wanted = sources.filter(|source| (kinds.keys)(source.name).is_some());
    let mut missing: Vec<_> = wanted.map(|source| format!("{}__", source.name)).collect();
    for _ in 0..LIMIT.as_millis() / PAUSE.as_millis() {
        let names = flat.list().await.unwrap().tool_names();
        missing.retain(|start| !names.iter().any(|name| name.starts_with(start)));
        if missing.is_empty() {
            return gateway;
        }
        tokio::time::sleep(PAUSE).await;
    }
    panic!("{missing:?} are missing: {}", gateway.log());
}

async fn config(data: &Path, kinds: &EveryKind) -> String {
    std::fs::create_dir(data).unwrap();
    let mut config = format!("[sources.builtin]\nbuiltin = {}\n", kinds.builtin);
    let mut add = |about: &DemoServer, more: &str, keys: &str| {
        let DemoServer { name, description } = about;
        let head = format!("[sources.{name}]\ndescription = '{description}'");
        writeln!(config, "{head}\n{keys}\n{more}").unwrap();
    };
    for (about, more) in wanted(servers(), kinds) {
        let (name, data) = (about.name, data.display());
        let args = format!("args = ['demo-server', '{name}', '--scratch', '{data}']");
        add(about, more, &format!("command = '{BINARY}'\n{args}"));
    }
    for (about, more) in wanted(apis(), kinds) {
        let api = DemoApi::open(about.name, data).await.unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        tokio::spawn(api.serve(listener, pending()));
        add(about, more, &format!("openapi = 'http://{address}/openapi.json'"));
    }
    for (about, more) in wanted(databases(), kinds) {
        let path = create_database(about.name, data).await.unwrap();
        add(about, more, &format!("database = 'sqlite:{}'", path.display()));
    }
    for (about, more) in wanted(skill_folders(), kinds) {
        let path = create_folder(about.name, data).unwrap();
        add(about, more, &format!("skills = '{}'", path.display()));
    }
    config
}

/// The sources that are not left out, with their further lines.
fn wanted(
    sources: &'static [DemoServer],
    kinds: &EveryKind,
) -> impl Iterator<Item = (&'static DemoServer, &'static str)> + use<> {
    let keys = kinds.keys;
    sources.iter().filter_map(move |about| Some((about, keys(about.name)?)))
}
