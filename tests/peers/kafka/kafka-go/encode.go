package main

import (
	"bytes"
	"errors"
	"time"

	"github.com/segmentio/kafka-go"
	"github.com/segmentio/kafka-go/compress"
	"github.com/segmentio/kafka-go/protocol"

	peer "wireproof/peer/_shared/go"
)

// asked is what a producer is asked to write: of v2, what peer.Produced allows, of no producer id.
func asked(r *peer.Request) (int8, int16, []peer.Record, error) {
	if r.Revision != "v2" {
		return askedMessages(r)
	}
	var value peer.Batch
	err := peer.Parse(r, &value)
	if err == nil {
		err = peer.Produced(&value)
	}
	if err == nil && value.ProducerID != -1 {
		err = peer.Beyond("producerId")
	}
	for i := range value.Records {
		value.Records[i].Timestamp = value.BaseTimestamp + value.Records[i].TimestampDelta
	}
	return value.Magic, value.Attributes, value.Records, err
}

func askedMessages(r *peer.Request) (int8, int16, []peer.Record, error) {
	var value peer.Message
	if err := peer.Parse(r, &value); err != nil {
		return 0, 0, nil, err
	}
	messages, err := peer.Sent(&value, r.Revision)
	var records []peer.Record
	for _, message := range messages {
		records = append(records, peer.Record{Key: message.Key, Value: message.Value, Timestamp: message.Timestamp})
	}
	return value.Magic, int16(value.Attributes), records, err
}

func named(pairs []peer.Header) (headers []kafka.Header) {
	for _, pair := range pairs {
		headers = append(headers, kafka.Header{Key: string(pair[0]), Value: pair[1]})
	}
	return headers
}

func encodeSet(r *peer.Request) ([]byte, error) {
	magic, attributes, asked, err := asked(r)
	if err != nil {
		return nil, err
	}
	var records []protocol.Record
	for _, one := range asked {
		record := protocol.Record{Time: time.UnixMilli(one.Timestamp), Headers: named(one.Headers)}
		if one.Key != nil {
			record.Key = protocol.NewBytes(one.Key)
		}
		if one.Value != nil {
			record.Value = protocol.NewBytes(one.Value)
		}
		records = append(records, record)
	}
	set := protocol.RecordSet{Version: magic, Attributes: protocol.Attributes(attributes),
		Records: protocol.NewRecordReader(records...)}
	var out bytes.Buffer
	if _, err := set.WriteTo(&out); err != nil {
		return nil, err
	}
	return out.Bytes()[4:], nil // behind its length
}

// encodeReader writes as Conn.WriteCompressedMessages does, which is told a codec and no attributes.
func encodeReader(r *peer.Request) ([]byte, error) {
	magic, attributes, asked, err := asked(r)
	if err != nil {
		return nil, err
	}
	if attributes&^peer.Codec != 0 {
		return nil, peer.Beyond("attributes")
	}
	codec := compress.Compression(attributes).Codec()
	if attributes != 0 && codec == nil {
		return nil, errors.New("invalid value: there is no such kafka.CompressionCodec")
	}
	var messages []kafka.Message
	for _, one := range asked {
		messages = append(messages, kafka.Message{Time: time.UnixMilli(one.Timestamp), Key: one.Key,
			Value: one.Value, Headers: named(one.Headers)})
	}
	return kafka.PeerWrite(magic, codec, messages)
}
