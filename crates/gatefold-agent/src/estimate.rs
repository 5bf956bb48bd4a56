//! How large texts are, and how many tokens they have where nobody says it.

use gatefold_dispatch::UsedTokens;
use gatefold_model::{
    AssistantMessage, AssistantPart, CallArguments, History, ModelAnswer, TokenUsage, ToolResult,
    Turn, UserPart,
};

use crate::ToolOffer;

/// About how many bytes a token has, rather too few: a conversation should end before the endpoint
/// refuses it, and what is not reported should not be cheaper than what is.
pub(crate) const TOKEN_BYTES: u64 = 3;

/// What an image counts as, in bytes of text: the well-known providers make about 1,600 tokens of one, however
/// many bytes it has. Three bytes a token, as above.
const IMAGE_ROOM: usize = 4_800;

/// The tokens of a prompt.
pub(crate) fn prompt_tokens(offer: &ToolOffer, history: &History) -> u64 {
    let written = history.turns().iter().map(written_bytes);
    tokens_of(written.fold(offer.bytes(), usize::saturating_add))
}

pub(crate) fn tokens_of(bytes: usize) -> u64 {
    (bytes as u64).div_ceil(TOKEN_BYTES)
}

/// What a request took: as its endpoint reports it, or else about as much as its texts have. A provider that
/// reports nothing is not free.
pub(crate) fn count_tokens(answer: &ModelAnswer, prompt: u64) -> UsedTokens {
    let TokenUsage { input, output, cached, reported_total, .. } = answer.usage;
    // No prompt has no tokens at all, and no answer that says something.
    let reported = |count: Option<u64>| count.filter(|count| *count > 0);
    let guess = || tokens_of(answer_bytes(&answer.message));
    let (input, output, is_estimated) = match (reported(input), reported(output), reported_total) {
        (Some(input), Some(output), _) => (input, output, false),
        (Some(input), None, Some(total)) if total > input => (input, total - input, false),
        (None, Some(output), Some(total)) if total > output => (total - output, output, false),
        (None, None, Some(total)) if total > 0 => {
            let output = guess().min(total);
            (total - output, output, true)
        }
        (input, output, _) => (input.unwrap_or(prompt), output.unwrap_or_else(guess), true),
    };
    UsedTokens { input, cached: cached.unwrap_or(0).min(input), output, is_estimated }
}

/// About how many bytes of text a turn counts as.
pub(crate) fn written_bytes(turn: &Turn) -> usize {
    let parts = parts_of(turn).map(part_bytes).sum::<usize>();
    match turn {
        Turn::User(_) => parts,
        Turn::Round(round) => parts + answer_bytes(round.said()),
    }
}

/// About how many bytes of text a result counts as.
pub(crate) fn result_bytes(result: &ToolResult) -> usize {
    result.parts.iter().map(part_bytes).sum()
}

fn part_bytes(part: &UserPart) -> usize {
    match part {
        UserPart::Text(text) => text.len(),
        UserPart::Image(_) => IMAGE_ROOM,
    }
}

fn answer_bytes(said: &AssistantMessage) -> usize {
    let part_bytes = |part: &AssistantPart| match part {
        AssistantPart::Text { text, .. } | AssistantPart::Thinking { text, .. } => text.len(),
        AssistantPart::Call(call) => match &call.arguments {
            CallArguments::Object(json) => call.name.len() + json.text().len(),
            CallArguments::Malformed { .. } => call.name.len(),
        },
        AssistantPart::Other(json) => json.text().len(),
    };
    said.parts.iter().map(part_bytes).sum()
}

/// What a turn tells the model.
fn parts_of(turn: &Turn) -> impl Iterator<Item = &UserPart> {
    let (said, results) = match turn {
        Turn::User(message) => (message.parts(), &[][..]),
        Turn::Round(round) => (&[][..], round.results()),
    };
    said.iter().chain(results.iter().flat_map(|result| &result.parts))
}

/// How many bytes a turn's images take in a request, in base64.
pub(crate) fn image_bytes(turn: &Turn) -> usize {
    parts_of(turn).map(part_image_bytes).sum()
}

pub(crate) fn part_image_bytes(part: &UserPart) -> usize {
    match part {
        UserPart::Text(_) => 0,
        UserPart::Image(image) => image.bytes().len().div_ceil(3) * 4,
    }
}

#[cfg(test)]
mod tests {
    use gatefold_model::{Api, Fields, Origin, StopReason};

    use super::*;

    fn check(usage: TokenUsage, expected: (u64, u64, bool)) {
        let url = "http://127.0.0.1:1/v1".parse().expect("it is one");
        let origin = Origin::new(Api::OpenAiChat, &url, "m");
        let parts = vec![AssistantPart::Text { text: "x".repeat(30), raw: None }];
        let message = AssistantMessage { origin, parts, extra: Fields::default() };
        let answer = ModelAnswer { message, stop: StopReason::Done, usage };
        let used = count_tokens(&answer, 70);
        assert_eq!((used.input, used.output, used.is_estimated), expected, "{usage:?}");
    }

    #[test]
    fn what_is_not_reported_is_estimated_and_said_to_be() {
        let of = |input, output, reported_total| TokenUsage {
            input,
            output,
            reported_total,
            ..TokenUsage::default()
        };
        for (usage, expected) in [
            (of(Some(50), Some(20), None), (50, 20, false)),
            (of(Some(50), Some(20), Some(1)), (50, 20, false)),
            (of(Some(50), None, Some(60)), (50, 10, false)),
            (of(None, Some(20), Some(60)), (40, 20, false)),
            (of(None, None, Some(60)), (50, 10, true)),
            (of(None, None, Some(6)), (0, 6, true)),
            (of(Some(50), None, None), (50, 10, true)),
            (of(None, Some(20), None), (70, 20, true)),
            // Some servers report nothing but zeros.
            (of(Some(0), Some(0), Some(0)), (70, 10, true)),
            (of(None, None, None), (70, 10, true)),
            (of(Some(u64::MAX), Some(u64::MAX), None), (u64::MAX, u64::MAX, false)),
        ] {
            check(usage, expected);
        }
    }
}
