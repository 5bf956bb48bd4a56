use std::borrow::Cow;
use std::sync::OnceLock;

/// The longest signature that is kept, in bytes. Few are longer, and those are written again each time.
const KEPT_BYTES: usize = 1024;

/// A tool's signature as a text.
#[derive(Debug, Clone)]
pub(crate) struct SignatureText {
    text: Box<str>,
    /// Where the call ends and the result begins.
    call_bytes: usize,
}

impl SignatureText {
    pub(crate) fn new(mut call: String, output: Option<&str>) -> Self {
        let call_bytes = call.len();
        if let Some(output) = output {
            call.extend([" -> ", output]);
        }
        Self { text: call.into(), call_bytes }
    }

    /// The call and the result, if that is known.
    pub(crate) fn whole(&self) -> &str {
        &self.text
    }

    pub(crate) fn call(&self) -> &str {
        &self.text[..self.call_bytes]
    }
}

/// The signature of one tool, kept from when it is first needed.
#[derive(Debug, Default)]
pub(crate) struct SignatureSlot(OnceLock<Box<SignatureText>>);

impl SignatureSlot {
    pub(crate) fn get(&self, write: impl FnOnce() -> SignatureText) -> Cow<'_, SignatureText> {
        if let Some(kept) = self.0.get() {
            return Cow::Borrowed(kept);
        }
        let written = write();
        if written.text.len() > KEPT_BYTES {
            return Cow::Owned(written);
        }
        Cow::Borrowed(self.0.get_or_init(|| Box::new(written)))
    }
}
