"""How texts of the lexicon's languages become words."""

import re
import unicodedata
from functools import lru_cache
from pathlib import Path

# Endings of inflected words, by language: they come off before words are aligned, so that rare
# forms share what is known of their stem. The lexicon itself holds whole words.
ENDINGS = {
    "de": "ungen ung erinnen innen erin ern est ten tet test te en er es em et st e n s t".split(),
    "es": ("aciones acion amientos imientos amiento imiento ariamos eriamos iriamos abamos "
           "ando iendo ados idos adas idas ado ido ada ida aron ieron aban ian aba ara era ira "
           "ar er ir an en as es os is a e o i s n").split(),
    "fr": ("issements issement ements ement ations ation issons issez issent erait erez erons "
           "eront ait aient ons ent ez er ees ee es e s x ant ants ante antes i is it ir").split(),
}
LEAST_STEM = 3
MAX_WORD = 40  # letters


def fold(text: str) -> str:
    """Lower case without accents, widths joined: as `gatefold-search` reads text."""
    text = unicodedata.normalize("NFKD", text.lower())
    text = "".join(c for c in text if not 0x300 <= ord(c) <= 0x36F)
    return unicodedata.normalize("NFC", text).replace("ß", "ss")


def stem(word: str, language: str) -> str:
    """A word without its longest known ending."""
    for ending in sorted(ENDINGS.get(language, []), key=len, reverse=True):
        if word.endswith(ending) and len(word) - len(ending) >= LEAST_STEM:
            return word[:-len(ending)]
    return word


def simplified(dictionary: Path) -> dict[str, str]:
    """Traditional Chinese letters with the simplified ones that replace them."""
    letters = {}
    for line in dictionary.read_text(encoding="utf-8").splitlines():
        old, new = line.split("\t")
        new = new.split(" ")[0]
        if old != new and len(old.encode()) == 3 == len(new.encode()):
            letters[old] = new
    return letters


class Words:
    """Splits texts of one language into words; `stems` gives what they are aligned by."""

    def __init__(self, language: str, letters: dict[str, str]) -> None:
        self.language = language
        if language == "zh":
            import jieba

            jieba.setLogLevel(60)
            self.letters = str.maketrans(letters)
            self.cut = lambda text: jieba.lcut(text.translate(self.letters), HMM=False)
            self.lemmas = {}
        elif language == "ja":
            from sudachipy import Dictionary, SplitMode

            tokenizer = Dictionary(dict="core").create()
            self.lemmas = {}

            def cut(text: str) -> list[str]:
                found = tokenizer.tokenize(text[:1000], SplitMode.A)
                for one in found:
                    self.lemmas[one.surface()] = one.dictionary_form()
                return [one.surface() for one in found]

            self.cut = cut
        else:
            self.cut = re.compile(r"[^\W\d_]+").findall

    def of(self, text: str) -> list[str]:
        """The words of a text; what has no letters is left out."""
        folded = fold(text)
        return [word for word in self.cut(folded)
                if len(word) <= MAX_WORD and re.search(r"[^\W\d_]", word)]

    @lru_cache(maxsize=1_000_000)  # noqa: B019
    def stem(self, word: str) -> str:
        """What stands for the word when it is aligned."""
        if self.language in ENDINGS:
            return stem(word, self.language)
        return self.lemmas.get(word, word)
