#!/bin/sh
# Install wireproof into an environment of its own: `install.sh FOLDER WHEEL [PIP ARGUMENT]…`. The image is built with it.
# Modules are compiled here, because nobody may write into the image; pip is removed, because nobody uses it there.
set -eu
folder=$1 wheel=$2
shift 2
python3 -m venv "$folder"
"$folder/bin/python" -m pip install --quiet --disable-pip-version-check --no-cache-dir "$@" "$wheel[broker,property]"
"$folder/bin/python" -m pip uninstall --quiet --yes pip
"$folder/bin/python" -m compileall -q "$folder/lib" > /dev/null
