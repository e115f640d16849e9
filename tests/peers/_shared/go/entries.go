package peer

import (
	"encoding/binary"
	"errors"
	"hash/crc32"
)

// Frames cuts a log at the lengths of its entries, as far as they are whole: for a library that delivers
// records without a word about the entry they came in.
func Frames(data []byte) (frames [][]byte) {
	for len(data) >= 26 {
		size := 12 + int64(int32(binary.BigEndian.Uint32(data[8:])))
		if size < 26 || size > int64(len(data)) {
			break
		}
		frames, data = append(frames, data[:size]), data[size:]
	}
	return frames
}

// Plain is a v0 or v1 wrapper without the bits that make it one, sealed again: by it a library that hides
// a wrapper shows the fields of the outer message.
func Plain(wrapper []byte) []byte {
	plain := append([]byte{}, wrapper...)
	plain[17] &^= Codec
	binary.BigEndian.PutUint32(plain[12:], crc32.ChecksumIEEE(plain[16:]))
	return plain
}

// Produced tells whether a batch is one that a producer makes, which numbers its records from 0 and counts
// time from the first of them; else the error that names the field.
func Produced(b *Batch) error {
	if b.Magic != 2 {
		return errors.New("invalid value: magic is not the revision's")
	}
	if b.BaseOffset != 0 {
		return Beyond("baseOffset")
	}
	most := b.BaseTimestamp
	for i, record := range b.Records {
		switch {
		case record.Attributes != 0:
			return Beyond("records[].attributes")
		case record.OffsetDelta != int64(i):
			return Beyond("records[].offsetDelta")
		case i == 0 && record.TimestampDelta != 0:
			return Beyond("baseTimestamp")
		}
		most = max(most, b.BaseTimestamp+record.TimestampDelta)
		for _, header := range record.Headers {
			if header[0] == nil {
				return errors.New("invalid value: a string cannot be null, as this header key is")
			}
		}
	}
	switch {
	case len(b.Records) == 0:
		return Beyond("records")
	case b.LastOffsetDelta != int32(len(b.Records)-1):
		return Beyond("lastOffsetDelta")
	case b.MaxTimestamp != most:
		return Beyond("maxTimestamp")
	}
	return nil
}

// Sent tells the same of a message or wrapper, and gives the messages that are to be sent.
func Sent(m *Message, revision string) ([]Message, error) {
	messages := m.Messages
	if messages == nil {
		messages = []Message{*m}
	}
	switch {
	case revision != "v"+string('0'+rune(m.Magic)):
		return nil, errors.New("invalid value: magic is not the revision's")
	case m.Attributes&^Codec != 0:
		return nil, Beyond("attributes")
	case (m.Attributes != 0) != (m.Messages != nil):
		return nil, errors.New("invalid value: messages and the codec bits contradict each other")
	case len(messages) == 0:
		return nil, Beyond("messages")
	case m.Messages != nil && m.Key != nil:
		return nil, Beyond("key")
	case m.Offset != int64(len(messages)-1):
		return nil, Beyond("offset")
	case m.Messages != nil && m.Timestamp != messages[0].Timestamp:
		return nil, Beyond("timestamp")
	}
	for i, message := range messages {
		switch {
		case message.Offset != int64(i):
			return nil, Beyond("messages[].offset")
		case m.Messages != nil && message.Attributes != 0:
			return nil, Beyond("messages[].attributes")
		case message.Magic != m.Magic:
			return nil, Beyond("messages[].magic")
		}
	}
	return messages, nil
}

// Decompress are the classes of what the codecs say that most Go clients use: klauspost's and pierrec's.
var Decompress = [][2]string{
	{"lz4: ", "decompress-failed"},
	{"gzip: ", "decompress-failed"},
	{"flate: ", "decompress-failed"},
	{"s2: corrupt", "decompress-failed"},
	{"snappy: corrupt", "decompress-failed"},
	{"malformed xerial", "decompress-failed"},
	{"window size exceeded", "decompress-failed"},
	{"unknown dictionary", "decompress-failed"},
	{"magic number mismatch", "decompress-failed"},
	{"CRC check failed", "decompress-failed"},
	{"decompressed size exceeds", "limit-exceeded"},
}
