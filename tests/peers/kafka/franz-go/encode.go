package main

import (
	"errors"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	peer "wireproof/peer/_shared/go"
)

var codecs = []kgo.CompressionCodec{kgo.NoCompression(), kgo.GzipCompression(), kgo.SnappyCompression(),
	kgo.Lz4Compression(), kgo.ZstdCompression()}

// What the producer writes of records: it numbers them from 0, knows no leader epoch, and counts sequences
// only for an idempotent producer.
func encode(r *peer.Request) ([]byte, error) {
	if r.Revision != "v2" {
		return encodeMessages(r)
	}
	var value peer.Batch
	if err := peer.Parse(r, &value); err != nil {
		return nil, err
	}
	if err := peer.Produced(&value); err != nil {
		return nil, err
	}
	if value.Attributes&^(peer.Codec|peer.Transactional) != 0 {
		return nil, peer.Beyond("attributes")
	}
	compressor, err := compressorOf(int(value.Attributes & peer.Codec))
	if err != nil {
		return nil, err
	}
	var records []*kgo.Record
	for _, part := range value.Records {
		record := &kgo.Record{Key: part.Key, Value: part.Value,
			Timestamp: time.UnixMilli(value.BaseTimestamp + part.TimestampDelta)}
		for _, header := range part.Headers {
			record.Headers = append(record.Headers, kgo.RecordHeader{Key: string(header[0]), Value: header[1]})
		}
		records = append(records, record)
	}
	return kgo.PeerBatch(records, value.ProducerID, value.ProducerEpoch, value.BaseSequence,
		value.Attributes&peer.Transactional != 0, compressor), nil
}

func encodeMessages(r *peer.Request) ([]byte, error) {
	var value peer.Message
	if err := peer.Parse(r, &value); err != nil {
		return nil, err
	}
	messages, err := peer.Sent(&value, r.Revision)
	if err != nil {
		return nil, err
	}
	compressor, err := compressorOf(int(value.Attributes & peer.Codec))
	if err != nil {
		return nil, err
	}
	var records []*kgo.Record
	for _, message := range messages {
		records = append(records, &kgo.Record{Key: message.Key, Value: message.Value,
			Timestamp: time.UnixMilli(message.Timestamp)})
	}
	return kgo.PeerMessages(records, uint8(value.Magic), compressor), nil
}

func compressorOf(codec int) (kgo.Compressor, error) {
	if codec >= len(codecs) {
		return nil, errors.New("invalid value: unknown compression codec")
	}
	return kgo.DefaultCompressor(codecs[codec])
}
