//! `gatefold logs`: what a source wrote besides its answers, fetched from the running gateway.

use std::io::{BufRead as _, BufReader};
use std::process::{Child, Stdio};
use std::sync::{Arc, Mutex};

use gatefold_testkit::{StdioClient, wait_until};
use serde_json::Value;

use crate::process::{Gateway, LIMIT, command, run};
use crate::scratch::Scratch;

/// Writes a secret and a line for each call to its standard error, and sends one log notification.
const TELLING: &str = r#"
echo "starting with $TOKEN" >&2
while read -r line; do
  id=${line#*'"id":'}; id=${id%%,*}
  is() { printf '{"jsonrpc":"2.0","id":%s,"result":{"resultType":"complete","ttlMs":0,"cacheScope":"private",%s}}\n' "$id" "$1"; }
  case $line in
    *'"server/discover"'*) is '"supportedVersions":["2026-07-28"],"capabilities":{"tools":{},"logging":{}}' ;;
    *'"tools/list"'*)
      [ "$told" ] || echo '{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"warning","logger":"disk","data":"nearly full"}}'
      told=1
      is '"tools":[{"name":"tell","inputSchema":{"type":"object"}}]' ;;
    *'"tools/call"'*) printf 'was called \033[31m\n' >&2; is '"content":[{"type":"text","text":"ok"}]' ;;
  esac
done
"#;

fn scratch() -> Scratch {
    let scratch = Scratch::new();
    let source = "[sources.telling]\ncommand = 'sh'\nargs = ['telling.sh']\n\
                  env = { TOKEN = '${TOKEN}' }\n[sources.quiet]\ncommand = 'cat'\nenabled = false\n";
    scratch.write("telling.sh", TELLING).write("gatefold.toml", source);
    scratch
}

fn call(scratch: &Scratch) {
    let called = run(scratch, &["tools", "call", "telling__tell"]);
    assert_eq!(called.code, Some(0), "{}", called.stderr);
}

fn lines(scratch: &Scratch) -> Vec<Value> {
    let shown = run(scratch, &["logs", "telling", "--json"]);
    shown.json()["lines"].as_array().unwrap_or_else(|| panic!("{}", shown.stdout)).clone()
}

/// `gatefold logs --follow`, and what it has printed. Dropping it kills it.
struct LogFollower(Child, Arc<Mutex<String>>);

impl LogFollower {
    fn start(scratch: &Scratch) -> Self {
        let args = ["logs", "telling", "--follow", "--limit", "1"];
        let mut child = command(scratch, &args).stdout(Stdio::piped()).spawn().unwrap();
        let text = Arc::new(Mutex::new(String::new()));
        let (stdout, sink) = (child.stdout.take().unwrap(), text.clone());
        std::thread::spawn(move || {
            for line in BufReader::new(stdout).lines().map_while(Result::ok) {
                *sink.lock().unwrap() += &(line + "\n");
            }
        });
        Self(child, text)
    }

    async fn await_count(&self, text: &str, count: usize) {
        let found = || self.1.lock().unwrap().matches(text).count();
        assert!(wait_until(LIMIT, || found() >= count).await, "{}", self.1.lock().unwrap());
        assert_eq!(found(), count, "{}", self.1.lock().unwrap());
    }
}

impl Drop for LogFollower {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[tokio::test]
async fn a_sources_last_lines_are_shown_without_its_secrets() {
    let scratch = scratch();
    let gateway = Gateway::serve(&scratch).await;
    call(&scratch);
    assert!(wait_until(LIMIT, || lines(&scratch).len() == 3).await, "{:?}", lines(&scratch));
    let shown = run(&scratch, &["logs", "telling"]).stdout;
    let texts: Vec<_> = shown.lines().map(|line| line.split_once(' ').unwrap().1).collect();
    assert!(texts[0].starts_with("starting with ") && !shown.contains("s3cret"), "{shown}");
    assert_eq!(texts[1], "warning: disk: nearly full");
    assert!(texts[2].starts_with("was called ") && !shown.contains('\u{1b}'), "{shown}");
    let warning = &lines(&scratch)[1];
    assert_eq!((&warning["from"], &warning["level"]), (&"protocol".into(), &"warning".into()));
    assert_eq!(warning["process"], gateway.pid());
    assert_eq!(run(&scratch, &["logs", "telling", "--limit", "1"]).stdout.lines().count(), 1);

    assert_eq!(run(&scratch, &["logs", "quiet"]).stdout, "nothing written yet\n");
    let unknown = run(&scratch, &["logs", "nobody"]);
    assert_eq!(unknown.code, Some(1), "{}", unknown.stderr);
    assert!(unknown.stderr.contains("there is no source `nobody`"), "{}", unknown.stderr);
    assert!(unknown.stderr.contains("the sources are telling, quiet"), "{}", unknown.stderr);
}

#[test]
fn without_a_gateway_there_are_no_lines_and_it_says_so() {
    let scratch = scratch();
    let failed = run(&scratch, &["logs", "telling"]);
    assert_eq!((failed.code, failed.stdout.as_str()), (Some(1), ""));
    assert!(failed.stderr.contains("no gateway runs"), "{}", failed.stderr);
    assert!(failed.stderr.contains("start one with `gatefold serve`"), "{}", failed.stderr);
}

#[tokio::test]
async fn a_follower_of_a_source_sees_each_line_once_and_outlives_the_gateway() {
    let scratch = scratch();
    let mut gateway = Gateway::serve(&scratch).await;
    call(&scratch);
    assert!(wait_until(LIMIT, || lines(&scratch).len() == 3).await, "{:?}", lines(&scratch));
    let follower = LogFollower::start(&scratch);
    // The last line there is, with which it begins.
    follower.await_count("was called", 1).await;
    call(&scratch);
    follower.await_count("was called", 2).await;
    gateway.signal("-KILL");
    gateway.ended().await;
    let _gateway = Gateway::serve(&scratch).await;
    call(&scratch);
    follower.await_count("was called", 3).await;
}

#[tokio::test]
async fn lines_of_several_gateways_are_told_apart() {
    let scratch = scratch();
    let gateway = Gateway::serve(&scratch).await;
    call(&scratch);
    let stdio = command(&scratch, &["stdio"]);
    let mut client = StdioClient::from_command(stdio.into()).unwrap().with_limit(LIMIT);
    client.initialize().await.unwrap();
    let arguments = r#"{"tool_name": "telling__tell"}"#;
    let called = client.call("execute_tool", arguments).await.unwrap();
    assert!(called.text().contains("ok"), "{}", called.text());
    let starts = || run(&scratch, &["logs", "telling"]).stdout.matches("starting with").count();
    // One under `serve`, and under `stdio` one more for a client that has a session.
    assert!(wait_until(LIMIT, || starts() == 3).await, "{}", gateway.log());
    let shown = run(&scratch, &["logs", "telling"]).stdout;
    assert!(shown.contains(&format!("Z {} starting", gateway.pid())), "{shown}");
}
