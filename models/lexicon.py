"""Makes the bilingual lexicon: words of five languages with the English words they stand for.

    python lexicon.py --cache DIR --texts DIR --out ../crates/gatefold-search/data/lexicon.bin

`--texts` holds the archives of sentence pairs and the word list that `bilingual.py` names. Nothing
is drawn by chance: the same packages give the same file, whose size and digest are printed.
"""

import argparse
import re
import struct
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path

import align
import bilingual
from align import Pair
from lexical import stem as english_stem
from packages import Package, fetch
from tongues import Words, fold, simplified
from words import words as english_words

MAGIC = b"GFLEXIC1"
BLOCK = 16  # entries that share their beginnings
MAX_ALTERNATIVES = 4
MAX_KEY = 40  # bytes
WEIGHTS = {"interface": 1.0, "sentence": 0.3, "wordnet": 0.5}
LABEL = 2.0  # what a text adds that is one word
OWN = 40.0  # what a line of our own glossary counts
LEAST_COUNT = 0.6  # what is rarer is chance
LEAST_SHARE = 0.12  # of the commonest meaning
FUNCTION_SHARE = 0.3  # a word with less meaning than that is one of grammar
FUNCTION_COUNT = 4.0
FORM_SHARE = 0.1  # of a word's forms, to be its plainest
STEM_SHARE = 0.15  # what a rare form knows from the others of its stem
OWN_COUNT = 3.0  # from which on a form is not rare
LEAST_ENGLISH = 3  # how often a word is used before it counts as English
BORROWED_RATIO = 0.05  # what is rarer than that in the other language is English there too
SURE_ENGLISH = 10  # a longer word that is used so often is English, whatever else it is
FOREIGN_RATIO = 0.2  # and how often at least, for each time that another language uses it
MIN_EXPLAINED = 3  # letters of a word that its parts would tell as well
MAX_WORD = 4  # letters of a word in a script without spaces, mostly
MAX_LABEL = 6  # letters of a script without spaces that may be a word

LETTERS = Package("pypi", "opencc-python-reimplemented", "0.1.7", "Apache-2.0")

# English words that say nothing by themselves.
EMPTY = frozenset("""a about all am an and any are aren as at be been being but by can cannot could
couldn did didn do does doesn doing don done for from had has hasn have haven having he her hers
him his how i if in into is isn it its itself just ll me mine my myself no not of off on onto or
our ours out please re s shall she should shouldn so some such t than that the their theirs them
then there these they this those through to too up upon us ve very was wasn we were weren what when
where which while who whom whose why will with within would wouldn you your yours yourself m d let
also here even still yet because both each own same tell told give given want wants need needs
please know would like let's help thank thanks sorry got gets wish whether over via across above
since until again back between during against per one many much without around ago soon some any
something someone anything anyone everything everyone nothing nobody somewhere someday""".split())


def texts_of(sources: list, arguments: argparse.Namespace,
             language: str) -> Iterator[tuple[str, str, str]]:
    """Every pair of texts of a language, and the kind of text it is."""
    for source, root in sources:
        for pair in bilingual.interface_pairs(source, root, language):
            yield "interface", *pair
    for pair in bilingual.sentence_pairs(arguments.texts, language):
        yield "sentence", *pair
    if language == "zh":
        for pair in bilingual.wordnet_pairs(arguments.texts, arguments.cache):
            yield "wordnet", *pair


def read(texts: Iterator[tuple[str, str, str]], words: Words) -> list[Pair]:
    """The pairs as words, each once."""
    seen, pairs = set(), []
    for kind, english, other in texts:
        identity = (english.strip().lower(), other.strip().lower())
        if identity in seen:
            continue
        seen.add(identity)
        ours, theirs = english_words(english), words.of(other)
        if 0 < len(ours) <= align.MAX_TOKENS and 0 < len(theirs) <= align.MAX_TOKENS:
            pairs.append(Pair(ours, [english_stem(word) for word in ours], theirs,
                              [words.stem(word) for word in theirs], WEIGHTS[kind]))
    return pairs


def meaning(phrase: list[str]) -> tuple[str, ...]:
    """The words of a phrase that say something, each once."""
    return tuple(dict.fromkeys(word for word in phrase if word not in EMPTY and len(word) > 1
                               and not word.isdigit()))


def labels(pairs: list[Pair], found: dict, words: Words) -> Iterator[tuple[str, str, str]]:
    """Texts that are one word: the word, its stem, and what it stands for.

    In a script without spaces that is a short text which its parts do not explain; of a longer one,
    not even in part.
    """
    best = {word: english_stem_set(counts) for (word, _), counts in found.items()}
    for pair in pairs:
        phrase = meaning(pair.english)
        if not 0 < len(phrase) <= align.MAX_PHRASE or pair.weight < WEIGHTS["interface"]:
            continue
        if len(pair.other) == 1:
            yield pair.other[0], pair.other_stems[0], " ".join(phrase)
        elif words.language in ("ja", "zh"):
            whole = "".join(pair.other)
            known = set().union(*(best.get(word, set()) for word in pair.other))
            stems = {english_stem(word) for word in phrase}
            explained = stems <= known and len(whole) > MIN_EXPLAINED \
                or stems & known and len(whole) > MAX_WORD
            if len(whole) <= MAX_LABEL and not whole.isascii() and not explained:
                yield whole, whole, " ".join(phrase)


def english_stem_set(counts: Counter) -> set[str]:
    """The stems of what a word mostly stands for."""
    return {english_stem(word) for phrase, _ in counts.most_common(3) for word in phrase.split()}


def merged(counts: Counter, common: set[str]) -> tuple[dict[tuple[str, ...], float], float]:
    """What a word stands for with its count, forms of one word joined; and the count of nothing."""
    by_stem: dict[tuple[str, ...], Counter] = defaultdict(Counter)
    nothing = 0.0
    for phrase, count in counts.items():
        words = meaning(phrase.split(" "))
        if words and not common.issuperset(words):
            continue
        if words:
            by_stem[tuple(english_stem(word) for word in words)][words] += count
        else:
            nothing += count
    return {plainest(forms): sum(forms.values()) for forms in by_stem.values()}, nothing


def plainest(forms: Counter) -> tuple[str, ...]:
    """The shortest form of a word that is common: `create` rather than `created`."""
    least = FORM_SHARE * sum(forms.values())
    return min((form for form, count in forms.items() if count >= least),
               key=lambda form: (len("".join(form)), form))


def alternatives(counts: Counter,
                 common: set[str]) -> list[tuple[tuple[str, ...], float]] | None:
    """What a word stands for, the likeliest first; empty for one of grammar, none if unsure."""
    joined, nothing = merged(counts, common)
    total = sum(joined.values())
    if total < FUNCTION_SHARE * (total + nothing):
        return [] if total + nothing >= FUNCTION_COUNT else None
    ordered = sorted(joined.items(), key=lambda one: (-one[1], one[0]))
    if not ordered or ordered[0][1] < LEAST_COUNT:
        return None
    least = ordered[0][1] * LEAST_SHARE
    kept = [one for one in ordered[:MAX_ALTERNATIVES] if one[1] >= least]
    return [(words, count / ordered[0][1]) for words, count in kept]


def entries(found: dict, language: str, common: set[str], plain: set[str],
            borrowed: set[str]) -> dict[str, list]:
    """The lexicon of a language: each word with what it stands for.

    One that is the same in English tells nothing, unless it could be taken for English alone.
    """
    by_stem: dict[str, Counter] = defaultdict(Counter)
    by_word: dict[str, Counter] = defaultdict(Counter)
    for (word, stem), counts in found.items():
        by_stem[stem].update(counts)
        by_word[word].update(counts)
    stems = {word: stem for word, stem in found}
    lexicon = {}
    for word, own in by_word.items():
        if len(word.encode()) > MAX_KEY or word.isascii() and language in ("ja", "zh"):
            continue
        counts = Counter(own)
        if sum(own.values()) < OWN_COUNT:
            for phrase, count in by_stem[stems[word]].items():
                counts[phrase] += STEM_SHARE * (count - own.get(phrase, 0.0))
        known = alternatives(counts, common)
        is_same = bool(known) and known[0][0] == (word,)
        tells = word in plain if is_same else bool(known) or word not in borrowed
        if len(word) == 1 and language not in ("ja", "zh"):
            known = []  # what elision leaves: l', d'
        if known is not None and tells:
            lexicon[word] = known
    return lexicon


def packed(lexicon: dict[str, list], numbers: dict[str, int]) -> bytes:
    """A language's part: where its blocks begin, then the entries, sorted by their bytes."""
    starts, body, before = [], bytearray(), b""
    for at, word in enumerate(sorted(lexicon, key=str.encode)):
        key = word.encode()
        if at % BLOCK == 0:
            starts.append(len(body))
            before = b""
        shared = next((i for i, (a, b) in enumerate(zip(before, key, strict=False)) if a != b),
                      min(len(before), len(key)))
        known = lexicon[word]
        body += struct.pack("BB", shared, len(key) - shared) + key[shared:]
        body.append(len(known))
        for words, weight in known:
            body.append((len(words) - 1) << 6 | max(1, round(63 * weight)))
            body += b"".join(struct.pack("<H", numbers[one]) for one in words)
        before = key
    head = struct.pack("<III", len(lexicon), len(starts), len(body))
    return head + b"".join(struct.pack("<I", start) for start in starts) + bytes(body)


def write(path: Path, lexicons: dict[str, dict], letters: dict[str, str],
          plain: set[str]) -> None:
    """Writes the file: the English words and which of them are plainly English, the letters of both
    Chinese scripts, the languages."""
    english = sorted({word for lexicon in lexicons.values() for known in lexicon.values()
                      for words, _ in known for word in words} | plain, key=str.encode)
    numbers = {word: at for at, word in enumerate(english)}
    text = "".join(word + "\n" for word in english).encode()
    flags = bytearray((len(english) + 7) // 8)
    for word in plain:
        flags[numbers[word] // 8] |= 1 << numbers[word] % 8
    pairs = "".join(old + letters[old] for old in sorted(letters, key=str.encode)).encode()
    data = MAGIC + struct.pack("<III", len(english), len(text), len(pairs))
    data += text + bytes(flags) + pairs
    for language in sorted(lexicons):
        data += language.encode() + packed(lexicons[language], numbers)
    path.write_bytes(data)


def plainly_english(pairs_by_language: dict[str, tuple[Counter, Counter]]) -> set[str]:
    """Words that tell that a text is English, judged by how often both sides use them."""
    english = Counter()
    for ours, _ in pairs_by_language.values():
        english |= ours
    return {word for word, count in english.items()
            if count >= LEAST_ENGLISH and len(word) < MAX_KEY and word.isalpha()
            and (count >= SURE_ENGLISH and len(word) > 3
                 or all(theirs[word] * FOREIGN_RATIO <= count
                        for _, theirs in pairs_by_language.values()))}


def common_english(used: dict[str, tuple[Counter, Counter]], ours: list) -> set[str]:
    """The English words that more than one text uses, and those of our own lines."""
    english = Counter()
    for ours_used, _ in used.values():
        english |= ours_used
    return {word for word, count in english.items() if count >= LEAST_ENGLISH} \
        | {word for _, _, phrase in ours for word in phrase.split()}


def borrowed(used: tuple[Counter, Counter]) -> set[str]:
    """English words that stand in the other language's texts now and then, untranslated."""
    english, other = used
    return {word for word, count in english.items() if other[word] < BORROWED_RATIO * count}


def usage(pairs: list[Pair]) -> tuple[Counter, Counter]:
    """How often each word stands on the English side, and on the other where both differ."""
    ours, theirs = Counter(), Counter()
    for pair in pairs:
        # A word list has rare words as often as common ones.
        ours.update(pair.english if pair.weight != WEIGHTS["wordnet"] else ())
        theirs.update(word for word in pair.other if word not in pair.english)
    return ours, theirs


def glossary(path: Path, words: dict[str, Words]) -> Iterator[tuple[str, str, str]]:
    """Our own lines: a language, a word of it, and the English words it stands for; none for `-`."""
    lines = [line.split("\t") for line in path.read_text(encoding="utf-8").splitlines()
             if line and not line.startswith("#")]
    for english, *others in lines[1:]:
        for language, cell in zip(lines[0][1:], others, strict=True):
            for word in filter(None, map(str.strip, cell.split(","))):
                folded = fold(word)
                if language == "zh":
                    folded = folded.translate(words["zh"].letters)
                for meant in english.split("|"):
                    yield language, folded, meant.strip("-")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cache", type=Path, required=True)
    parser.add_argument("--texts", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    arguments = parser.parse_args()
    arguments.cache.mkdir(parents=True, exist_ok=True)

    sources = [(source, bilingual.unpacked(source, arguments.cache))
               for source in bilingual.CATALOGUES]
    letters = simplified(fetch(LETTERS, arguments.cache)
                         / "opencc/dictionary/TSCharacters.txt")
    words = {language: Words(language, letters) for language in bilingual.LANGUAGES}
    ours = list(glossary(Path(__file__).parent / "glossary.tsv", words))
    counted, used = {}, {}
    for language in bilingual.LANGUAGES:
        pairs = read(texts_of(sources, arguments, language), words[language])
        counted[language] = with_labels(align.phrases(pairs), pairs, words[language], ours)
        used[language] = usage(pairs)
        print(f"{language}: {len(pairs)} pairs of texts", flush=True)
    common, plain = common_english(used, ours), plainly_english(used)
    lexicons = {language: entries(found, language, common, plain, borrowed(used[language]))
                for language, found in counted.items()}
    for language, lexicon in lexicons.items():
        print(f"{language}: {len(lexicon)} words")
    write(arguments.out, lexicons, letters, plain)
    print(f"{arguments.out.stat().st_size} bytes, SHA-256 {bilingual.sha256(arguments.out)}")


def with_labels(found: dict, pairs: list[Pair], words: Words,
                ours: list) -> dict[tuple[str, str], Counter]:
    """What the words of a language stand for, its labels and our own lines counted in."""
    counted = defaultdict(Counter, {key: Counter(counts) for key, counts in found.items()})
    for word, stem, phrase in labels(pairs, found, words):
        counted[word, stem][phrase] += LABEL
    for language, word, phrase in ours:
        if language == words.language and re.fullmatch(r"\S+", word):
            counted[word, words.stem(word)][phrase] += OWN
    return counted


if __name__ == "__main__":
    main()
