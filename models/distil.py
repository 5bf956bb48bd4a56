"""Makes the small encoder of the binary out of the fine-tuned one.

    python distil.py --texts texts.jsonl --requests requests.tsv --invented invented.tsv --teacher FOLDER --out FOLDER

The small one begins as some of the teacher's layers, with the pieces that texts about tools use most. It learns the
teacher's vectors of tools and requests, and beside that what the teacher learnt: that a request finds its tool.
"""

import random
import time
from collections import Counter

import torch
from bert import SPECIAL, Encoder, Pieces, Shape, together, vectors
from finetune import (
    REQUEST_TOKENS,
    SEED,
    TOOL_TOKENS,
    Draw,
    Learner,
    Lessons,
    arguments_of,
    contrast,
    lessons,
    marks,
    passage,
)
from phrasing import request

LAYERS = (0, 2, 4, 5)
PIECES = 12_500
TAUGHT = 192  # texts of a step
TOOLS, WORDS, TALK, TEMPLATES = 24_000, 4_000, 12_000, 10_000  # texts that the teacher reads
STEPS = 900
RATE = 2e-4
LESSON_WEIGHT, PAIRS_WEIGHT = 4.0, 0.15


def pruned(teacher: Encoder, vocabulary: list[str],
           texts: list[str]) -> tuple[Encoder, list[str]]:
    """The teacher with fewer layers, and with the pieces that the texts use most."""
    often: Counter = Counter()
    whole = Pieces(vocabulary)
    for start in range(0, len(texts), 4096):
        for row in whole.tokenizer.encode_batch(texts[start:start + 4096]):
            often.update(row.ids)
    letters = [number for number, piece in enumerate(vocabulary)
               if len(piece.removeprefix("##")) == 1 and piece.isascii()]
    kept = {vocabulary.index(piece) for piece in SPECIAL} | set(letters)
    for number, _ in often.most_common():
        if len(kept) >= PIECES:
            break
        kept.add(number)
    print(f"{sum(often[number] for number in kept) / sum(often.values()):.4f} of the pieces that occur are kept")
    order = sorted(kept)
    shape = Shape(**{**vars(teacher.shape), "pieces": len(order), "layers": len(LAYERS)})
    small = Encoder(shape)
    own = teacher.state_dict()
    state = {name: value for name, value in own.items() if not name.startswith("layers.")}
    state["pieces.weight"] = own["pieces.weight"][order]
    for at, layer in enumerate(LAYERS):
        for name, value in own.items():
            if name.startswith(f"layers.{layer}."):
                state[name.replace(f"layers.{layer}.", f"layers.{at}.", 1)] = value
    small.load_state_dict(state)
    return small, [vocabulary[number] for number in order]


def readings(material: Lessons) -> tuple[list[str], list[str]]:
    """The tools and the requests whose vectors the teacher gives."""
    chance = random.Random(SEED)
    tools = [index for members in material.servers.values() for index in members]
    chance.shuffle(tools)
    other = [index for index, tool in enumerate(material.tools) if tool.source in ("wordnet", "debian")]
    chosen = tools[:TOOLS] + chance.sample(other, WORDS)
    asked = [text for text, _ in material.written] + chance.sample(material.talk, TALK)
    asked += [request(material.tools[index], chance) for index in tools[:TEMPLATES]]
    return [passage(material.tools[index]) for index in chosen], asked


def distil(small: Encoder, pieces: Pieces, taught: list[str], wanted: torch.Tensor,
           material: Lessons, steps: int) -> None:
    """Trains in place; `wanted` are the teacher's vectors of the taught texts."""
    learner = Learner(small, steps, RATE, rise=100, every=100)
    draw, chance = Draw(material), random.Random(SEED)
    order: list[int] = []
    for step in range(steps):
        small.train()
        if len(order) < TAUGHT:
            order = list(range(len(taught)))
            chance.shuffle(order)
        chosen, order = order[:TAUGHT], order[TAUGHT:]
        pairs = torch.zeros(())
        if step % 2 == 0:
            asked, needs, offered = draw()
            fits, same = marks(material, needs, offered)
            left = together(small, pieces, asked, REQUEST_TOKENS)
            right = together(small, pieces, [passage(material.tools[index]) for index in offered], TOOL_TOKENS)
            pairs = contrast(left, right, fits, same)
        lesson = together(small, pieces, [taught[at] for at in chosen], TOOL_TOKENS)
        apart = (1 - (lesson * wanted[chosen].float()).sum(1)).mean()
        told = {"contrast": pairs} if step % 2 == 0 else {}
        learner.step(step, LESSON_WEIGHT * apart + PAIRS_WEIGHT * pairs, apart=apart, **told)


def main() -> None:
    arguments = arguments_of(__doc__, "teacher", STEPS)
    torch.manual_seed(SEED)
    material = lessons(arguments.texts, arguments.requests, arguments.invented)
    teacher, vocabulary = Encoder.load(arguments.teacher)
    tools, asked = readings(material)
    small, kept = pruned(teacher, vocabulary, tools + asked)
    began = time.time()
    whole = Pieces(vocabulary)
    wanted = torch.cat([vectors(teacher, whole, tools, TOOL_TOKENS),
                        vectors(teacher, whole, asked, REQUEST_TOKENS)]).half()
    print(f"{len(tools)} tools and {len(asked)} requests read in {time.time() - began:.0f} s", flush=True)
    distil(small, Pieces(kept), tools + asked, wanted, material, arguments.steps)
    small.save(arguments.out, kept)


if __name__ == "__main__":
    main()
