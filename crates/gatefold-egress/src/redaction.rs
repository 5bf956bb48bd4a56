use reqwest::Url;

/// A URL that is safe to show: without user name, password, query and fragment.
pub fn redacted(url: &Url) -> String {
    let mut url = url.clone();
    url.set_query(None);
    url.set_fragment(None);
    // Both fail only for URLs that cannot have these parts.
    let _ = url.set_username("");
    let _ = url.set_password(None);
    url.into()
}
