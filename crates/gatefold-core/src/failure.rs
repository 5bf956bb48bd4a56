//! What became of a call that has no result: what the source did instead, and what the call may have
//! done. These texts go to models, so they name no address and repeat nothing that a source said.

use std::borrow::Cow;
use std::error::Error;
use std::fmt;
use std::time::Duration;

use crate::Hints;

/// What a source answered instead of a result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AnswerFault {
    /// A redirect that is not followed, or not any further.
    Redirect,
    /// A redirect, and nothing could be had where it leads.
    RedirectFailed,
    /// The beginning of an answer. Then the connection broke.
    EndedEarly,
    /// An answer that did not end within the call's time.
    Endless,
    /// One that cannot be read: in a coding that was not asked for, for example.
    Unreadable,
    /// An error instead of a greeting.
    RefusedGreeting,
    /// An error instead of what it lists.
    RefusedList,
    /// This status of HTTP, and nothing to be read beside it.
    Status(u16),
}

impl fmt::Display for AnswerFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Redirect => "answered with a redirect that is not followed",
            Self::RedirectFailed => "answered with a redirect, and nothing was answered there",
            Self::EndedEarly => "ended its answer early",
            Self::Endless => "did not end its answer in time",
            Self::Unreadable => "sent an answer that cannot be read",
            Self::RefusedGreeting => "refused the gateway's greeting",
            Self::RefusedList => "refused to list its tools",
            Self::Status(status) => {
                let meaning = match status {
                    401 => ": it does not accept the gateway's credentials",
                    403 => ": it does not permit this",
                    404 | 405 => ": it knows nothing of this",
                    429 => ": it has had too many calls",
                    502..=504 => ": it cannot serve for now",
                    500.. => ": it failed",
                    _ => "",
                };
                return write!(f, "answered with status {status}{meaning}");
            }
        })
    }
}

/// What a call without a result may have done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CallEffect {
    /// It was not carried out.
    Nothing,
    /// It was delivered, and twice does no more than once.
    Repeatable,
    /// It was delivered, and nobody knows whether it was carried out.
    Possible,
    /// It was carried out.
    Certain,
}

impl CallEffect {
    /// The effect of a call whose answer says that it was carried out.
    pub fn of_answered(hints: &Hints) -> Self {
        if hints.is_repeatable() { Self::Repeatable } else { Self::Certain }
    }

    /// What the caller can do, where the source names a time to wait or none.
    pub fn advice(self, retry_after: Option<Duration>) -> Cow<'static, str> {
        let when = retry_after.map(|wait| format!("in {} s", wait.as_millis().div_ceil(1000)));
        match (self, when) {
            (Self::Nothing, None) => "nothing was done".into(),
            (Self::Nothing, Some(when)) => {
                format!("nothing was done; it may be called again {when}").into()
            }
            (Self::Repeatable, None) => {
                "it was delivered, and calling it again does no harm".into()
            }
            (Self::Repeatable, Some(when)) => {
                format!("it was delivered, and may be called again {when}").into()
            }
            (Self::Possible, None) => {
                "it may have taken effect, so find out before you call it again".into()
            }
            (Self::Possible, Some(when)) => {
                format!("it may have taken effect, so find out before you call it again {when}")
                    .into()
            }
            (Self::Certain, _) => "it took effect, so do not call it again".into(),
        }
    }
}

/// Why a call was not sent, although its source may be well.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UnsentCause {
    /// The source describes the tool differently by now.
    Changed,
    /// There were no credentials to send it with.
    Credentials,
    /// Its configuration, or the description it was made from, lacks something.
    SetUp,
}

impl fmt::Display for UnsentCause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Changed => "its definition has just changed; look it up again",
            Self::Credentials => {
                "the gateway got no credentials for it; try again in a minute, and tell the user if \
                 that does not help"
            }
            Self::SetUp => {
                "it is not set up completely; tell the user, and do not call it again before that \
                 is mended"
            }
        })
    }
}

/// An error followed by its causes, for the operator. A cause that the text already has is left out.
pub fn with_causes(error: &(dyn Error + 'static)) -> String {
    let mut text = error.to_string();
    let mut next = error.source();
    while let Some(cause) = next {
        let said = cause.to_string();
        if !text.contains(&said) {
            text.push_str(": ");
            text.push_str(&said);
        }
        next = cause.source();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, thiserror::Error)]
    #[error("{text}")]
    struct Link {
        text: &'static str,
        #[source]
        source: Option<Box<Link>>,
    }

    #[test]
    fn a_chain_says_everything_once() {
        let link = |text, source: Option<Link>| Link { text, source: source.map(Box::new) };
        let chain = link("a failed: b", Some(link("b", Some(link("c", None)))));
        assert_eq!(with_causes(&chain), "a failed: b: c");
    }

    #[test]
    fn what_may_have_taken_effect_is_never_to_be_repeated_blindly() {
        let wait = Some(Duration::from_millis(1500));
        for (effect, retry_after, expected) in [
            (CallEffect::Nothing, wait, "nothing was done; it may be called again in 2 s"),
            (CallEffect::Repeatable, None, "it was delivered, and calling it again does no harm"),
            (
                CallEffect::Possible,
                None,
                "it may have taken effect, so find out before you call it again",
            ),
            (CallEffect::Certain, wait, "it took effect, so do not call it again"),
        ] {
            assert_eq!(effect.advice(retry_after), expected);
        }
    }
}
