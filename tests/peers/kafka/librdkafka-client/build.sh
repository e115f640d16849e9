#!/bin/sh
# The library stands in the wheel of confluent-kafka, with all codecs; its headers and cJSON in the source of an npm package.
set -eu
python3 -m pip install --quiet --disable-pip-version-check --no-deps --target lib -r requirements.txt
npm ci --ignore-scripts --loglevel=error --no-audit --no-fund
source=node_modules/@confluentinc/kafka-javascript/deps/librdkafka/src
mkdir -p include
ln -sfn "../$source" include/librdkafka
cc -O2 -o client client.c "$source/cJSON.c" -Iinclude -I"$source" lib/confluent_kafka.libs/librdkafka-*.so.1 \
  -Wl,-rpath,'$ORIGIN/lib/confluent_kafka.libs' -Wl,--allow-shlib-undefined
