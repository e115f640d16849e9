#!/bin/sh
# Build the target of Kafka's Java classes: `build.sh PROGRAM`. PROGRAM takes the options of libFuzzer, which Jazzer
# hands on; its jars lie beside it in PROGRAM.jars. Only the classes that read records are instrumented.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
program=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
room=$(mktemp -d)
trap 'rm -rf "$room"' EXIT
cp -R "$here/pom.xml" "$here/src" "$room"
mvn -q -B -f "$room/pom.xml" package > "$room/log" || { cat "$room/log"; exit 1; }
rm -rf "$program.jars"
cp -R "$room/target/lib" "$program.jars"
cp "$room/target/target.jar" "$program.jars"
common=org.apache.kafka.common
cat > "$program" << END
#!/bin/sh
exec java -Xmx1g -XX:+UseSerialGC -cp "$program.jars/*" com.code_intelligence.jazzer.Jazzer \\
  --target_class=wireproof.fuzz.KafkaRecords \\
  "--instrumentation_includes=$common.record.**:$common.compress.**:$common.header.**:$common.utils.**" "\$@"
END
chmod +x "$program"
