#!/bin/bash -eu
# Builds the targets that the file `targets` names into $OUT, each with its seeds and its dictionary.
#
#   SRC           the folder with `targets`, `target.py` and the folder `codec`, which has your adapter
#   OUT           where the targets go
#   REQUIREMENTS  what pip installs into $OUT/lib; if it is empty, nothing: the python3 of the PATH has it

REQUIREMENTS=${REQUIREMENTS-"wireproof[fuzz] $SRC/codec"}

mkdir -p "$OUT/lib"
if [ -n "$REQUIREMENTS" ]; then
  # shellcheck disable=SC2086 # several words
  python3 -m pip install --quiet --target "$OUT/lib" $REQUIREMENTS
fi
cp -r "$SRC/codec" "$OUT/codec"
cp "$SRC/target.py" "$OUT/target.py"
chmod +x "$OUT/target.py"
export PYTHONPATH="$OUT/lib:$OUT/codec${PYTHONPATH:+:$PYTHONPATH}"

seeds=$(mktemp -d)
grep -Ev '^ *(#|$)' "$SRC/targets" | while read -r name format adapter; do
  python3 -m wireproof export --seeds "$seeds/$name" --run "$format/**"
  cp "$seeds/$name"/libfuzzer/*_seed_corpus.zip "$OUT/${name}_seed_corpus.zip"
  cp "$seeds/$name"/libfuzzer/*.dict "$OUT/$name.dict"
  # OSS-Fuzz takes a file for a target if it contains the word LLVMFuzzerTestOneInput.
  cat >"$OUT/$name" <<END
#!/bin/sh
# LLVMFuzzerTestOneInput
here=\$(cd "\$(dirname "\$0")" && pwd)
export PYTHONPATH="\$here/lib:\$here/codec\${PYTHONPATH:+:\$PYTHONPATH}"
export WIREPROOF_FUZZ="\${WIREPROOF_FUZZ:-\$(mktemp -d)}"
exec "\$here/target.py" "$format" "$adapter" "-dict=\$here/$name.dict" "\$@"
END
  chmod +x "$OUT/$name"
done
