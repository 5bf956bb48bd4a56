//! One sign-in, with a person at a browser or another device.

use std::io::{BufRead as _, IsTerminal as _, Read as _, stdin};
use std::time::Duration;

use gatefold::{App, Environment, RedirectListener};
use gatefold_oauth::{DeviceSignIn, Grant, Redirect, RedirectAnswer, SignIn, SignInError};
use gatefold_operations::{AccountTarget, OperationError};
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep, timeout};

use super::{ANSWER_DEADLINE, Login, browser};
use crate::cli::output::Output;

/// How long a person may take.
const PERSON_DEADLINE: Duration = Duration::from_secs(600);

/// The most that is read of what a person pastes, in bytes.
const PASTED_LIMIT: u64 = 1024 * 1024;

/// Signs in and keeps what that brings. Returns false if the source needs no sign-in.
pub(super) async fn run(
    login: &Login,
    app: &App,
    target: &AccountTarget,
    environment: &Environment,
    output: &Output,
) -> anyhow::Result<bool> {
    let deadline = Instant::now() + ANSWER_DEADLINE;
    let begun = app.accounts().begin(&target.site, &target.place, deadline).await;
    let Some(sign_in) = begun.map_err(OperationError::from)? else { return Ok(false) };
    let grant = if login.device {
        on_device(sign_in, output).await
    } else {
        in_browser(sign_in, login, environment, output).await
    };
    let grant = grant.map_err(OperationError::from)?;
    app.accounts().keep(&target.place, &grant).await.map_err(OperationError::from)?;
    Ok(true)
}

async fn in_browser(
    sign_in: SignIn,
    login: &Login,
    environment: &Environment,
    output: &Output,
) -> Result<Grant, SignInError> {
    let issuer = sign_in.issuer().to_owned();
    let mut listener = RedirectListener::bind(&sign_in).await?;
    let Redirect(redirect) = listener.redirect();
    // A provider that refuses the address says so on its own page, and nothing comes back.
    let key = sign_in.is_configured().then(|| sign_in.redirect_key());
    let deadline = Instant::now() + ANSWER_DEADLINE;
    let sign_in = sign_in.browse(listener.redirect(), deadline).await?;
    let url = sign_in.request.url.as_str();
    let is_open = !login.no_browser && browser::open(url, environment);
    say(output, &format!("sign in at {issuer}"));
    if let Some(key) = key {
        say(output, &format!("  the browser comes back to {redirect}; if the page refuses that,"));
        say(output, &format!("  write the address that the provider knows as `{key}`"));
    }
    say(output, if is_open { "  if your browser does not show it, open" } else { "  open" });
    say(output, &format!("  {url}"));
    // A browser on another machine cannot come back to this one.
    let mut pasted = pasted_lines();
    if pasted.is_some() {
        say(output, "  waiting for it; you can also paste the address that the browser ended at");
    }
    let person = Instant::now() + PERSON_DEADLINE;
    loop {
        let answer = tokio::select! {
            answer = listener.next() => answer,
            Some(line) = next_line(&mut pasted) => {
                let Some(answer) = RedirectAnswer::of_pasted(&line) else {
                    say(output, "  that is not an address with a code in it; paste it whole");
                    continue;
                };
                answer
            }
            () = tokio::time::sleep_until(person) => return Err(SignInError::Late),
        };
        // Any page can send a browser here, so what answers something else only gets a page.
        if !answer.is_for(&sign_in.request) {
            listener.reply(false);
            say(output, "  something else came back, and was left alone");
            continue;
        }
        return listener.redeem(&sign_in, answer).await;
    }
}

async fn on_device(sign_in: SignIn, output: &Output) -> Result<Grant, SignInError> {
    let issuer = sign_in.issuer().to_owned();
    let mut sign_in: DeviceSignIn = sign_in.on_device(Instant::now() + ANSWER_DEADLINE).await?;
    let code = &sign_in.code;
    say(output, &format!("sign in at {issuer}, on any device"));
    let step = match &code.whole_page {
        Some(page) => format!("  open {page}, and compare the code: {}", code.user_code),
        None => format!("  open {}, and type the code: {}", code.page, code.user_code),
    };
    say(output, &step);
    let lasts = code.lasts.min(PERSON_DEADLINE);
    let signed_in = async {
        loop {
            sleep(sign_in.code.pause).await;
            if let Some(grant) = sign_in.poll(Instant::now() + ANSWER_DEADLINE).await? {
                return Ok(grant);
            }
        }
    };
    timeout(lasts, signed_in).await.unwrap_or(Err(SignInError::Late))
}

/// Tells the person what to do: beside the result, where that is JSON.
fn say(output: &Output, text: &str) {
    if output.is_json() { output.complain(text) } else { output.line(text) }
}

/// The lines that a person pastes, if there is one. The thread that reads them ends with the
/// process.
fn pasted_lines() -> Option<mpsc::Receiver<String>> {
    if !stdin().is_terminal() {
        return None;
    }
    let (sender, lines) = mpsc::channel(4);
    std::thread::spawn(move || {
        for line in stdin().lock().take(PASTED_LIMIT).lines().map_while(Result::ok) {
            if line.trim().is_empty() {
                continue;
            }
            if sender.blocking_send(line).is_err() {
                return;
            }
        }
    });
    Some(lines)
}

async fn next_line(lines: &mut Option<mpsc::Receiver<String>>) -> Option<String> {
    match lines {
        Some(lines) => lines.recv().await,
        None => std::future::pending().await,
    }
}
