package main

import (
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/IBM/sarama"

	peer "wireproof/peer/_shared/go"
)

// A value of v2 is a RecordBatch of Sarama's, whose fields are all exported; of v0 and v1 a MessageSet,
// compressed as its producer does it (produceSet.buildRequest).
func encode(r *peer.Request) ([]byte, error) {
	if r.Revision == "v2" {
		return encodeBatch(r)
	}
	var value peer.Message
	if err := peer.Parse(r, &value); err != nil {
		return nil, err
	}
	if r.Revision != fmt.Sprintf("v%d", value.Magic) {
		return nil, errors.New("invalid value: magic is not the revision's")
	}
	outer, err := message(&value)
	if err != nil {
		return nil, err
	}
	if value.Messages != nil {
		if err := fill(outer, &value); err != nil {
			return nil, err
		}
	}
	set := sarama.MessageSet{Messages: []*sarama.MessageBlock{{Offset: value.Offset, Msg: outer}}}
	return sarama.PeerEncode(nil, &set)
}

func message(value *peer.Message) (*sarama.Message, error) {
	codec := value.Attributes & peer.Codec
	switch {
	case value.Attributes&^(peer.Codec|peer.AppendTime) != 0:
		return nil, peer.Beyond("attributes")
	case (codec != 0) != (value.Messages != nil):
		return nil, errors.New("invalid value: messages and the codec bits contradict each other")
	}
	return &sarama.Message{
		Codec: sarama.CompressionCodec(codec), CompressionLevel: sarama.CompressionLevelDefault,
		LogAppendTime: value.Attributes&peer.AppendTime != 0, Version: value.Magic,
		Key: value.Key, Value: value.Value, Timestamp: moment(value.Timestamp),
	}, nil
}

// fill makes outer the wrapper of its messages: their offsets are absolute in v0 and relative in v1.
func fill(outer *sarama.Message, value *peer.Message) error {
	outer.Set = new(sarama.MessageSet)
	var base int64
	if value.Magic > 0 && len(value.Messages) > 0 {
		base = value.Messages[0].Offset
	}
	for i := range value.Messages {
		inner, err := message(&value.Messages[i])
		if err != nil {
			return err
		}
		block := &sarama.MessageBlock{Offset: value.Messages[i].Offset - base, Msg: inner}
		outer.Set.Messages = append(outer.Set.Messages, block)
	}
	var err error
	outer.Value, err = sarama.PeerEncode(nil, outer.Set)
	return err
}

func encodeBatch(r *peer.Request) ([]byte, error) {
	var value peer.Batch
	if err := peer.Parse(r, &value); err != nil {
		return nil, err
	}
	known := int16(peer.Codec | peer.AppendTime | peer.Transactional | peer.Control)
	if value.Attributes&^known != 0 {
		return nil, peer.Beyond("attributes")
	}
	b := sarama.RecordBatch{
		FirstOffset: value.BaseOffset, PartitionLeaderEpoch: value.PartitionLeaderEpoch, Version: value.Magic,
		Codec: sarama.CompressionCodec(value.Attributes & peer.Codec), CompressionLevel: sarama.CompressionLevelDefault,
		Control: value.Attributes&peer.Control != 0, LogAppendTime: value.Attributes&peer.AppendTime != 0,
		IsTransactional: value.Attributes&peer.Transactional != 0, LastOffsetDelta: value.LastOffsetDelta,
		FirstTimestamp: moment(value.BaseTimestamp), MaxTimestamp: moment(value.MaxTimestamp),
		ProducerID: value.ProducerID, ProducerEpoch: value.ProducerEpoch, FirstSequence: value.BaseSequence,
	}
	for _, part := range value.Records {
		const most = math.MaxInt64 / int64(time.Millisecond)
		if part.TimestampDelta > most || part.TimestampDelta < -most {
			return nil, peer.Unsupported("a time.Duration cannot hold records[].timestampDelta")
		}
		record := &sarama.Record{Attributes: part.Attributes, OffsetDelta: part.OffsetDelta, Key: part.Key,
			Value: part.Value, TimestampDelta: time.Duration(part.TimestampDelta) * time.Millisecond}
		for _, header := range part.Headers {
			record.Headers = append(record.Headers, &sarama.RecordHeader{Key: header[0], Value: header[1]})
		}
		b.Records = append(b.Records, record)
	}
	return sarama.PeerEncode(&b, nil)
}

// moment is Kafka's time as Go's; Sarama writes -1 for the zero time.
func moment(millis int64) time.Time {
	if millis == -1 {
		return time.Time{}
	}
	return time.UnixMilli(millis)
}
