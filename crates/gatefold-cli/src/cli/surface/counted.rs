//! Surfaces with exact counts of their parts.

use anyhow::Context as _;
use gatefold_disclose::{ClientLimits, Surface};
use gatefold_exchange::Turn;

use crate::cli::tokens::{self, Tokens};

/// What one disclosure shows, with its cost.
pub(super) struct CountedSurface {
    /// The name of the disclosure.
    pub(super) name: String,
    /// How much its client can handle.
    pub(super) limits: ClientLimits,
    pub(super) shown: Surface,
    pub(super) instructions: Tokens,
    /// Of each tool's definition, in order.
    pub(super) tools: Vec<Tokens>,
}

impl CountedSurface {
    /// The texts of a turn's surface, to be counted.
    pub(super) fn texts(turn: &Turn) -> Vec<String> {
        let lists = turn.lists();
        let Surface { tools, instructions } = lists.surface();
        let tools = tools.iter().map(|tool| tool.definition.get().to_owned());
        std::iter::once(instructions.clone()).chain(tools).collect()
    }

    /// The surface with the counts of its texts, which come first.
    pub(super) fn new(
        turn: &Turn,
        counts: &mut impl Iterator<Item = Tokens>,
    ) -> anyhow::Result<Self> {
        let shown = turn.lists().surface().clone();
        let mut next = || counts.next().context("a count is missing");
        let instructions = next()?;
        let tools = shown.tools.iter().map(|_| next()).collect::<anyhow::Result<_>>()?;
        let audience = turn.audience();
        let name = audience.disclosure_name().to_string();
        Ok(Self { name, limits: *audience.limits(), shown, instructions, tools })
    }

    /// What it costs before a model has done anything.
    pub(super) fn at_rest(&self) -> Tokens {
        self.tools.iter().copied().chain([self.instructions]).sum()
    }
}

/// The surfaces of turns, counted all at once.
pub(super) async fn counted<const N: usize>(
    turns: [Turn; N],
) -> anyhow::Result<[CountedSurface; N]> {
    let texts: Vec<_> = turns.iter().flat_map(CountedSurface::texts).collect();
    let mut counts = tokens::count_in_both(&texts).await?.into_iter();
    let surfaces = turns.iter().map(|turn| CountedSurface::new(turn, &mut counts));
    let surfaces = surfaces.collect::<anyhow::Result<Vec<_>>>()?;
    surfaces.try_into().map_err(|_| anyhow::anyhow!("a surface is missing"))
}
