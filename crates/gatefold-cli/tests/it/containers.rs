//! Sources that run in containers: nothing of them is left when the source, or the gateway, ends.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use gatefold_testkit::{process_alive, wait_until};

use crate::process::{BINARY, Gateway, LIMIT, run, two_sources};
use crate::scratch::Scratch;

/// An engine's client. What it runs outlives it, whatever ends it, and does not end with its input.
const ENGINE: &str = r#"#!/bin/sh
boxes="$(dirname "$0")/boxes"
case "$1" in
run)
    name="box-$$"
    while [ "$1" != image ]; do
        [ "$1" = --name ] && name="$2"
        [ "$1" = --cidfile ] && printf %s "$name" > "$2"
        shift
    done
    shift
    exec 3<&0
    setsid sh -c 'echo $$ > "$0"; "$@"; exec sleep 600' "$boxes/$name" "$@" <&3 &
    wait $!
    ;;
rm | kill)
    for last in "$@"; do :; done
    kill -s KILL -- "-$(cat "$boxes/$last")" && rm "$boxes/$last"
    ;;
version) echo 27.0.0 ;;
esac
"#;

fn engine() -> Scratch {
    let scratch = Scratch::new();
    scratch.write("docker", ENGINE);
    let path = scratch.path().join("docker");
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
    fs::create_dir(scratch.path().join("boxes")).unwrap();
    scratch
}

/// A source in a container, with these options of `run`.
fn boxed(scratch: &Scratch, options: &str) -> String {
    let folder = scratch.path().display();
    format!(
        "[sources.boxed]\ncommand = '{folder}/docker'\nargs = ['run', '-i', {options} 'image', \
         '{BINARY}', 'demo-server', 'units', '--scratch', '{folder}/data']\n"
    )
}

/// The containers that run.
fn boxes(scratch: &Scratch) -> Vec<String> {
    let entries = fs::read_dir(scratch.path().join("boxes")).unwrap().map(Result::unwrap);
    let runs = |path: &std::path::Path| {
        let pid = fs::read_to_string(path).unwrap_or_default();
        pid.trim().parse().is_ok_and(process_alive)
    };
    let running = entries.filter(|entry| runs(&entry.path()));
    running.map(|entry| entry.file_name().into_string().unwrap()).collect()
}

async fn await_none(scratch: &Scratch) {
    let are_gone = wait_until(LIMIT, || boxes(scratch).is_empty()).await;
    assert!(are_gone, "{:?}", boxes(scratch));
}

async fn serve(scratch: &Scratch) -> Gateway {
    let gateway = Gateway::serve(scratch).await;
    gateway.await_log("took up a new list of tools domain=boxed").await;
    gateway
}

#[tokio::test]
async fn a_container_ends_with_the_gateway() {
    for (options, expected) in [
        ("'--rm',", "gatefold-boxed-"),
        ("'--rm', '--name', 'mine',", "mine"),
        ("'--rm', '--cidfile', 'id',", "box-"),
    ] {
        let scratch = engine();
        scratch.write("gatefold.toml", boxed(&scratch, options));
        let mut gateway = serve(&scratch).await;
        let running = boxes(&scratch);
        assert!(running.len() == 1 && running[0].starts_with(expected), "{running:?}");
        gateway.signal("-INT");
        gateway.ended().await;
        await_none(&scratch).await;
    }
}

#[tokio::test]
async fn a_container_ends_with_a_command_that_ran_once() {
    let scratch = engine();
    scratch.write("gatefold.toml", boxed(&scratch, "'--rm',"));
    let checked = run(&scratch, &["check"]);
    assert_eq!(checked.code, Some(0), "{}{}", checked.stdout, checked.stderr);
    await_none(&scratch).await;
}

#[tokio::test]
async fn a_container_ends_with_its_source() {
    let scratch = engine();
    scratch.write("gatefold.toml", boxed(&scratch, "'--rm',"));
    let gateway = serve(&scratch).await;
    assert_eq!(boxes(&scratch).len(), 1);
    scratch.write("gatefold.toml", two_sources(&scratch));
    gateway.signal("-HUP");
    await_none(&scratch).await;
    drop(gateway);
}

#[tokio::test]
async fn a_container_of_a_killed_gateway_is_named_and_ended_at_the_next_start() {
    let scratch = engine();
    scratch.write("gatefold.toml", boxed(&scratch, "'--rm',"));
    let mut gateway = serve(&scratch).await;
    let running = boxes(&scratch);
    gateway.signal("-KILL");
    gateway.ended().await;
    assert_eq!(boxes(&scratch), running, "nobody could end it");
    let diagnosis = run(&scratch, &["doctor", "--offline", "--json"]).stdout;
    assert!(diagnosis.contains(&format!("docker rm -f {}", running[0])), "{diagnosis}");
    let _gateway = Gateway::serve(&scratch).await;
    assert!(!boxes(&scratch).contains(&running[0]));
    let diagnosis = run(&scratch, &["doctor", "--offline", "--json"]).stdout;
    assert!(!diagnosis.contains("left a container"), "{diagnosis}");
}
