"""The templates of client programs: the programs of bundled clients, one for each language."""

from functools import partial
from typing import Final

from wireproof.adapters.registry.templates import AdapterTemplate

CASES: Final = "kafka.log/mixed/delivered/*"
"""The cases that show most about a client: what it delivers, and where its next fetch begins."""

EXAM: Final = "kafka.**"
"""All cases: also damage, transactions, single batches and messages, and what a producer writes."""

_template = partial(AdapterTemplate, client_cases=CASES, exam=EXAM)

TEMPLATES: Final = {
    template.language: template
    for template in (
        _template(
            "python",
            "client.py",
            ("python3", "{dir}/client.py"),
            tools=("python3",),
            client="confluent-kafka-client",
            library="pip install confluent-kafka",
        ),
        _template(
            "node",
            "client.mjs",
            ("node", "{dir}/client.mjs"),
            ("npm", "ci", "--prefix", "{dir}"),
            ("node", "npm"),
            client="platformatic-kafka-client",
            runtime="Node 22.22 or newer",
        ),
        _template(
            "go",
            "main.go",
            ("{dir}/client",),
            ("go", "build", "-C", "{dir}", "-o", "client", "."),
            ("go",),
            client="franz-go-client",
        ),
        _template(
            "java",
            "src/main/java/Client.java",
            ("java", "-jar", "{dir}/target/client.jar"),
            ("mvn", "-q", "-f", "{dir}/pom.xml", "package"),
            ("java", "mvn"),
            client="kafka-clients-client",
        ),
        _template(
            "rust",
            "src/main.rs",
            ("{dir}/target/release/client",),
            ("cargo", "build", "--quiet", "--release", "--manifest-path", "{dir}/Cargo.toml"),
            ("cargo",),
            client="rdkafka-client",
        ),
        _template(
            "c",
            "client.c",
            ("{dir}/client",),
            (
                *("cc", "-O2", "-o", "{dir}/client", "{dir}/client.c"),
                *("-I/usr/include/cjson", "-lrdkafka", "-lcjson"),
            ),
            ("cc",),
            client="librdkafka-client",
            library="apt-get install librdkafka-dev libcjson-dev",
        ),
    )
}
"""The templates of client programs, by language."""
