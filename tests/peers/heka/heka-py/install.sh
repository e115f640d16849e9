#!/bin/sh
# heka-py runs on Python 2.7 alone; where pyenv hands out the interpreters, it is asked for that one.
set -eu
PYENV_VERSION="${PYENV_VERSION:-2.7.18}"
export PYENV_VERSION
python2.7 -m pip install --quiet --disable-pip-version-check --no-deps --require-hashes --target lib -r requirements.txt
