// franz-go behind the adapter contract: records by kgo.ProcessFetchPartition, which its consumer calls too;
// the fields of the entries they came in by kmsg, whose structs that function fills as well.
package main

import (
	"math"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	peer "wireproof/peer/_shared/go"
)

var classes = [][2]string{
	{"calculated crc", "crc-mismatch"},
	{"unknown magic", "bad-magic"},
	{"unknown batch magic", "bad-magic"},
	{"unknown message magic", "bad-magic"},
	{"inner message with invalid magic", "bad-magic"},
	{"unknown compression codec", "unknown-codec"},
	{"too short to allow for a crc", "bad-length"},
	{"negative record count", "negative-length"},
	{"claimed records with no record bytes", "count-mismatch"},
	{"is less than the last inner offset", "bad-offset"},
	{"unknown attributes", "reserved-nonzero"},
	{"MaxDecompressBatchBytes", "limit-exceeded"},
	{"invalid value", "invalid-value"},
}

func main() {
	modern := []string{"none", "gzip", "snappy", "lz4", "zstd"}
	claim := func(op string, observes []string, features ...string) peer.Claim {
		return peer.Claim{Ops: []string{op}, Codecs: modern, Profiles: []string{"reader"},
			Observes: observes, Features: append([]string{}, features...)}
	}
	message := []string{"offset", "magic", "timestamp", "key", "value"}
	batch := []string{"baseOffset", "magic", "lastOffsetDelta", "baseTimestamp", "maxTimestamp", "producerId",
		"producerEpoch", "attributes"}
	record := []string{"key", "value", "headers", "offset", "timestamp"}
	written := append([]string{"records[].offsetDelta", "records[].timestampDelta", "records[].key",
		"records[].value", "records[].headers", "records[].attributes"}, batch...)
	driver := peer.Driver{
		Name: "franz-go", Module: "github.com/twmb/franz-go", Classes: append(classes, peer.Decompress...),
		Decode: decode, Encode: encode,
		Claims: map[string]peer.Claim{
			"kafka.log/mixed": claim("decode",
				append(peer.Observes(message, append(batch, "partitionLeaderEpoch", "baseSequence"), record), "nextOffset",
					"batches[].records[].timestampType", "batches[].messages[].timestampType"),
				"wrapper", "headers", "log-append-time", "delete-horizon", "idempotent", "transactional",
				"control-batch", "empty-batch", "partial-tail", "mixed-magic", "fetch-offset", "read-committed"),
			"kafka.batch/v0": claim("encode", nil),
			"kafka.batch/v1": claim("encode", nil),
			"kafka.batch/v2": claim("encode", written, "headers", "idempotent", "transactional"),
		},
	}
	driver.Run()
}

var timestampTypes = map[int8]string{-1: "none", 0: "create", 1: "log-append"}

var decompressor = kgo.PeerDecompressor()

// fetch runs the library over a log, counts the entries that it processed, and gives the offset at which it
// would fetch next.
func fetch(r *peer.Request, data []byte) (kgo.FetchPartition, int, int64) {
	partition := &kmsg.FetchResponseTopicPartition{RecordBatches: data}
	options := kgo.ProcessFetchPartitionOpts{KeepControlRecords: !r.Delivered(), Offset: math.MinInt64}
	if r.Options.FetchOffset != nil {
		options.Offset = *r.Options.FetchOffset
	}
	if r.Committed() {
		options.IsolationLevel = kgo.ReadCommitted()
	}
	for _, pair := range r.Options.Aborted {
		partition.AbortedTransactions = append(partition.AbortedTransactions,
			kmsg.FetchResponseTopicPartitionAbortedTransaction{ProducerID: pair[0], FirstOffset: pair[1]})
	}
	entries := 0
	found, next := kgo.ProcessFetchPartition(options, partition, decompressor,
		func(kgo.FetchBatchMetrics) { entries++ })
	return found, entries, next
}

// The records of an entry are those that the log up to its end has more than the log before it.
func decode(r *peer.Request, log *peer.Log) error {
	whole, entries, next := fetch(r, r.Data)
	end, seen := 0, 0
	for i, frame := range peer.Frames(r.Data) {
		if i >= entries {
			break
		}
		end += len(frame)
		upTo := whole
		if i < entries-1 {
			upTo, _, _ = fetch(r, r.Data[:end])
		}
		records := whole.Records[seen:len(upTo.Records)]
		if upTo.Err != nil && len(records) == 0 {
			break
		}
		seen = len(upTo.Records)
		entry, err := entryOf(frame, records)
		if err != nil {
			return err
		}
		log.Add(r, entry)
	}
	if entries > 0 && whole.Err == nil {
		log.NextOffset = &next
	}
	return whole.Err
}

func entryOf(frame []byte, records []*kgo.Record) (any, error) {
	switch frame[16] {
	case 2:
		return batch(frame, records)
	case 1:
		var m kmsg.MessageV1
		err := m.ReadFrom(frame)
		return message(peer.Message{Offset: m.Offset, Magic: m.Magic, Attributes: m.Attributes,
			Timestamp: m.Timestamp, Key: m.Key}, records), err
	default:
		var m kmsg.MessageV0
		err := m.ReadFrom(frame)
		return message(peer.Message{Offset: m.Offset, Magic: m.Magic, Attributes: m.Attributes,
			Timestamp: -1, Key: m.Key}, records), err
	}
}

func batch(frame []byte, records []*kgo.Record) (any, error) {
	var b kmsg.RecordBatch
	err := b.ReadFrom(frame)
	entry := &peer.Batch{
		BaseOffset: b.FirstOffset, PartitionLeaderEpoch: b.PartitionLeaderEpoch, Magic: b.Magic,
		Attributes: b.Attributes, LastOffsetDelta: b.LastOffsetDelta, BaseTimestamp: b.FirstTimestamp,
		MaxTimestamp: b.MaxTimestamp, ProducerID: b.ProducerID, ProducerEpoch: b.ProducerEpoch,
		BaseSequence: b.FirstSequence, Records: []peer.Record{},
	}
	for _, record := range records {
		headers := []peer.Header{}
		for _, header := range record.Headers {
			headers = append(headers, peer.Header{peer.Hex(header.Key), header.Value})
		}
		entry.Records = append(entry.Records, peer.Record{Key: record.Key, Value: record.Value,
			Headers: headers, Offset: record.Offset, Timestamp: peer.Millis(record.Timestamp),
			TimestampType: timestampTypes[record.Attrs.TimestampType()]})
	}
	return entry, err
}

func message(outer peer.Message, records []*kgo.Record) *peer.Message {
	outer.Messages = []peer.Message{}
	for _, record := range records {
		inner := peer.Message{Offset: record.Offset, Key: record.Key, Value: record.Value,
			Timestamp: peer.Millis(record.Timestamp), Magic: 1, Attributes: outer.Attributes,
			TimestampType: timestampTypes[record.Attrs.TimestampType()]}
		if record.Attrs.TimestampType() < 0 { // none: what it says of magic 0
			inner.Magic = 0
		}
		outer.Messages = append(outer.Messages, inner)
	}
	if outer.Attributes&peer.Codec == 0 && len(records) == 1 {
		return &outer.Messages[0]
	}
	return &outer
}
