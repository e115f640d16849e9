#!/bin/sh
# Builds the client. librdkafka stands in the wheel of confluent-kafka, with all codecs; its headers and cJSON stand
# in its source, which an npm package has.
set -eu
cd "$(dirname "$0")"
python3 -m pip install --quiet --disable-pip-version-check --require-hashes --no-deps --target wheel -r requirements.txt
npm ci --ignore-scripts --loglevel=error --no-audit --no-fund
source=node_modules/@confluentinc/kafka-javascript/deps/librdkafka/src
mkdir -p include
ln -sfn "../$source" include/librdkafka
cc -O2 -o ../client ../client.c "$source/cJSON.c" -Iinclude -I"$source" \
  wheel/confluent_kafka.libs/librdkafka-*.so.1 \
  -Wl,-rpath,'$ORIGIN/library/wheel/confluent_kafka.libs' -Wl,--allow-shlib-undefined
