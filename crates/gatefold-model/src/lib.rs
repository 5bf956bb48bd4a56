//! Language models: the wires that they speak, and one client for all of them.
//!
//! A [`ModelClient`] sends a [`ModelRequest`] and gives back a [`ModelStream`] of [`Delta`]s, or at
//! once a whole [`ModelAnswer`]. Beneath it, [`Api::wire`] encodes and decodes without any I/O, so
//! that each dialect is tested as a function. What was said so far is a [`History`], which consists
//! of whole rounds: a call of the model is only ever in it together with its result, because providers
//! refuse a conversation in which one is missing.
//!
//! What only one provider understands (signed thoughts, fields that we do not know) travels along as
//! it was written, and goes back to the [`Origin`] that wrote it and to nobody else.
//!
//! This crate must not know configuration, storage, MCP or dispatch.

mod answer;
mod api;
mod arguments;
mod client;
mod detection;
mod error;
mod fields;
mod halves;
mod history;
mod json_mode;
mod message;
mod overflow;
mod request;
mod retry;
mod short_form;
mod spec;
mod sse;
mod stream;
mod wire;

pub use answer::{Delta, ModelAnswer, StopReason, TokenUsage};
pub use api::{Api, UnknownApi};
pub use arguments::CallArguments;
pub use client::ModelClient;
pub use detection::{DetectedModel, LOCAL_SERVERS, LocalServer, detect};
pub use error::ModelError;
pub use fields::{Fields, RawJson};
pub use history::{History, HistoryError, Round, ToolResult, Turn};
pub use message::{
    AssistantMessage, AssistantPart, ContentError, Image, Origin, ToolCall, UserMessage, UserPart,
};
pub use request::{AnswerSchema, ModelRequest, ToolChoice, ToolDefinition};
pub use retry::TryWatcher;
pub use short_form::{ShortForm, ShortFormError};
pub use spec::{ModelSpec, ToolCalls};
pub use sse::{EventTooLarge, SseDecoder, SseEvent};
pub use stream::ModelStream;
pub use wire::{StreamDecoder, Target, Wire};
