package main

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/segmentio/kafka-go"
	"github.com/segmentio/kafka-go/protocol"

	peer "wireproof/peer/_shared/go"
)

// readSet reads a record set as it stands in a response, behind its length.
func readSet(data []byte) (*protocol.RecordSet, error) {
	framed := append(binary.BigEndian.AppendUint32(nil, uint32(len(data))), data...)
	set := new(protocol.RecordSet)
	_, err := set.ReadFrom(bufio.NewReader(bytes.NewReader(framed)))
	return set, err
}

// A record set holds one reader for each entry; one of a wrapper shows nothing of the outer message.
func decodeSet(r *peer.Request, log *peer.Log) error {
	set, err := readSet(r.Data)
	if err != nil || set.Records == nil {
		return err
	}
	frames := peer.Frames(r.Data)
	for i, reader := range set.Records.(*protocol.RecordStream).Records {
		var frame []byte
		if i < len(frames) {
			frame = frames[i]
		}
		entry, err := entryOf(reader, frame)
		if err != nil {
			return err
		}
		log.Add(r, entry)
	}
	return nil
}

func entryOf(reader protocol.RecordReader, frame []byte) (any, error) {
	switch batch := reader.(type) {
	case *protocol.RecordBatch:
		records, err := recordsOf(reader)
		return &peer.Batch{BaseOffset: batch.BaseOffset, PartitionLeaderEpoch: batch.PartitionLeaderEpoch,
			Attributes: int16(batch.Attributes), ProducerID: batch.ProducerID, ProducerEpoch: batch.ProducerEpoch,
			BaseSequence: batch.BaseSequence, Records: records}, err
	case *protocol.ControlBatch:
		records, err := recordsOf(reader)
		return &peer.Batch{BaseOffset: batch.BaseOffset, PartitionLeaderEpoch: batch.PartitionLeaderEpoch,
			Attributes: int16(batch.Attributes), ProducerID: batch.ProducerID, ProducerEpoch: batch.ProducerEpoch,
			BaseSequence: batch.BaseSequence, Records: records}, err
	}
	records, err := recordsOf(reader)
	if fmt.Sprintf("%T", reader) == "*protocol.message" && len(records) == 1 {
		message := messageOf(records[0], frame)
		message.Attributes = attributesOf(frame)
		return &message, err
	}
	if len(frame) == 0 {
		return nil, errors.New("no entry of its size is in the log")
	}
	wrapper := peer.Message{Messages: []peer.Message{}}
	if plain, err := readSet(peer.Plain(frame)); err == nil && plain.Records != nil {
		if outer, err := recordsOf(plain.Records); err == nil && len(outer) == 1 {
			wrapper = messageOf(outer[0], frame)
			wrapper.Value, wrapper.Messages = nil, []peer.Message{}
			wrapper.Attributes = attributesOf(frame)
		}
	}
	for _, record := range records {
		wrapper.Messages = append(wrapper.Messages, messageOf(record, frame))
	}
	return &wrapper, err
}

// messageOf is a record as a message. Magic 0 has no time, for which the library shows 0.
func messageOf(record peer.Record, frame []byte) peer.Message {
	if len(frame) > 16 && frame[16] == 0 && record.Timestamp == 0 {
		record.Timestamp = -1
	}
	return peer.Message{Offset: record.Offset, Timestamp: record.Timestamp, Key: record.Key, Value: record.Value}
}

// attributesOf are those of a set of one entry; of more the library shows all their bits together.
func attributesOf(frame []byte) int8 {
	set, err := readSet(frame)
	if err != nil {
		return 0
	}
	return int8(set.Attributes)
}

func recordsOf(reader protocol.RecordReader) ([]peer.Record, error) {
	records := []peer.Record{}
	for {
		record, err := reader.ReadRecord()
		if errors.Is(err, io.EOF) {
			return records, nil
		}
		if err != nil {
			return records, err
		}
		key, err := protocol.ReadAll(record.Key)
		if err != nil {
			return records, err
		}
		value, err := protocol.ReadAll(record.Value)
		if err != nil {
			return records, err
		}
		records = append(records, peer.Record{Key: key, Value: value, Headers: headers(record.Headers),
			Offset: record.Offset, Timestamp: peer.Millis(record.Time)})
	}
}

func headers(found []kafka.Header) []peer.Header {
	pairs := []peer.Header{}
	for _, header := range found {
		pairs = append(pairs, peer.Header{peer.Hex(header.Key), header.Value})
	}
	return pairs
}
