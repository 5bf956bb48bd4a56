"""Trains the embedding table and writes it.

    python train.py --texts texts.jsonl --teacher DIR --out table.bin

1. Vocabulary: words of the texts and of the teacher's tokenizer, its `##` pieces, bigrams.
2. Initial rows: the teacher's vector of each entry alone, reduced by PCA, weighted by rarity.
3. Ridge regression of the rows onto the teacher's vectors of whole texts.
4. Contrast: a request, a name or a first sentence finds its tool among the batch's others, and a
   text finds its teacher's vector (InfoNCE, both directions). A batch is made of whole servers,
   so most negatives are hard; those that mean the same are masked.
"""

import argparse
import math
import random
import time
from collections import Counter, defaultdict
from dataclasses import dataclass
from pathlib import Path

import corpus
import numpy as np
from phrasing import request, requests_for_two
from scipy import sparse
from sources import Tool, first_sentence
from table import Table, Vocabulary, bags, unit
from teach import Teacher
from words import words

DIMENSIONS = 256
ENTRIES = 36_000
BIGRAMS = 5_000
MIN_COUNT = 3
SEED = 7
STEPS = 1500
BATCH = 512
RATE = 2e-4
TEMPERATURE = 0.05
TEACHER_WEIGHT = 5.0
RANKING_WEIGHT = 1.0
PAIR_WEIGHT = 0.5
RIDGE = 0.3
CANDIDATES = 48  # of the teacher's ranking for a request
LIST = 12  # of those, drawn for one step
RANKINGS_PER_STEP = 96
TEACHER_TEMPERATURE = 0.05
OWN_SHARE = 0.5  # of the wanted shares, what the request's own tools get; the rest is the teacher's


def vocabulary(texts: list[str], tokens: list[str]) -> Vocabulary:
    """The entries, the most frequent first until the table is full; sorted by bytes."""
    counts: Counter = Counter()
    pairs: Counter = Counter()
    for text in texts:
        found = words(text)
        counts.update(found)
        pairs.update(zip(found, found[1:], strict=False))
    total = sum(counts.values())
    scored = []
    for (first, second), count in pairs.items():
        if count >= 25 and first.isalpha() and second.isalpha():
            information = math.log(count * total / (counts[first] * counts[second]))
            scored.append((count * information, f"{first} {second}"))
    bigrams = [pair for _, pair in sorted(scored, reverse=True)[:BIGRAMS]]
    pieces = [token for token in tokens if token.startswith("##") and token[2:].isascii()
              and token[2:].isalnum()]
    letters = [chr(code) for code in range(ord("a"), ord("z") + 1)] + list("0123456789")
    known = {token for token in tokens if token.isascii() and token.isalnum()}
    ranked = sorted(counts, key=lambda word: (-(counts[word] + (word in known)), word))
    ranked = [word for word in ranked if word.isascii() and len(word) < 24
              and (counts[word] >= MIN_COUNT or word in known)]
    ranked += sorted(known - set(ranked))
    entries = set(pieces) | set(bigrams) | set(letters)
    for word in ranked:
        if len(entries) >= ENTRIES:
            break
        entries.add(word)
    return Vocabulary(sorted(entries, key=str.encode))


def initial_rows(table_words: Vocabulary, vectors: np.ndarray, weights: np.ndarray,
                 projection: np.ndarray) -> np.ndarray:
    """The teacher's vectors of the entries alone, reduced and weighted; bigrams begin at zero."""
    rows = unit(vectors.astype(np.float32)) @ projection
    scale = np.array([0.0 if " " in entry else 0.5 if entry.startswith("##") else 1.0
                      for entry in table_words.entries], np.float32)
    return (rows * (weights * scale)[:, None]).astype(np.float32)


def rarity(matrix: sparse.csr_matrix) -> np.ndarray:
    """Smooth inverse frequency of each row over the texts (Arora et al., 2017)."""
    share = np.bincount(matrix.indices, minlength=matrix.shape[1]) / matrix.shape[0]
    return (2e-3 / (2e-3 + share)).astype(np.float32)


def ridge(matrix: sparse.csr_matrix, targets: np.ndarray, start: np.ndarray,
          strength: float, steps: int = 25) -> np.ndarray:
    """Rows whose scaled sums come nearest to the targets, held to where they start.

    Conjugate gradients on the normal equations, all columns at once, preconditioned by how often
    an entry occurs.
    """
    sizes = np.sqrt(np.maximum(np.diff(matrix.indptr), 1)).astype(np.float32)
    scaled = (sparse.diags(1 / sizes).astype(np.float32) @ matrix).tocsr()
    across = scaled.T.tocsr()
    often = strength + np.asarray(scaled.multiply(scaled).sum(axis=0)).reshape(-1, 1)
    often = often.astype(np.float32)
    moved = np.zeros_like(start)
    left = across @ (targets - scaled @ start)
    towards = left / often
    energy = (left * towards).sum(axis=0)
    for _ in range(steps):
        image = across @ (scaled @ towards) + strength * towards
        stride = energy / np.maximum((towards * image).sum(axis=0), 1e-12)
        moved += stride * towards
        left -= stride * image
        eased = left / often
        before, energy = energy, (left * eased).sum(axis=0)
        towards = eased + (energy / np.maximum(before, 1e-12)) * towards
    return start + moved


@dataclass
class Pairs:
    """What the contrast learns from: bags of two texts that belong together, and whose they are."""

    left: sparse.csr_matrix
    right: sparse.csr_matrix
    owner: np.ndarray  # the tool that a pair is about
    group: np.ndarray  # its server


def pairs_of(tools: list[Tool], table_words: Vocabulary, seed: int) -> Pairs:
    """Name to description, first sentence to the rest, and drawn requests to the whole tool."""
    chance = random.Random(seed)
    servers = defaultdict(list)
    for index, tool in enumerate(tools):
        servers[tool.server].append(index)
    left, right, owner = [], [], []
    for index, tool in enumerate(tools):
        text = corpus.tool_text(tool)
        drawn = chance.random()
        if tool.source == "wordnet":
            query = request(tool, chance) if tool.requests and drawn < 0.6 else tool.name
            target = tool.description if query == tool.name else text
        elif drawn < 0.15:
            query, target = f"{tool.server} {tool.name}", tool.description
        elif drawn < 0.25:
            query, target = tool.description, f"{tool.server} {tool.name}"
        elif drawn < 0.35 and first_sentence(tool.description) != tool.description:
            query = first_sentence(tool.description)
            target = f"{tool.name} {tool.description[len(query):]}"
        elif drawn < 0.45 and len(servers[tool.server]) > 1:
            query = requests_for_two(tool, tools[chance.choice(servers[tool.server])], chance)
            target = text
        else:
            query, target = request(tool, chance), text
        left.append(query)
        right.append(target)
        owner.append(index)
    names = {server: number for number, server in enumerate(servers)}
    return Pairs(bags(table_words, left), bags(table_words, right), np.array(owner),
                 np.array([names[tool.server] for tool in tools]))


class Adam:
    """Adam (Kingma and Ba, 2015) over the rows that a batch touches."""

    def __init__(self, rows: np.ndarray, rate: float) -> None:
        self.rows, self.rate, self.step = rows, rate, 0
        self.first = np.zeros_like(rows)
        self.second = np.zeros(rows.shape[0], np.float32)  # one a row: rows keep their direction

    def update(self, gradient: sparse.csr_matrix | np.ndarray, touched: np.ndarray,
               rate: float) -> None:
        """One step for the touched rows."""
        self.step += 1
        first = 0.9 * self.first[touched] + 0.1 * gradient
        second = 0.99 * self.second[touched] + 0.01 * (gradient**2).mean(axis=1)
        self.first[touched], self.second[touched] = first, second
        size = np.sqrt(second / (1 - 0.99**self.step)) + 1e-8
        self.rows[touched] -= (self.rate * rate / (1 - 0.9**self.step)) * first / size[:, None]


def contrast(left: np.ndarray, right: np.ndarray, same: np.ndarray,
             temperature: float) -> tuple[float, np.ndarray, np.ndarray]:
    """InfoNCE in both directions over unit vectors; `same` marks pairs that are no negatives.

    The loss and its gradients by `left` and `right` come back.
    """
    logits = left @ right.T / temperature
    logits[same] = -1e4
    loss, pull = 0.0, np.zeros_like(logits)
    for axis in (1, 0):
        top = logits.max(axis=axis, keepdims=True)
        share = np.exp(logits - top)
        share /= share.sum(axis=axis, keepdims=True)
        loss -= float(np.log(np.diagonal(share) + 1e-12).mean()) / 2
        share[np.diag_indices(len(share))] -= 1
        pull += share
    pull /= 2 * len(logits) * temperature
    return loss, pull @ right, pull.T @ left


def through_unit(gradient: np.ndarray, raw: np.ndarray) -> np.ndarray:
    """The gradient by a vector from that by the same vector at unit length."""
    length = np.maximum(np.linalg.norm(raw, axis=1, keepdims=True), 1e-6)
    direction = raw / length
    return (gradient - (gradient * direction).sum(axis=1, keepdims=True) * direction) / length


def batches(groups: np.ndarray, size: int, chance: np.random.Generator, per_group: int = 12):
    """Endless batches of pairs, up to `per_group` of one server together."""
    members = [chance.permutation(part) for part in
               np.split(np.argsort(groups, kind="stable"),
                        np.cumsum(np.bincount(groups))[:-1]) if len(part)]
    chunks = [part[start:start + per_group] for part in members
              for start in range(0, len(part), per_group)]
    while True:
        batch: list[int] = []
        for number in chance.permutation(len(chunks)):
            batch.extend(chunks[number])
            if len(batch) >= size:
                yield np.array(batch[:size])
                batch = []


@dataclass
class Taught:
    """Texts that the teacher has seen, requests first: their bags and its vectors, reduced."""

    matrix: sparse.csr_matrix
    vectors: np.ndarray
    rankings: "Rankings"


@dataclass
class Rankings:
    """For each request the texts that the teacher finds nearest, with its cosines.

    The request's own tools come first. `places` are rows of the taught texts.
    """

    places: np.ndarray  # requests x CANDIDATES
    cosines: np.ndarray
    own: np.ndarray  # requests x CANDIDATES, 1 over the number of own tools where one stands;
    # requests without own tools have none


def rank(vectors: np.ndarray, requests: int, own: list[list[int]],
         offered: np.ndarray) -> Rankings:
    """The teacher's rankings of the taught tools for its requests.

    `own` and `offered`, the tools that may be ranked beside the own ones, count from the first
    tool, which follows the last request in `vectors`.
    """
    tools = vectors[requests:]
    hidden = np.setdiff1d(np.arange(len(tools)), offered)
    places = np.zeros((requests, CANDIDATES), np.int64)
    for start in range(0, requests, 1024):
        near = vectors[start:min(start + 1024, requests)] @ tools.T
        near[:, hidden] = -1.0
        for row, wanted in enumerate(own[start:start + len(near)]):
            near[row, wanted] = 2.0  # before all others
        best = np.argpartition(-near, CANDIDATES, axis=1)[:, :CANDIDATES]
        best_first = np.argsort(-np.take_along_axis(near, best, 1), axis=1, kind="stable")
        places[start:start + len(near)] = np.take_along_axis(best, best_first, 1)
    marks = np.zeros(places.shape, np.float32)
    for row, wanted in enumerate(own):
        if wanted:
            marks[row, :len(wanted)] = 1 / len(wanted)
    cosines = np.einsum("qd,qcd->qc", vectors[:requests], tools[places])
    return Rankings(places + requests, cosines.astype(np.float32), marks)


def listwise(asked: np.ndarray, offered: np.ndarray, wanted: np.ndarray,
             temperature: float) -> tuple[float, np.ndarray, np.ndarray]:
    """Cross entropy of wanted shares over each request's own list, and its gradients.

    `asked` is requests x d, `offered` requests x list x d, both of unit length.
    """
    logits = np.einsum("qd,qcd->qc", asked, offered) / temperature
    share = np.exp(logits - logits.max(axis=1, keepdims=True))
    share /= share.sum(axis=1, keepdims=True)
    loss = -float((wanted * np.log(share + 1e-12)).sum(axis=1).mean())
    pull = (share - wanted) / (len(asked) * temperature)
    return loss, np.einsum("qc,qcd->qd", pull, offered), pull[:, :, None] * asked[:, None, :]


def ranking_step(taught: Taught, rows: np.ndarray, chance: np.random.Generator,
                 weight: float) -> tuple[float, sparse.csr_matrix, np.ndarray]:
    """One batch of the teacher's rankings: the loss, the bags and the pull on their sums."""
    lists = taught.rankings
    asked = chance.integers(0, len(lists.places), RANKINGS_PER_STEP)
    drawn = np.argsort(chance.random((len(asked), CANDIDATES)) - 2 * (lists.own[asked] > 0), axis=1)
    drawn = drawn[:, :LIST]
    places = np.take_along_axis(lists.places[asked], drawn, 1)
    cosines = np.take_along_axis(lists.cosines[asked], drawn, 1) / TEACHER_TEMPERATURE
    soft = np.exp(cosines - cosines.max(axis=1, keepdims=True))
    own = np.take_along_axis(lists.own[asked], drawn, 1)
    share = OWN_SHARE * own.sum(axis=1, keepdims=True)
    wanted = OWN_SHARE * own + (1 - share) * soft / soft.sum(axis=1, keepdims=True)
    bag = sparse.vstack([taught.matrix[asked], taught.matrix[places.ravel()]]).tocsr()
    sums = bag @ rows
    near, far = sums[:len(asked)], sums[len(asked):]
    loss, by_asked, by_offered = listwise(unit(near), unit(far).reshape(*places.shape, -1), wanted,
                                          TEMPERATURE)
    pull = np.vstack([through_unit(by_asked, near),
                      through_unit(by_offered.reshape(len(far), -1), far)])
    return loss, bag, weight * pull


def fit(rows: np.ndarray, tools: list[Tool], table_words: Vocabulary, taught: Taught, *,
        steps: int, size: int, rate: float, temperature: float, teacher_weight: float,
        ranking_weight: float, pair_weight: float = 1.0, watch=None) -> np.ndarray:
    """The contrastive stage; `watch(step, rows)` is called now and then."""
    chance = np.random.default_rng(SEED)
    optimiser = Adam(rows, rate)
    texts_of = np.array([hash((tool.description.lower())) for tool in tools])
    names_of = np.array([hash((tool.server, tool.name.lower())) for tool in tools])
    fresh, stream, began, losses = None, None, time.time(), []
    every = max(1, len(tools) // size)
    for step in range(steps):
        if step % every == 0:
            fresh = pairs_of(tools, table_words, SEED + step)
            stream = batches(fresh.group, size, chance)
        batch = next(stream)
        left, right = fresh.left[batch], fresh.right[batch]
        owner = fresh.owner[batch]
        other = chance.integers(0, taught.matrix.shape[0], size)
        lesson = taught.matrix[other]
        a, b, c = left @ rows, right @ rows, lesson @ rows
        same = texts_of[owner][:, None] == texts_of[owner]
        same |= names_of[owner][:, None] == names_of[owner]
        np.fill_diagonal(same, False)
        loss, ga, gb = contrast(unit(a), unit(b), same, temperature)
        wanted = taught.vectors[other]
        taught_loss, gc = -float((unit(c) * wanted).sum(axis=1).mean()), -wanted / size
        ranked_loss, bag, pulls = ranking_step(taught, rows, chance, ranking_weight)
        whole = sparse.vstack([left, right, lesson, bag]).tocsr()
        pull = np.vstack([pair_weight * through_unit(ga, a), pair_weight * through_unit(gb, b),
                          teacher_weight * through_unit(gc, c), pulls])
        touched = np.unique(whole.indices)
        gradient = (whole.T @ pull)[touched]
        optimiser.update(gradient, touched, 0.5 * (1 + math.cos(math.pi * step / steps)))
        losses.append((loss, taught_loss, ranked_loss))
        if watch and (step + 1) % 500 == 0:
            mean = np.mean(losses[-200:], axis=0)
            print(f"step {step + 1}: loss {mean[0]:.3f}, teacher {mean[1]:.3f}, "
                  f"ranking {mean[2]:.3f}, "
                  f"{time.time() - began:.0f} s", flush=True)
            watch(step + 1, rows)
    return rows


@dataclass
class Materials:
    """Everything that the fitting reads, prepared once."""

    tools: list[Tool]
    words: Vocabulary
    start: np.ndarray
    taught: Taught


def prepare(texts: Path, cache: Path) -> Materials:
    """Vocabulary, the teacher's lessons and the initial rows."""
    tools, chosen, requests = corpus.lessons(texts)
    teacher = Teacher(cache)
    lessons = [text for text, _ in requests] + [corpus.tool_text(tools[i]) for i in chosen]
    vectors = np.vstack([teacher.vectors(lessons[:len(requests)]),
                         teacher.vectors(lessons[len(requests):])]).astype(np.float32)
    entries = vocabulary([corpus.tool_text(tool) for tool in tools] + lessons[:len(requests)],
                         list(teacher.tokenizer.get_vocab()))
    alone = teacher.vectors([entry.removeprefix("##") for entry in entries.entries])
    _, directions = np.linalg.eigh(vectors.T @ vectors)
    projection = directions[:, ::-1][:, :DIMENSIONS].astype(np.float32)
    matrix = bags(entries, lessons)
    start = initial_rows(entries, alone, rarity(matrix), projection)
    at = {tool: row for row, tool in enumerate(chosen)}
    own = [[at[tool] for tool in needed] for _, needed in requests]
    offered = np.array([at[tool] for tool in chosen if tools[tool].source != "wordnet"])
    rankings = rank(unit(vectors), len(requests), own, offered)
    return Materials(tools, entries, start, Taught(matrix, unit(vectors @ projection), rankings))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--texts", type=Path, required=True)
    parser.add_argument("--teacher", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--steps", type=int, default=STEPS)
    arguments = parser.parse_args()
    materials = prepare(arguments.texts, arguments.teacher)
    print(len(materials.tools), "tools,", len(materials.words.entries), "entries,",
          materials.taught.matrix.shape[0], "texts taught", flush=True)
    taught = materials.taught
    rows = ridge(taught.matrix, taught.vectors, materials.start, RIDGE, steps=30)
    rows = fit(rows, materials.tools, materials.words, taught, steps=arguments.steps, size=BATCH,
               rate=RATE, temperature=TEMPERATURE, teacher_weight=TEACHER_WEIGHT,
               ranking_weight=RANKING_WEIGHT, pair_weight=PAIR_WEIGHT,
               watch=lambda step, rows: None)
    Table(materials.words, rows).write(arguments.out)
    print(arguments.out.name, arguments.out.stat().st_size, "bytes")


if __name__ == "__main__":
    main()
