//! Addresses inside that a server leads to, through the whole gateway: by redirects, and by what a
//! description says. `gatefold-egress` and `gatefold-mcp` have the names and spellings.

use crate::process::run;
use crate::scratch::Scratch;

use crate::raw_api::{RawApi, answer};

/// A server that redirects everything to another port, with the status that its path begins with.
fn redirecting(to: u16) -> RawApi {
    RawApi::start(move |request| {
        let status = request.path().split('/').nth(1).unwrap_or_default();
        let location = format!("location: http://127.0.0.1:{to}/inside\r\n");
        Some(answer(&format!("{status} Moved"), &location, ""))
    })
}

#[test]
fn a_redirect_leads_an_mcp_source_nowhere() {
    let inside = RawApi::start(|_| Some(answer("200 OK", "", "")));
    let first = redirecting(inside.port);
    for status in [301, 302, 303, 307, 308] {
        for allowed in ["", "allow_private = true\n"] {
            let scratch = Scratch::new();
            let url = format!("http://127.0.0.1:{}/{status}", first.port);
            scratch.write("gatefold.toml", format!("[sources.up]\nurl = '{url}'\n{allowed}"));
            let checked = run(&scratch, &["check"]);
            assert_eq!(checked.code, Some(1), "{}", checked.stdout);
            assert!(first.take() > 0, "{}", checked.stdout);
            // A greeting may have an effect, and its answer is a session's: it is not repeated elsewhere.
            assert_eq!(inside.take(), 0, "{status}: {}", checked.stdout);
        }
    }
}

#[test]
fn a_redirect_leads_an_api_inside_only_where_that_is_allowed() {
    let inside =
        RawApi::start(|_| Some(answer("200 OK", "content-type: text/plain\r\n", "inside")));
    let first = redirecting(inside.port);
    for status in [301, 302, 303, 307, 308] {
        for (allowed, is_reached) in [("", false), ("allow_private = ['127.0.0.0/8']\n", true)] {
            let scratch = Scratch::new();
            let config = format!(
                "[sources.api]\nbase_url = 'http://127.0.0.1:{}'\n{allowed}\
                 actions = [{{ name = 'go', method = 'GET', path = '/{status}' }}]\n",
                first.port
            );
            scratch.write("gatefold.toml", config);
            let called = run(&scratch, &["tools", "call", "api__go"]);
            let said = called.stdout + &called.stderr;
            assert_eq!(first.take(), 1, "{said}");
            assert_eq!(inside.take(), usize::from(is_reached), "{status} {allowed}: {said}");
            assert_eq!(said.contains("allow_private"), !is_reached, "{said}");
        }
    }
}

#[test]
fn a_description_refers_to_nothing_inside() {
    let inside = RawApi::start(|_| {
        Some(answer("200 OK", "content-type: application/json\r\n", r#"{"type":"string"}"#))
    });
    let reference = format!("http://127.0.0.1:{}/schema.json", inside.port);
    let description = format!(
        r#"{{"openapi":"3.1.0","info":{{"title":"x","version":"1"}},"servers":[{{"url":"/"}}],
        "paths":{{"/x":{{"get":{{"operationId":"x","parameters":[
        {{"name":"a","in":"query","schema":{{"$ref":"{reference}"}}}}]}}}}}}}}"#
    );
    let outside = RawApi::start(move |_| {
        Some(answer("200 OK", "content-type: application/json\r\n", &description))
    });
    for (allowed, is_reached) in [("", false), ("allow_private = true\n", true)] {
        let scratch = Scratch::new();
        let url = format!("http://127.0.0.1:{}/openapi.json", outside.port);
        scratch.write("gatefold.toml", format!("[sources.api]\nopenapi = '{url}'\n{allowed}"));
        let checked = run(&scratch, &["check", "-v"]);
        assert_eq!(outside.take(), 1, "{}", checked.stdout);
        assert_eq!(inside.take() > 0, is_reached, "{allowed}: {}", checked.stdout);
    }
}
