// Added to the vendored copy of the library by the build: its reader and its writer are not exported.

package sarama

import (
	"encoding/binary"
	"math"
)

// PeerFetch reads the bytes of one partition as a consumer's fetch does: its part of a response of version 11.
func PeerFetch(data []byte, aborted [][2]int64) (*FetchResponseBlock, error) {
	raw := make([]byte, 2, 64+len(data))
	for _, field := range []int64{math.MaxInt64, math.MaxInt64, 0} { // high watermark, last stable, log start
		raw = binary.BigEndian.AppendUint64(raw, uint64(field))
	}
	raw = binary.BigEndian.AppendUint32(raw, uint32(len(aborted)))
	for _, pair := range aborted {
		raw = binary.BigEndian.AppendUint64(raw, uint64(pair[0]))
		raw = binary.BigEndian.AppendUint64(raw, uint64(pair[1]))
	}
	raw = binary.BigEndian.AppendUint32(raw, math.MaxUint32) // no preferred replica
	raw = binary.BigEndian.AppendUint32(raw, uint32(len(data)))
	block := new(FetchResponseBlock)
	return block, block.decode(&realDecoder{raw: append(raw, data...)}, 11)
}

// PeerMessage is what the consumer makes of one message of an entry of a message set: of the entry without
// those before it, as the consumer takes no offset twice.
func PeerMessage(entry *MessageBlock, number int) (*ConsumerMessage, error) {
	rest := entry
	if entry.Msg.Set != nil {
		outer := *entry.Msg
		outer.Set = &MessageSet{Messages: entry.Msg.Set.Messages[number:]}
		rest = &MessageBlock{Offset: entry.Offset, Msg: &outer}
	}
	child := partitionConsumer{offset: math.MinInt64}
	messages, err := child.parseMessages(&MessageSet{Messages: []*MessageBlock{rest}})
	return messages[0], err
}

// PeerRecord is what the consumer makes of one record of a batch.
func PeerRecord(batch *RecordBatch, record *Record) (*ConsumerMessage, error) {
	one := *batch
	one.Records = []*Record{record}
	child := partitionConsumer{offset: math.MinInt64}
	messages, err := child.parseRecords(&one)
	return messages[0], err
}

// PeerControl reads the marker of a control batch as the consumer does, and nothing of any other.
func PeerControl(records *Records) error {
	control, err := records.isControl()
	if err != nil || !control {
		return err
	}
	_, err = records.getControlRecord()
	return err
}

type peerNext interface{ nextOffset() (*int64, error) }

// PeerHasNextOffset tells whether this release computes the offset behind an entry by its header.
func PeerHasNextOffset() bool {
	_, has := interface{}(new(Records)).(peerNext)
	return has
}

// PeerNextOffset is the offset behind an entry of v2, whatever records are left in it; nil in a release
// that does not compute it.
func PeerNextOffset(records *Records) (*int64, error) {
	if one, has := interface{}(records).(peerNext); has {
		return one.nextOffset()
	}
	return nil, nil
}

// PeerDelivered is what the consumer hands on of a fetch from an offset on, and the offset of its next fetch.
func PeerDelivered(block *FetchResponseBlock, offset int64, committed bool) ([]*ConsumerMessage, int64, error) {
	conf := NewConfig()
	if committed {
		conf.Consumer.IsolationLevel = ReadCommitted
	}
	leader := &brokerConsumer{broker: new(Broker)} // its number is logged when a fetch has no records
	child := partitionConsumer{conf: conf, topic: "t", offset: offset, fetchSize: 1, broker: leader}
	blocks := map[string]map[int32]*FetchResponseBlock{"t": {0: block}}
	messages, err := child.parseResponse(&FetchResponse{Blocks: blocks})
	return messages, child.offset, err
}

// PeerEncode writes a batch or a message set.
func PeerEncode(batch *RecordBatch, set *MessageSet) ([]byte, error) {
	return encode(&Records{RecordBatch: batch, MsgSet: set}, nil)
}
