#!/bin/sh
# Build the target of librdkafka: `build.sh SOURCE SEEDS PROGRAM`. SOURCE is librdkafka's source, such as the folder
# `librdkafka` of the crate rdkafka-sys; SEEDS is what `wireproof export --seeds` wrote. Only the files that read a
# message set are instrumented, because librdkafka's own threads would count as coverage of an input.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
source=$(cd "$1" && pwd)
seeds=$(cd "$2" && pwd)
program=$3
readers="rdkafka_msgset_reader rdbuf rdvarint rdcrc32 crc32c snappy rdgz lz4 lz4frame rdxxhash"

if [ ! -f "$source/src/librdkafka.a" ]; then
  options="--disable-ssl --disable-gssapi --disable-curl --disable-lz4-ext --disable-zstd"
  (cd "$source" && ./configure $options > /dev/null)
  make -s -C "$source/src" librdkafka.a
fi
room=$(mktemp -d)
trap 'rm -rf "$room"' EXIT
cp "$source/src/librdkafka.a" "$room/rest.a"
for name in $readers; do
  clang -O1 -w -fsanitize=fuzzer-no-link -I"$source" -I"$source/src" -c "$source/src/$name.c" -o "$room/$name.o"
  ar d "$room/rest.a" "$name.o"
done
clang -O1 -w -I"$source" -I"$source/src" -c "$here/target.c" -o "$room/target.o"
clang -O1 -c "$seeds/mutator/wireproof_mutator.c" -o "$room/wireproof_mutator.o"
clang -fsanitize=fuzzer "$room"/*.o "$room/rest.a" -lz -lm -ldl -lpthread -lrt -o "$program"
