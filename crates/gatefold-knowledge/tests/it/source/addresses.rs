//! Documents that are fetched, beside those of a folder: what a base says of them as they change.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use futures::FutureExt as _;
use futures::future::{BoxFuture, ready};
use gatefold_knowledge::{FetchedDocument, RemoteDocuments, UnfetchedDocument};
use serde_json::{Value, json};

use super::world::World;
use super::{structured, text};

const FAQ: &str = "https://example.com/a/faq?id=7";
const RATES: &str = "https://example.com/travel.md";

/// What a page answers.
#[derive(Clone)]
enum Page {
    Text(&'static str),
    Missing,
    Down,
}

/// Pages that a test changes, and how often each was asked for, in all and with a mark.
#[derive(Default)]
struct Site {
    addresses: Vec<String>,
    pages: Mutex<HashMap<String, Page>>,
    asked: Mutex<(usize, usize)>,
}

impl Site {
    fn new(pages: &[(&str, &'static str)]) -> Arc<Self> {
        let addresses = pages.iter().map(|(address, _)| (*address).to_owned()).collect();
        let site = Self { addresses, ..Self::default() };
        for (address, text) in pages {
            site.set(address, Page::Text(text));
        }
        Arc::new(site)
    }

    fn set(&self, address: &str, page: Page) {
        self.pages.lock().unwrap().insert(address.to_owned(), page);
    }

    /// Waits until pages were asked for so often with a mark, which means that the base has them.
    async fn until_marked(&self, times: usize) -> (usize, usize) {
        let end = Instant::now() + Duration::from_secs(30);
        loop {
            let asked = *self.asked.lock().unwrap();
            if asked.1 >= times {
                return asked;
            }
            assert!(Instant::now() < end, "{asked:?}");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    fn answer(
        &self,
        address: &str,
        mark: Option<&str>,
    ) -> Result<FetchedDocument, UnfetchedDocument> {
        let mut asked = self.asked.lock().unwrap();
        asked.0 += 1;
        asked.1 += usize::from(mark.is_some());
        let page = self.pages.lock().unwrap().get(address).cloned();
        match page {
            Some(Page::Text(text)) if mark == Some(text) => Ok(FetchedDocument::Same),
            Some(Page::Text(text)) => Ok(FetchedDocument::Bytes {
                bytes: text.as_bytes().to_vec(),
                file_name: "page.md".to_owned(),
                mark: Some(text.to_owned()),
            }),
            Some(Page::Down) => Err(UnfetchedDocument::Unreachable {
                reason: "its server answered 503".to_owned(),
                detail: "for the operator".to_owned(),
            }),
            Some(Page::Missing) | None => {
                Err(UnfetchedDocument::Missing("its server answered 404".to_owned()))
            }
        }
    }
}

impl RemoteDocuments for Site {
    fn addresses(&self) -> &[String] {
        &self.addresses
    }

    fn fetch<'a>(
        &'a self,
        address: &'a str,
        mark: Option<&'a str>,
    ) -> BoxFuture<'a, Result<FetchedDocument, UnfetchedDocument>> {
        ready(self.answer(address, mark)).boxed()
    }
}

/// A base of a folder with one file, and of these pages.
async fn base(site: &Arc<Site>) -> World {
    let world = World::new().with_remote(site.clone());
    world.put("travel.md", b"# Travel\n\nA hotel may cost at most 140 euros a night.\n");
    world.start(&["handbook"]).await;
    world.settle(1 + site.addresses.len()).await;
    world
}

/// Waits until a list of documents is as it should be.
async fn lists(world: &World, is_right: impl Fn(&str) -> bool) {
    let none = json!({});
    let is_listed = |answer: &Value| is_right(text(answer));
    let listed = world.until("handbook__list_documents", &none, is_listed).await;
    assert!(listed, "{:?}", world.call("handbook__list_documents", none).await);
}

async fn finds(world: &World, query: &str, is_right: impl Fn(&Value) -> bool) {
    let query = json!({ "query": query });
    let found = world.until("handbook__kb_retrieve", &query, is_right).await;
    assert!(found, "{:?}", world.call("handbook__kb_retrieve", query).await);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_folder_and_addresses_make_one_base_whose_citations_read_back() {
    let site = Site::new(&[
        (FAQ, "# Questions\n\nThe canteen opens at noon.\n"),
        (RATES, "# Rates\n\nA hotel in Zurich may cost 210 euros.\n"),
    ]);
    let world = base(&site).await;
    // The file and the address end in the same name and are two documents.
    finds(&world, "what may a hotel cost", |answer| {
        let said = structured(answer)["passages"].to_string();
        said.contains("\"travel.md\"") && said.contains(RATES)
    })
    .await;
    let answer = world.call("handbook__kb_retrieve", json!({ "query": "canteen at noon" })).await;
    let passage = structured(&answer.unwrap())["passages"][0].clone();
    assert_eq!(passage["document"], FAQ);
    let citation = passage["citation"].as_str().unwrap();
    let begin = "gatefold://handbook/kb/https%3A//example.com/a/faq%3Fid%3D7@";
    assert!(citation.starts_with(begin), "{citation}");
    assert_eq!(world.read(citation).await.unwrap()["contents"][0]["text"], passage["text"]);
    let read = world.call("handbook__read_document", json!({ "document": FAQ })).await.unwrap();
    assert!(text(&read).contains("> The canteen opens at noon."), "{read}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_page_that_changes_is_found_anew_and_one_that_does_not_is_not_sent_again() {
    let site = Site::new(&[(FAQ, "# Questions\n\nThe canteen opens at noon.\n")]);
    let world = base(&site).await;
    let (all, with_mark) = site.until_marked(3).await;
    assert_eq!(
        all - with_mark,
        1,
        "it was asked for whole once, and {with_mark} times with a mark"
    );
    site.set(FAQ, Page::Text("# Questions\n\nThe canteen opens at one.\n"));
    finds(&world, "when does the canteen open", |answer| {
        text(answer).contains("> The canteen opens at one.")
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_page_that_is_gone_is_no_longer_found_and_its_citation_still_reads() {
    let site = Site::new(&[(FAQ, "# Questions\n\nThe canteen opens at noon.\n")]);
    let world = base(&site).await;
    let answer = world.call("handbook__kb_retrieve", json!({ "query": "canteen at noon" })).await;
    let passage = structured(&answer.unwrap())["passages"][0].clone();
    site.set(FAQ, Page::Missing);
    lists(&world, |said| said.contains("(missing: its server answered 404)")).await;
    finds(&world, "canteen at noon", |answer| !text(answer).contains("opens at noon")).await;
    let citation = passage["citation"].as_str().unwrap();
    assert_eq!(world.read(citation).await.unwrap()["contents"][0]["text"], passage["text"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_page_that_cannot_be_fetched_stays_as_it_was_and_says_so() {
    let site = Site::new(&[(FAQ, "# Questions\n\nThe canteen opens at noon.\n"), (RATES, "x")]);
    site.set(RATES, Page::Down);
    let world = base(&site).await;
    lists(&world, |said| said.contains("`: travel.md (unreachable: its server answered 503)"))
        .await;
    site.set(FAQ, Page::Down);
    lists(&world, |said| said.contains("(not fetched again: its server answered 503)")).await;
    finds(&world, "canteen at noon", |answer| text(answer).contains("opens at noon")).await;
    let listed = world.call("handbook__list_documents", json!({})).await.unwrap();
    assert!(!listed.to_string().contains("for the operator"), "{listed}");
    for address in [FAQ, RATES] {
        site.set(address, Page::Text("# Questions\n\nThe canteen opens at noon.\n"));
    }
    lists(&world, |said| !said.contains("503")).await;
    finds(&world, "canteen at noon", |answer| {
        let said = structured(answer)["passages"].to_string();
        said.contains(FAQ) && said.contains(RATES)
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_rule_about_resources_hides_an_address() {
    let site = Site::new(&[(FAQ, "# Questions\n\nThe canteen opens at noon.\n")]);
    let world = World::denying("kb/https%3A//example.com/a/*").with_remote(site.clone());
    world.put("travel.md", b"# Travel\n\nA hotel may cost at most 140 euros a night.\n");
    world.start(&["handbook"]).await;
    world.settle(1).await;
    site.until_marked(1).await;
    let answer = world.call("handbook__kb_retrieve", json!({ "query": "canteen at noon" })).await;
    let answer = answer.unwrap().to_string();
    assert!(!answer.contains("canteen opens") && !answer.contains("example.com"), "{answer}");
}
