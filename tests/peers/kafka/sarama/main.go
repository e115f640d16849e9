// Sarama behind the adapter contract: a log is read as its consumer's fetch reads it (a response is decoded
// as a whole before any record is delivered), offsets and times are the consumer's.
package main

import (
	"math"
	"slices"

	"github.com/IBM/sarama"

	peer "wireproof/peer/_shared/go"
)

var classes = [][2]string{
	{"unexpected EOF", "decompress-failed"}, // of a codec: its own is "insufficient data"
	{"CRC didn't match", "crc-mismatch"},
	{"unknown magic byte", "bad-magic"},
	{"unsupported record batch version", "bad-magic"},
	{"unsupported compression codec", "unknown-codec"},
	{"invalid compression specified", "unknown-codec"},
	{"varint overflow", "bad-varint"},
	{"invalid byteslice length", "negative-length"},
	{"invalid array length", "negative-length"},
	{"length field invalid", "length-mismatch"},
	{"invalid length: buf", "trailing-data"},
	{"decompressed record batch is larger", "limit-exceeded"},
	{"invalid value", "invalid-value"},
	{"invalid timestamp", "invalid-value"},
}

func main() {
	codecs := []string{"none", "gzip", "snappy", "lz4", "zstd"}
	modern := []string{"headers", "idempotent", "transactional", "control-batch", "log-append-time", "empty-batch"}
	reads := []string{"wrapper", "headers", "log-append-time", "delete-horizon", "idempotent", "transactional",
		"control-batch", "partial-tail", "mixed-magic", "fetch-offset", "read-committed"}
	claim := func(op string, observes, features []string) peer.Claim {
		return peer.Claim{Ops: []string{op}, Codecs: codecs, Profiles: []string{"reader"},
			Observes: observes, Features: features}
	}
	message := []string{"offset", "magic", "timestamp", "key", "value"}
	batch := []string{"baseOffset", "partitionLeaderEpoch", "magic", "lastOffsetDelta", "baseTimestamp",
		"maxTimestamp", "producerId", "producerEpoch", "baseSequence"}
	record := []string{"attributes", "timestampDelta", "offsetDelta", "key", "value", "headers", "offset", "timestamp"}
	derived := []string{"nextOffset", "batches[].timestampType", "batches[].messages[].timestampType",
		"batches[].records[].timestampType"}
	if sarama.PeerHasNextOffset() {
		derived = append(derived, "batches[magic=2].nextOffset")
	}
	driver := peer.Driver{
		Name: "sarama", Module: "github.com/IBM/sarama", Classes: append(classes, peer.Decompress...), Decode: decode, Encode: encode,
		Claims: map[string]peer.Claim{
			"kafka.log/mixed": claim("decode", append(derived, peer.Observes(message, batch, record)...), reads),
			"kafka.batch/v0":  claim("encode", nil, []string{"wrapper"}),
			"kafka.batch/v1":  claim("encode", nil, []string{"wrapper", "log-append-time"}),
			"kafka.batch/v2":  claim("encode", nil, modern),
		},
	}
	driver.Run()
}

func decode(r *peer.Request, log *peer.Log) error {
	block, err := sarama.PeerFetch(r.Data, r.Options.Aborted)
	if err != nil {
		return err
	}
	keep := func(int64) bool { return true }
	from := int64(math.MinInt64)
	if r.Options.FetchOffset != nil {
		from = *r.Options.FetchOffset
	}
	delivered, next, err := sarama.PeerDelivered(block, from, r.Committed())
	if err == nil && (len(delivered) > 0 || next >= 0) && slices.ContainsFunc(block.RecordsSet, isWhole) {
		log.NextOffset = &next
	}
	if r.Delivered() {
		if err != nil {
			return err
		}
		keep = func(offset int64) bool { // the next one that the consumer delivered
			next := len(delivered) > 0 && delivered[0].Offset == offset
			if next {
				delivered = delivered[1:]
			}
			return next
		}
	}
	for _, records := range block.RecordsSet {
		cut := records.RecordBatch != nil && records.RecordBatch.PartialTrailingRecord
		if err := sarama.PeerControl(records); err != nil && !cut { // parseResponse returns before it
			return err
		}
		if records.MsgSet != nil {
			err = messages(r, log, records.MsgSet, keep)
		} else if !cut { // of which it says that it is cut off
			err = batch(r, log, records, keep)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// isWhole tells whether some entry of a set was not cut off.
func isWhole(records *sarama.Records) bool {
	if records.MsgSet != nil {
		return len(records.MsgSet.Messages) > 0
	}
	return records.RecordBatch != nil && !records.RecordBatch.PartialTrailingRecord
}

// kinds name the type of a timestamp by whether it is the broker's.
var kinds = map[bool]string{false: "create", true: "log-append"}

func batch(r *peer.Request, log *peer.Log, records *sarama.Records, keep func(int64) bool) error {
	b := records.RecordBatch
	next, err := sarama.PeerNextOffset(records)
	if err != nil {
		return err
	}
	entry := &peer.Batch{
		BaseOffset: b.FirstOffset, PartitionLeaderEpoch: b.PartitionLeaderEpoch, Magic: b.Version,
		LastOffsetDelta: b.LastOffsetDelta, BaseTimestamp: peer.Millis(b.FirstTimestamp),
		MaxTimestamp: peer.Millis(b.MaxTimestamp), ProducerID: b.ProducerID, ProducerEpoch: b.ProducerEpoch,
		BaseSequence: b.FirstSequence, Records: []peer.Record{}, NextOffset: next,
	}
	for _, record := range b.Records {
		seen, err := sarama.PeerRecord(b, record)
		if err != nil {
			return err
		}
		if !keep(seen.Offset) {
			continue
		}
		headers := []peer.Header{}
		for _, header := range record.Headers {
			headers = append(headers, peer.Header{header.Key, header.Value})
		}
		entry.Records = append(entry.Records, peer.Record{
			Attributes: record.Attributes, TimestampDelta: record.TimestampDelta.Milliseconds(),
			OffsetDelta: record.OffsetDelta, Key: seen.Key, Value: seen.Value, Headers: headers,
			Offset: seen.Offset, Timestamp: peer.Millis(seen.Timestamp), TimestampType: kinds[b.LogAppendTime],
		})
	}
	log.Add(r, entry)
	return nil
}

func messages(r *peer.Request, log *peer.Log, set *sarama.MessageSet, keep func(int64) bool) error {
	for _, outer := range set.Messages {
		entry := &peer.Message{Offset: outer.Offset, Magic: outer.Msg.Version,
			Timestamp: peer.Millis(outer.Msg.Timestamp), TimestampType: kind(outer.Msg), Key: outer.Msg.Key,
			Messages: []peer.Message{}}
		for i, inner := range outer.Messages() {
			seen, err := sarama.PeerMessage(outer, i)
			if err != nil {
				return err
			}
			if keep(seen.Offset) {
				entry.Messages = append(entry.Messages, peer.Message{Offset: seen.Offset, Magic: inner.Msg.Version,
					Timestamp: peer.Millis(seen.Timestamp), TimestampType: kind(inner.Msg), Key: seen.Key, Value: seen.Value})
			}
		}
		if outer.Msg.Set == nil && len(entry.Messages) == 1 {
			entry = &entry.Messages[0]
		}
		log.Add(r, entry)
	}
	return nil
}

// kind is the type of a message's timestamp: those of v0 have none.
func kind(message *sarama.Message) string {
	if message.Version == 0 {
		return "none"
	}
	return kinds[message.LogAppendTime]
}
