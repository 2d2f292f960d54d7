#!/usr/bin/env bash
# Tests the version matrix again: each row of version_matrix.txt in a new virtual environment.
#
#   scripts/version_matrix.sh               all rows
#   scripts/version_matrix.sh tested oldest these rows
#   scripts/version_matrix.sh --list        print the rows, install nothing
#
# A row passes where `reasonenv doctor` accepts it and the tests of the learner pass in it.
# TORCH_INDEX=URL takes torch from another package index; WORK=DIR keeps the environments and logs.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$(dirname "$here")
rows=$(grep -v '^#' "$here/version_matrix.txt")
if [[ ${1:-} == --list ]]; then
  echo "$rows"
  exit 0
fi
names=$(echo "$rows" | cut -d' ' -f1)
for wanted in "$@"; do
  if ! grep -qx -- "$wanted" <<<"$names"; then
    echo "no row is called $wanted; rows: $(echo $names)" >&2
    exit 2
  fi
done
work=${WORK:-$(mktemp -d)}
mkdir -p "$work"
failed=0
while read -r name python pins; do
  if [[ $# -gt 0 && " $* " != *" $name "* ]]; then continue; fi
  log=$work/$name.log
  if ! command -v "python$python" >/dev/null; then
    echo "$name: not run, there is no python$python"
    failed=1
    continue
  fi
  read -ra packages <<<"$pins"
  if {
    "python$python" -m venv "$work/$name" &&
      "$work/$name/bin/pip" install -q ${TORCH_INDEX:+--index-url "$TORCH_INDEX"} "${packages[0]}" &&
      "$work/$name/bin/pip" install -q "${packages[@]}" "$root[dev]" &&
      "$work/$name/bin/reasonenv" doctor &&
      (cd "$root" && OMP_NUM_THREADS=1 "$work/$name/bin/python" -m pytest -q -x tests/trainers tests/envs)
  } >"$log" 2>&1; then
    echo "$name: passes ($(tail -n 1 "$log"))"
  else
    echo "$name: FAILS, see $log: $(tail -n 1 "$log")"
    failed=1
  fi
done <<<"$rows"
exit $failed
