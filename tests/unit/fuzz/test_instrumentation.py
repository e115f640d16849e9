from attrs import evolve
from goldens import load

from wireproof.adapters.registry.registered import Entry
from wireproof.formats import FORMATS
from wireproof.fuzz.libfuzzer import compile_codecs, modules_to_instrument, uninstrumented_modules
from wireproof.schema.compiling import COMPILED
from wireproof.schema.struct import StructLayout


def decode_nothing(*_: object) -> None:
    """Stand in for a codec of another package."""


def test_the_codecs_of_a_format_guide_its_fuzzing_wherever_they_are() -> None:
    rows = [
        FORMATS[name] for name in ("kafka.batch/v2", "kafka.log/mixed", "iggy.log/0.7", "heka.stream/0.10")
    ]
    entry = Entry("codec", command=("codec",))
    assert modules_to_instrument(rows, entry) == (
        "wireproof.wire",
        "wireproof.schema",
        "wireproof.kafka",
        "wireproof.iggy",
        "wireproof.heka",
    )
    other = evolve(rows[0], name="other.frame", decode=decode_nothing)
    own = __name__.rpartition(".")[0]
    assert modules_to_instrument([other], entry) == (
        "wireproof.wire",
        "wireproof.schema",
        own,
        "wireproof.kafka",
    )


def test_compiled_functions_guide_too() -> None:
    fmt = FORMATS["iggy.poll/0.11"]
    compile_codecs(case for case in load().cases if case.format_id == fmt.format_id)
    layout = fmt.layout
    assert isinstance(layout, StructLayout)
    assert layout.codec.read.__module__ == COMPILED
    assert COMPILED.startswith("wireproof.schema.")
    assert "wireproof.iggy" in modules_to_instrument([fmt], Entry("codec", command=("codec",)))


def test_the_second_copy_of_the_mutators_has_second_copies_of_the_rules() -> None:
    mutators, table = uninstrumented_modules()
    fmt = table.FORMATS["kafka.batch/v2"]
    assert fmt.value is not FORMATS["kafka.batch/v2"].value
    rules = mutators.mutation_mix.rules_of(fmt)
    assert fmt.value in rules.normalise
