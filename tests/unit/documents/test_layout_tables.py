"""The tables of layouts: each field has its place, its size, its type and what it means."""

from goldens import load, stored_cases
from layout_tables import layout_table, layout_tables, printed_tables

from wireproof import formats
from wireproof.cases.case import Accept, Data
from wireproof.formats import FORMATS
from wireproof.kafka.layouts import BATCH, RECORD


def test_every_offset_and_size_is_that_of_a_trace() -> None:
    case = next(case for case in stored_cases("kafka.batch") if case.id.endswith("v2/batch/two-records"))
    assert isinstance(case.input, Data)
    assert isinstance(case.expect, Accept)
    spans = formats.decode_with_trace(FORMATS["kafka.batch/v2"], case.input.data, case.options).spans
    wire = {span.path: span for span in spans}
    *header, records = layout_table(BATCH).rows
    for row in header:
        span = wire[row.name]
        assert (row.place, row.size, row.type) == (str(span.start), str(span.end - span.start), span.type)
    assert (records.place, records.size) == ("61", "…")


def test_a_number_has_its_constant_its_bits_and_the_names_of_their_codes() -> None:
    rows = {row.name: row for row in layout_table(BATCH).rows}
    assert rows["magic"].meaning == "always 2"
    flags = {flag.name: flag for flag in rows["attributes"].flags}
    assert (flags["codec"].mask, flags["codec"].codes) == ("0x07", "0 none, 1 gzip, 2 snappy, 3 lz4, 4 zstd")
    assert (flags["control"].mask, flags["control"].codes) == ("0x20", "")


def test_a_part_of_variable_size_names_the_number_that_has_its_size() -> None:
    rows = {row.name: row for row in layout_table(RECORD).rows}
    assert (rows["keyLength"].size, rows["key"].size) == ("1 to 5", "keyLength")
    assert (rows["timestampDelta"].place, rows["timestampDelta"].size) == ("…", "1 to 10")
    assert rows["headers"].type == "list of RecordHeader"


def test_protobuf_fields_have_their_numbers_and_labels() -> None:
    layout = FORMATS["heka.stream/0.10"].layout
    assert layout is not None
    tables = {table.name: table for table in layout_tables(layout)}
    rows = {row.name: (row.place, row.size, row.type) for row in tables["Message"].rows}
    assert rows["uuid"] == ("1", "required", "bytes")
    assert rows["fields"] == ("10", "repeated", "Field")
    assert tables["Header"].rows[-1].place == "others"
    assert tables["Frame"].rows[1].meaning == "number of bytes of header"


def test_reserved_bytes_have_their_size_and_what_a_reader_does_with_others() -> None:
    layout = FORMATS["iggy.send/0.11"].layout
    assert layout is not None
    rows = {row.name: row for table in layout_tables(layout) if table.name == "Batch" for row in table.rows}
    assert (rows["reserved"].place, rows["reserved"].size) == ("52", "204")
    assert rows["reserved"].meaning == "0, up to offset 256; other bytes are refused"
    assert rows["batch_length"].meaning == "number of bytes of the whole"
    assert rows["message_count"].meaning == "number of messages; readers read to the end and compare"


def test_every_layout_has_tables_and_each_is_there_once() -> None:
    declared = [row for row in FORMATS.values() if row.layout is not None]
    assert declared
    for row in declared:
        assert row.layout is not None
        tables = layout_tables(row.layout)
        assert tables
        assert len(set(tables)) == len(tables)


def test_the_table_of_a_document_is_beside_that_of_the_layout() -> None:
    found = {one.table.name: one for one in printed_tables("kafka.batch/v2", load())}
    batch = found["RecordBatch"]
    assert batch.place is not None
    assert batch.place.url.startswith("https://kafka.apache.org/")
    assert all(printed is not None and printed.name == row.name for row, printed in batch.rows)
    renamed = {row.name: printed for row, printed in found["Record"].rows}["headerCount"]
    assert renamed is not None
    assert renamed.name == "headersCount"
    assert found["TaggedField"].place is None
