"""Fine-tunes all-MiniLM-L6-v2 on requests and tools.

    python finetune.py --texts texts.jsonl --requests requests.tsv --invented invented.tsv --model FOLDER --out FOLDER

A request finds its tools among those of the batch, and a tool its requests (InfoNCE). A batch has requests
that a language model wrote, each with another tool of its server beside it, and some by template, in whole
servers, so many negatives are hard. Vectors of everyday talk are held to what they were.
"""

import argparse
import hashlib
import json
import math
import random
import time
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import torch
from bert import Encoder, Pieces, published, together, vectors
from corpus import MEASURED, load
from phrasing import request
from sources import Tool
from talk import everyday, intended
from torch.nn import functional
from words import words

SEED = 18
STEPS = 380
WRITTEN = 80  # written requests of a batch
TEMPLATES = 32
TOGETHER = 8  # of a server, among the requests by template
TALK = 20_000  # requests of everyday talk, and as many of intents
HELD = 64  # texts whose vectors are held
TEMPERATURE = 0.05
HELD_WEIGHT = 2.0
RATE = 5e-5
REQUEST_TOKENS, TOOL_TOKENS = 48, 64


def passage(tool: Tool) -> str:
    """What the binary gives the encoder of a tool."""
    names = " ".join(words(tool.server) + words(tool.name))
    return f"{names}: {tool.description}"


def digest(tool: Tool) -> str:
    """What a written request names its tool by: it was written for this very text."""
    return hashlib.sha256(f"{tool.source} {passage(tool)}".encode()).hexdigest()[:10]


@dataclass
class Lessons:
    """The tools, those of each server, and the requests with the tools that they need."""

    tools: list[Tool]
    servers: dict[str, list[int]]
    written: list[tuple[str, list[int]]]
    talk: list[str]


def invented(path: Path) -> Iterator[Tool]:
    """Tools that a language model invented, with its requests for them."""
    for line in path.read_text().splitlines():
        server, name, description, *requests = line.split("\t")
        yield Tool("invented", server, name, description, requests)


def lessons(texts: Path, requests: Path, inventions: Path) -> Lessons:
    """What to learn from. A written request whose tool is not among the texts stops the run."""
    tools = load(texts)
    at = {digest(tool): index for index, tool in enumerate(tools)}
    asked = [line.split("\t") for line in requests.read_text().splitlines()]
    wanted = {one for needed, _ in asked for one in needed.split("+")} - at.keys()
    for line in texts.read_text().splitlines() if wanted else ():
        tool = Tool(**json.loads(line))
        if (name := digest(tool)) in wanted:
            wanted.discard(name)
            at[name] = len(tools)
            tools.append(tool)
    written = [(text, [at[one] for one in needed.split("+")]) for needed, text in asked]
    for tool in invented(inventions):
        written += [(text, [len(tools)]) for text in tool.requests]
        tools.append(tool)
    servers = defaultdict(list)
    for index, tool in enumerate(tools):
        if tool.source not in ("wordnet", "debian") and not any(
                name in f"{tool.server} {tool.name}".lower() for name in MEASURED):
            servers[tool.server].append(index)
    talk = everyday(tools, TALK, SEED) + intended(tools, TALK, SEED)
    return Lessons(tools, dict(servers), written, talk)


class Draw:
    """Endless batches: requests, the tools that each needs, and the tools of the batch."""

    def __init__(self, lessons: Lessons) -> None:
        self.lessons, self.chance = lessons, random.Random(SEED)
        self.order: list[int] = []
        self.crowded = [members for members in lessons.servers.values() if len(members) >= 4]

    def __call__(self) -> tuple[list[str], list[list[int]], list[int]]:
        asked, needs, offered = [], [], []
        for _ in range(WRITTEN):
            if not self.order:
                self.order = list(range(len(self.lessons.written)))
                self.chance.shuffle(self.order)
            text, needed = self.lessons.written[self.order.pop()]
            asked.append(text)
            needs.append(needed)
            offered += needed
            beside = self.lessons.servers.get(self.lessons.tools[needed[0]].server, [])
            offered += self.chance.sample(beside, min(1, len(beside)))
        for _ in range(TEMPLATES // TOGETHER):
            members = self.chance.choice(self.crowded)
            for index in self.chance.sample(members, min(TOGETHER, len(members))):
                asked.append(request(self.lessons.tools[index], self.chance))
                needs.append([index])
                offered.append(index)
        return asked, needs, list(dict.fromkeys(offered))


def marks(material: Lessons, needs: list[list[int]],
          offered: list[int]) -> tuple[torch.Tensor, torch.Tensor]:
    """Which of the offered tools each request needs, and which say the same as one of these."""
    column = {index: at for at, index in enumerate(offered)}
    fits = torch.zeros(len(needs), len(offered), dtype=torch.bool)
    for row, needed in enumerate(needs):
        fits[row, [column[index] for index in needed]] = True
    said = [material.tools[index].description.lower() for index in offered]
    alike = torch.tensor([[one == other for other in said] for one in said])
    return fits, (fits.float() @ alike.float()) > 0


def contrast(asked: torch.Tensor, offered: torch.Tensor, fits: torch.Tensor,
             same: torch.Tensor) -> torch.Tensor:
    """InfoNCE in both directions; `fits` and `same` are requests x tools, as `marks` gives them."""
    logits = asked @ offered.T / TEMPERATURE
    logits = logits.masked_fill(same & ~fits, -1e4)
    wanted = fits.float()
    down = -(functional.log_softmax(logits, 1) * wanted).sum(1) / wanted.sum(1)
    needed = wanted.sum(0) > 0
    up = -(functional.log_softmax(logits, 0) * wanted).sum(0)[needed] / wanted.sum(0)[needed]
    return (down.mean() + up.mean()) / 2


class Learner:
    """Moves an encoder's weights: the rate rises over the first steps and falls as a cosine to zero."""

    def __init__(self, encoder: Encoder, steps: int, rate: float, rise: int, every: int) -> None:
        self.encoder, self.steps, self.rate, self.rise, self.every = encoder, steps, rate, rise, every
        self.optimiser = torch.optim.AdamW(encoder.parameters(), lr=rate, weight_decay=0.01, fused=True)
        self.figures: dict[str, list[float]] = defaultdict(list)
        self.began = time.time()

    def step(self, step: int, loss: torch.Tensor, **figures: torch.Tensor) -> None:
        """One step down; every so often the means of the figures since are printed."""
        share = 0.5 * (1 + math.cos(math.pi * step / self.steps)) * min(1.0, (step + 1) / self.rise)
        for group in self.optimiser.param_groups:
            group["lr"] = self.rate * share
        self.optimiser.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self.encoder.parameters(), 1.0)
        self.optimiser.step()
        for name, figure in figures.items():
            self.figures[name].append(figure.item())
        if (step + 1) % self.every == 0:
            means = (f"{name} {sum(all_) / len(all_):.4f}" for name, all_ in self.figures.items())
            print(f"step {step + 1}: {', '.join(means)}, {time.time() - self.began:.0f} s", flush=True)
            self.figures.clear()


def fine_tune(encoder: Encoder, pieces: Pieces, material: Lessons, before: Encoder,
              steps: int) -> None:
    """Trains in place; vectors of everyday talk are held to those of `before`."""
    draw = Draw(material)
    learner = Learner(encoder, steps, RATE, rise=30, every=50)
    for step in range(steps):
        encoder.train()
        asked, needs, offered = draw()
        texts = [passage(material.tools[index]) for index in offered]
        fits, same = marks(material, needs, offered)
        talk = draw.chance.sample(material.talk, HELD)
        left = together(encoder, pieces, asked + talk, REQUEST_TOKENS)
        right = together(encoder, pieces, texts, TOOL_TOKENS)
        loss = contrast(left[:len(asked)], right, fits, same)
        said = vectors(before, pieces, talk, REQUEST_TOKENS)
        held = 1 - (left[len(asked):] * said).sum(1).mean()
        learner.step(step, loss + HELD_WEIGHT * held, contrast=loss, held=held)


def arguments_of(description: str, model: str, steps: int) -> argparse.Namespace:
    """What both trainings are given; `model` names the option of the encoder to begin with."""
    parser = argparse.ArgumentParser(description=description)
    for name in ("texts", "requests", "invented", model, "out"):
        parser.add_argument(f"--{name}", type=Path, required=True)
    parser.add_argument("--steps", type=int, default=steps)
    return parser.parse_args()


def main() -> None:
    arguments = arguments_of(__doc__, "model", STEPS)
    torch.manual_seed(SEED)
    material = lessons(arguments.texts, arguments.requests, arguments.invented)
    print(len(material.tools), "tools,", len(material.written), "written requests", flush=True)
    encoder, vocabulary = published(arguments.model)
    before, _ = published(arguments.model)
    fine_tune(encoder, Pieces(vocabulary), material, before, arguments.steps)
    encoder.save(arguments.out, vocabulary)


if __name__ == "__main__":
    main()
