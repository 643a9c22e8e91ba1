# For scripts that run clients of packages: where the project, its binary and what clients install are. Sourced from the project's folder.
# shellcheck shell=bash
ROOT=$PWD
TARGET=$(realpath -m "${CARGO_TARGET_DIR:-target}")
RESIDUE=$(realpath "${RESIDUE:-$TARGET/release/residue}")
AT=$TARGET/clients
export RESIDUE
mkdir -p "$AT"
. clients/npm.sh
