// Added to the vendored copy of the library by the build: the reader and the writer behind its Conn are not
// exported.

package kafka

import (
	"bufio"
	"bytes"
	"hash/crc32"
	"math"
)

// PeerBatch is a fetch from an offset on whose response holds data, as Conn.ReadBatch makes it.
func PeerBatch(data []byte) (*Batch, error) {
	messages, err := newMessageSetReader(bufio.NewReader(bytes.NewReader(data)), len(data))
	return &Batch{msgs: messages, offset: math.MinInt64, err: dontExpectEOF(err)}, err
}

// PeerConsumed is how far a batch has come in its response.
func PeerConsumed(batch *Batch, size int) int {
	stack := batch.msgs.readerStack
	for stack != nil && stack.parent != nil {
		stack = stack.parent
	}
	if stack == nil {
		return size
	}
	return size - stack.remain
}

// PeerWrite writes messages as Conn.WriteCompressedMessages does, of magic 1 or 2.
func PeerWrite(magic int8, codec CompressionCodec, messages []Message) ([]byte, error) {
	var out bytes.Buffer
	buffer := &writeBuffer{w: &out}
	if magic == 2 {
		batch, err := newRecordBatch(codec, messages...)
		if err != nil {
			return nil, err
		}
		batch.writeTo(buffer)
		return out.Bytes()[4:], nil // behind its length
	}
	var attributes int8
	if codec != nil {
		compressed, bits, _, err := compressMessageSet(codec, messages...)
		if err != nil {
			return nil, err
		}
		attributes, messages = bits, []Message{{Value: compressed.Bytes()}}
	}
	checksum := &crc32Writer{table: crc32.IEEETable}
	for _, message := range messages {
		buffer.writeMessage(message.Offset, attributes, message.Time, message.Key, message.Value, checksum)
	}
	return out.Bytes(), nil
}
