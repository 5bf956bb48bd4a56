#!/usr/bin/env bash
# Reads the skills of public repositories, which are no part of this one.
#
#   tests/interop/skills.sh FOLDER
#
# FOLDER has a checkout of a repository in each of its folders, such as `anthropics/skills`. Prints how
# many of their skills load, and what is wrong with each of the others.
set -euo pipefail

folder=$(cd "${1:?name the folder with the checkouts}" && pwd)
cd "$(dirname "$0")/../.."
GATEFOLD_SKILLS=$folder cargo test -p gatefold-skills --test public -- --nocapture
