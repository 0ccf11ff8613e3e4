#!/usr/bin/env bash
# Builds every fuzz target for OSS-Fuzz, with the dictionary and the seeds of the repository.
set -euo pipefail
: "${SRC:?}" "${OUT:?}"

cd "$SRC/simdpct"
cargo fuzz build -O --debug-assertions
for source in fuzz/fuzz_targets/*.rs; do
    target=$(basename "$source" .rs)
    cp "fuzz/target/x86_64-unknown-linux-gnu/release/$target" "$OUT/"
    cp fuzz/dictionary "$OUT/$target.dict"
    if [ -e "fuzz/seeds/$target.tar.gz" ]; then
        mkdir "$SRC/$target"
        tar xzf "fuzz/seeds/$target.tar.gz" -C "$SRC/$target"
        (cd "$SRC/$target" && zip -q "$OUT/${target}_seed_corpus.zip" ./*)
    fi
done
