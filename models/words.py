"""How a text becomes words: the same rules as `gatefold-search` follows in Rust."""

import re
import unicodedata

# A word is a run of ASCII capitals, of small letters with at most one capital before them, or of
# digits; everything else separates. "listHTTPRoutes2" gives list, http, routes, 2.
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")


def fold(text: str) -> str:
    """Accents off: canonical decomposition, then the combining marks go."""
    if text.isascii():
        return text
    return "".join(c for c in unicodedata.normalize("NFD", text) if not unicodedata.combining(c))


def words(text: str) -> list[str]:
    """The lower-case words of a text, identifiers split at case changes and digits."""
    return [word.lower() for word in _WORD.findall(fold(text))]
