package main

import (
	"errors"
	"io"

	"github.com/segmentio/kafka-go"

	peer "wireproof/peer/_shared/go"
)

// decodeReader reads messages as a Reader does, Batch.ReadMessage until it ends. They say nothing of their
// entries: a message belongs to the one in which the reader stands once it has read it.
func decodeReader(r *peer.Request, log *peer.Log) error {
	if len(r.Data) == 0 { // a Conn asks nobody for the messages of no bytes
		return nil
	}
	frames := peer.Frames(r.Data)
	batch, err := kafka.PeerBatch(r.Data)
	entries, end := 0, 0
	for err == nil {
		var message kafka.Message
		if message, err = batch.ReadMessage(); err != nil {
			break
		}
		read := kafka.PeerConsumed(batch, len(r.Data))
		for entries < len(frames) && end < read {
			if err := begin(r, log, frames[entries]); err != nil {
				return err
			}
			end += len(frames[entries])
			entries++
		}
		deliver(r, log, message)
	}
	if errors.Is(err, io.EOF) {
		if next := batch.Offset(); len(frames) > 0 {
			log.NextOffset = &next
		}
		return nil
	}
	return err
}

// begin adds an entry without records: a batch, or a wrapper with what the library reads of the same message
// without its codec bits.
func begin(r *peer.Request, log *peer.Log, frame []byte) error {
	if frame[16] >= 2 {
		log.Add(r, &peer.Batch{Magic: int8(frame[16]), Records: []peer.Record{}})
		return nil
	}
	entry := &peer.Message{Magic: int8(frame[16])}
	if frame[17]&peer.Codec != 0 {
		batch, err := kafka.PeerBatch(peer.Plain(frame))
		if err != nil {
			return err
		}
		outer, err := batch.ReadMessage()
		if err != nil {
			return err
		}
		entry.Offset, entry.Timestamp, entry.Key = outer.Offset, peer.Millis(outer.Time), outer.Key
		entry.Messages = []peer.Message{}
	}
	log.Add(r, entry)
	return nil
}

func deliver(r *peer.Request, log *peer.Log, message kafka.Message) {
	if len(log.Batches) == 0 { // it reads an entry where none is by its length
		log.Add(r, &peer.Batch{Records: []peer.Record{}})
	}
	switch entry := log.Batches[len(log.Batches)-1].(type) {
	case *peer.Batch:
		entry.Records = append(entry.Records, peer.Record{Key: message.Key, Value: message.Value,
			Headers: headers(message.Headers), Offset: message.Offset, Timestamp: peer.Millis(message.Time)})
	case *peer.Message:
		seen := peer.Message{Offset: message.Offset, Timestamp: peer.Millis(message.Time), Key: message.Key,
			Value: message.Value}
		if entry.Messages != nil {
			entry.Messages = append(entry.Messages, seen)
		} else {
			*entry = seen
		}
	}
}
