// kafka-go behind the adapter contract, which has two codecs: protocol.RecordSet, of its Client and its
// Writer, and the reader behind its Conn, of its Reader; the argument "reader" chooses the second.
package main

import (
	"os"

	peer "wireproof/peer/_shared/go"
)

var classes = [][2]string{
	{"checksum mismatch", "crc-mismatch"},
	{"unsupported message version", "bad-magic"},
	{"unsupported magic byte", "bad-magic"},
	{"unsupported record set version", "bad-magic"},
	{"unsupported compression codec", "unknown-codec"},
	{"compression code is invalid", "unknown-codec"},
	{"batch remain < 0", "bad-length"},
	{"impossible record set shorter", "truncated"},
	{"invalid value", "invalid-value"},
}

func main() {
	driver := peer.Driver{Name: "kafka-go", Module: "github.com/segmentio/kafka-go",
		Classes: append(classes, peer.Decompress...), Decode: decodeSet, Encode: encodeSet}
	batch := []string{"baseOffset", "partitionLeaderEpoch", "attributes", "producerId", "producerEpoch", "baseSequence"}
	entries := []string{"empty-batch"} // which a reader of messages does not show
	var log []string
	if len(os.Args) > 1 && os.Args[1] == "reader" {
		driver.Name, driver.Decode, driver.Encode = "kafka-go-reader", decodeReader, encodeReader
		batch, entries, log = nil, nil, []string{"nextOffset"}
	}
	driver.Claims = claims(log, batch, entries)
	driver.Run()
}

func claims(log, batch, entries []string) map[string]peer.Claim {
	claim := func(op string, observes []string, features ...string) peer.Claim {
		return peer.Claim{Ops: []string{op}, Codecs: []string{"none", "gzip", "snappy", "lz4", "zstd"},
			Profiles: []string{"reader"}, Observes: observes, Features: append([]string{}, features...)}
	}
	message := []string{"offset", "timestamp", "key", "value"}
	written := []string{"baseOffset", "magic", "attributes", "lastOffsetDelta", "baseTimestamp", "maxTimestamp",
		"producerId", "producerEpoch", "baseSequence", "records"}
	return map[string]peer.Claim{
		"kafka.log/mixed": claim("decode", append(log, peer.Observes(message, batch, append(message, "headers"))...),
			append(entries, "wrapper", "headers", "log-append-time", "delete-horizon", "idempotent", "transactional",
				"control-batch", "partial-tail", "mixed-magic")...),
		"kafka.batch/v1": claim("encode", nil),
		"kafka.batch/v2": claim("encode", written, "headers"),
	}
}
