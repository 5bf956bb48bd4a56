//! The command-line client that comes with a server: it shares no code with our driver.

use std::io::Write as _;
use std::process::{Command, Stdio};

/// What a client prints for a script: a line for each row, with a tab between its values.
pub(crate) fn rows(mut client: Command, script: &str) -> Vec<Vec<String>> {
    let name = client.get_program().to_string_lossy().into_owned();
    client.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut running = client
        .spawn()
        .unwrap_or_else(|error| panic!("{name} cannot be started, install it: {error}"));
    let mut input = running.stdin.take().expect("it is piped");
    let script = script.to_owned();
    // By a thread of its own: a client that prints much meanwhile would wait for us.
    let writing = std::thread::spawn(move || input.write_all(script.as_bytes()));
    let output = running.wait_with_output().expect("it ends");
    let printed = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{name}: {printed}");
    writing.join().expect("it does not panic").expect("the client reads all of it");
    let text = String::from_utf8(output.stdout).expect("values are hexadecimal or plain");
    text.lines().map(|line| line.split('\t').map(str::to_owned).collect()).collect()
}

pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |hex, byte| format!("{hex}{byte:02x}"))
}

/// The bytes that a text in hexadecimal stands for.
pub(crate) fn unhex(hex: &str) -> Vec<u8> {
    let digits = hex.as_bytes().chunks(2);
    let byte = |pair| u8::from_str_radix(std::str::from_utf8(pair).expect("it is ASCII"), 16);
    digits.map(|pair| byte(pair).expect("it is hexadecimal")).collect()
}

/// A value of ours as a text, whichever kind of JSON it is.
pub(crate) fn plain(value: &serde_json::Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}
