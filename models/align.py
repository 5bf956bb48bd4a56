"""Which words of two languages stand for each other, learnt from pairs of texts.

IBM model 1 in both directions (Brown et al. 1993, "The mathematics of statistical machine
translation"), trained to agree (Liang, Taskar and Klein 2006, "Alignment by agreement").
"""

from collections import Counter, defaultdict
from dataclasses import dataclass

import numpy as np

ALONE_ROUNDS = 4  # of each direction alone
AGREEING_ROUNDS = 4  # of both together
LEAST_LINK = 0.25  # how sure both directions together are of a link
MAX_PHRASE = 3  # words
MAX_TOKENS = 24  # of a text: in longer ones nearly anything can stand for anything


@dataclass
class Pair:
    """One pair of texts as words: the stems are aligned, the words are kept."""

    english: list[str]
    english_stems: list[str]
    other: list[str]
    other_stems: list[str]
    weight: float


def numbered(texts: list[list[str]]) -> tuple[list[np.ndarray], int]:
    """Each text as numbers of its words; 0 stands for no word."""
    numbers: dict[str, int] = defaultdict(lambda: len(numbers) + 1)
    rows = [np.fromiter((numbers[word] for word in text), np.int32, len(text)) for text in texts]
    return rows, len(numbers) + 1


class Links:
    """Every pair of words of every pair of texts, each side with a word that stands for none."""

    def __init__(self, pairs: list[Pair]) -> None:
        english, english_count = numbered([pair.english_stems for pair in pairs])
        other, other_count = numbered([pair.other_stems for pair in pairs])
        none = np.zeros(1, np.int32)
        ours, theirs, our_place, their_place, weights = [], [], [], [], []
        at_ours = at_theirs = 0
        self.starts = [0]
        for mine, yours, pair in zip(english, other, pairs, strict=True):
            mine, yours = np.concatenate((none, mine)), np.concatenate((none, yours))
            size = len(mine) * len(yours)
            ours.append(np.repeat(mine, len(yours)))
            theirs.append(np.tile(yours, len(mine)))
            our_place.append(np.repeat(np.arange(len(mine), dtype=np.int32), len(yours)) + at_ours)
            their_place.append(np.tile(np.arange(len(yours), dtype=np.int32), len(mine))
                               + at_theirs)
            weights.append(np.full(size, pair.weight, np.float32))
            at_ours += len(mine)
            at_theirs += len(yours)
            self.starts.append(self.starts[-1] + size)
        ours, theirs = np.concatenate(ours), np.concatenate(theirs)
        both = ours.astype(np.int64) * other_count + theirs
        kinds, self.kind = np.unique(both, return_inverse=True)
        self.kind = self.kind.astype(np.int32)
        self.our_word = (kinds // other_count).astype(np.int32)
        self.their_word = (kinds % other_count).astype(np.int32)
        self.our_place, self.their_place = np.concatenate(our_place), np.concatenate(their_place)
        self.weights = np.concatenate(weights)
        # A word of the one side explains none of the empty word of its own side.
        self.ours_real, self.theirs_real = ours != 0, theirs != 0
        self.english_count, self.other_count = english_count, other_count

    def posteriors(self, chances: np.ndarray, places: np.ndarray, real: np.ndarray) -> np.ndarray:
        """How likely each link is, given the words that could explain the word at a place."""
        own = chances[self.kind] * real
        total = np.bincount(places, own)
        return own / np.maximum(total[places], 1e-30)

    def chances(self, counts: np.ndarray, words: np.ndarray, size: int) -> np.ndarray:
        """Counts of kinds of links as shares of what a word explains."""
        by_kind = np.bincount(self.kind, counts, minlength=len(self.our_word))
        total = np.bincount(words, by_kind, minlength=size)
        return by_kind / np.maximum(total[words], 1e-30)

    def trained(self) -> np.ndarray:
        """How sure both directions are of each link."""
        to_ours = np.ones(len(self.our_word))  # the chance of an English word, given the other
        to_theirs = np.ones(len(self.our_word))
        for step in range(ALONE_ROUNDS + AGREEING_ROUNDS + 1):
            of_ours = self.posteriors(to_ours, self.our_place, self.ours_real)
            of_theirs = self.posteriors(to_theirs, self.their_place, self.theirs_real)
            if step == ALONE_ROUNDS + AGREEING_ROUNDS:
                break
            if step >= ALONE_ROUNDS:
                of_ours = of_theirs = of_ours * of_theirs
            to_ours = self.chances(of_ours * self.weights, self.their_word, self.other_count)
            to_theirs = self.chances(of_theirs * self.weights, self.our_word, self.english_count)
        return np.sqrt(of_ours * of_theirs)


def phrases(pairs: list[Pair]) -> dict[tuple[str, str], Counter]:
    """For each word of the other language, by itself and its stem, the English it stands for.

    What a word stands for are the neighbouring English words whose surest link is with it, as
    counts; an empty phrase where it stands for nothing.
    """
    links = Links(pairs)
    sure = links.trained()
    found: dict[tuple[str, str], Counter] = defaultdict(Counter)
    for pair, start, end in zip(pairs, links.starts, links.starts[1:], strict=False):
        table = sure[start:end].reshape(len(pair.english) + 1, len(pair.other) + 1)[1:, 1:]
        if not table.size:
            continue
        best = table.argmax(axis=1)
        linked: dict[int, list[int]] = defaultdict(list)
        for at, other in enumerate(best):
            if table[at, other] >= LEAST_LINK:
                linked[int(other)].append(at)
        for at, word in enumerate(pair.other):
            places = linked.get(at, [])
            whole = bool(places) and places[-1] - places[0] + 1 == len(places) <= MAX_PHRASE
            if places and not whole:
                # Words apart: the surest of them alone.
                places = [max(places, key=lambda one: table[one, at])]
            phrase = " ".join(pair.english[one] for one in places)
            found[word, pair.other_stems[at]][phrase] += pair.weight
    return found
