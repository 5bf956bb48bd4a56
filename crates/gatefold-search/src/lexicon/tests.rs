use std::sync::Arc;

use proptest::prelude::*;

use super::Translation;
use crate::{Analysis, Document, Entry, Index, Mode};

const TOOLS: [(&str, &str, &str); 12] = [
    ("mail", "send_email", "Send an email to somebody"),
    ("mail", "search_emails", "Find emails by sender, subject or text"),
    ("calendar", "create_event", "Create an event in the calendar, with guests and a room"),
    ("calendar", "list_events", "List the events of a day or a week"),
    ("files", "delete_file", "Delete a file or a folder"),
    ("files", "upload_file", "Upload a file"),
    ("shop", "create_invoice", "Create an invoice for a customer"),
    ("shop", "refund_payment", "Refund a payment"),
    ("home", "turn_on_light", "Turn on a light in a room"),
    ("weather", "get_forecast", "Weather forecast for a city"),
    ("github", "merge_pull_request", "Merge a pull request"),
    ("wasser", "pegelstand", "Pegelstand eines Flusses"),
];

fn index() -> Index {
    let analyses = TOOLS.map(|(domain, name, description)| {
        let domain = &[domain];
        let description = &[description];
        Analysis::of(&Document { name, domain, description, ..Document::default() })
    });
    let entries = TOOLS.iter().zip(&analyses).map(|((domain, name, _), analysis)| Entry {
        id: name,
        domain,
        analysis: Arc::clone(analysis),
        service: None,
    });
    Index::build(&entries.collect::<Vec<_>>())
}

fn found(index: &Index, request: &str) -> Vec<&'static str> {
    let found = index.search(request, Mode::Hybrid, |_| true, 3).matches;
    found.iter().map(|found| TOOLS[found.place].1).collect()
}

#[track_caller]
fn check(requests: &[(&str, &str)]) {
    let index = index();
    for (request, expected) in requests {
        let found = found(&index, request);
        assert_eq!(found.first(), Some(expected), "{request}: {found:?}, {:?}", english(request));
    }
}

/// The words of a translation, when no tool knows any word of the request.
fn english(request: &str) -> Option<String> {
    let translation = Translation::of(request, &|_| false)?;
    Some(translation.text().split_whitespace().collect::<Vec<_>>().join(" "))
}

#[test]
fn a_german_request_finds_an_english_tool() {
    check(&[
        ("Schick Anna eine E-Mail", "send_email"),
        ("Lege einen Kalendereintrag für morgen an", "create_event"),
        ("Datei löschen", "delete_file"),
        ("Datei loeschen", "delete_file"),
        ("Mach im Besprechungsraum das Licht an", "turn_on_light"),
        ("Stelle dem Kunden eine Rechnung aus", "create_invoice"),
    ]);
}

#[test]
fn a_spanish_request_finds_an_english_tool() {
    check(&[
        ("Envía un correo electrónico a Ana", "send_email"),
        ("¿Qué reuniones tengo esta semana en el calendario?", "list_events"),
        ("Borra el archivo", "delete_file"),
        ("Crea una factura para el cliente", "create_invoice"),
        ("Enciende la luz de la cocina", "turn_on_light"),
    ]);
}

#[test]
fn a_french_request_finds_an_english_tool() {
    check(&[
        ("Envoie un courriel à Anne", "send_email"),
        ("Supprime le fichier", "delete_file"),
        ("Quel temps fera-t-il ? Donne-moi la météo", "get_forecast"),
        ("Rembourse le paiement", "refund_payment"),
        ("Téléverser un fichier", "upload_file"),
    ]);
}

#[test]
fn a_chinese_request_in_either_script_finds_an_english_tool() {
    check(&[
        ("给小王发一封邮件", "send_email"),
        ("給小王發一封郵件", "send_email"),
        ("删除这个文件", "delete_file"),
        ("查一下明天的天气预报", "get_forecast"),
        ("給客戶退款", "refund_payment"),
        ("打开客厅的灯", "turn_on_light"),
    ]);
}

#[test]
fn a_japanese_request_finds_an_english_tool() {
    check(&[
        ("田中さんにメールを送って", "send_email"),
        ("ファイルを削除してください", "delete_file"),
        ("明日の天気予報を教えて", "get_forecast"),
        ("顧客への請求書を作成したい", "create_invoice"),
        ("プルリクエストをマージする", "merge_pull_request"),
    ]);
}

#[test]
fn an_english_request_is_not_translated() {
    for request in [
        "send an email to Müller in Paris",
        "What is the weather in Los Angeles?",
        "Please, on pain of deletion, note the actual sale",
        "brief me about the rate of the file chat",
        "createIssue in GitHub on S3",
        "delete die and des from the list of words for me",
        "",
        "  \n\t",
        "42 + 3 = ?",
        "🚀🚀🚀",
    ] {
        assert_eq!(english(request), None, "{request}");
    }
}

#[test]
fn names_and_what_lies_between_words_stay() {
    for (request, expected) in [
        ("Öffne GitHub und lösche Datei_7", "open GitHub and delete Datei_7"),
        ("ファイルをS3に保存", "file S3 save"),
        ("在Slack里发消息", "Slack send message"),
    ] {
        assert_eq!(english(request).as_deref(), Some(expected), "{request}");
    }
}

#[test]
fn a_german_imperative_may_lack_its_ending() {
    check(&[
        ("Erstell einen Termin im Kalender", "create_event"),
        ("Entfern den Ordner", "delete_file"),
        ("Erstatt die Zahlung", "refund_payment"),
    ]);
}

#[test]
fn spanish_verbs_are_read_without_the_pronouns_at_their_end() {
    for (request, expected) in [
        ("Léeme el archivo", "read file"),
        ("Guárdalo en la carpeta", "save folder"),
        ("Quiero descargarlos del servidor", "download server"),
    ] {
        assert_eq!(english(request).as_deref(), Some(expected), "{request}");
    }
}

#[test]
fn a_name_within_a_sentence_is_no_form_of_a_word() {
    for (request, name) in
        [("Asigna la tarea a Marta", "Marta"), ("Envoie la facture à Factual", "Factual")]
    {
        let english = english(request).unwrap_or_default();
        assert!(english.ends_with(name), "{request}: {english}");
    }
}

#[test]
fn compounds_are_read_by_their_parts() {
    for (request, expected) in [
        ("die Rechnungsdatei", "invoice file"),
        ("der Kundenkalender", "customer calendar"),
        ("das Wohnzimmerlicht", "living room light"),
    ] {
        let english = english(request).unwrap_or_default();
        assert!(english.starts_with(expected), "{request}: {english}");
    }
}

#[test]
fn single_words_of_another_language_are_read_in_an_english_request() {
    check(&[("delete file und ordner", "delete_file"), ("upload fichier", "upload_file")]);
    check(&[("merge 请求", "merge_pull_request"), ("请 upload 文件", "upload_file")]);
}

#[test]
fn a_tool_described_in_the_requests_language_is_found_by_its_own_words() {
    check(&[("Wie hoch ist der Pegelstand des Flusses bei Regen?", "pegelstand")]);
}

#[test]
fn a_request_in_an_unknown_script_or_language_stays() {
    for request in ["отправить письмо", "إرسال بريد", "шлях до файлу", "zxqv wrtp", "ไทย"]
    {
        let english = english(request).unwrap_or_default();
        assert!(english.is_empty(), "{request}: {english}");
    }
}

#[test]
fn a_huge_request_is_read_in_part() {
    let german = "Datei löschen und ".repeat(100_000);
    let chinese = "删除文件".repeat(100_000);
    let one = "ß".repeat(100_000);
    for request in [german, chinese, one] {
        let english = english(&request).unwrap_or_default();
        assert!(english.len() < 32 * super::REQUEST_BYTES, "{}", english.len());
    }
}

#[test]
fn another_language_finds_nothing_that_is_hidden() {
    let index = index();
    let shows = |place: usize| TOOLS[place].0 != "files";
    let found = index.search("Lösche die Datei", Mode::Hybrid, shows, 10).matches;
    assert!(found.iter().all(|found| shows(found.place)));
}

proptest! {
    #[test]
    fn any_request_can_be_translated(request in "\\PC{0,60}|[a-zäöüß一-三の送 ]{0,60}") {
        let _ = Translation::of(&request, &|term| term.len() % 2 == 0);
    }
}
