package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"math/big"
	"slices"

	"github.com/apache/iggy/foreign/go/client/tcp"
	iggcon "github.com/apache/iggy/foreign/go/contracts"

	peer "wireproof/peer/_shared/go"
)

// Tagged is a kind and its bytes.
type Tagged struct {
	Kind  string   `json:"kind"`
	Value peer.Hex `json:"value"`
}

// Asked is what may stand in a value that is to be encoded.
type Asked struct {
	Tagged
	Headers       json.RawMessage
	Stream, Topic Tagged
	Partitioning  Tagged
	Messages      []Message
	Consumer      struct {
		Kind string
		ID   Tagged
	}
	PartitionID *uint32 `json:"partition_id,string"`
	Strategy    struct {
		Kind  string
		Value uint64 `json:",string"`
	}
	Count      uint32 `json:",string"`
	AutoCommit bool   `json:"auto_commit"`
}

// Message is one of a send.
type Message struct {
	ID              string          `json:"id"`
	OriginTimestamp uint64          `json:"origin_timestamp,string"`
	Headers         json.RawMessage `json:"headers"`
	Payload         peer.Hex        `json:"payload"`
}

func encode(r *peer.Request) ([]byte, error) {
	var value, wire = new(Asked), &tcp.PeerWire{Reply: bytes.NewReader(make([]byte, frame))}
	if r.Format == "iggy.identifier" || r.Format == "iggy.partitioning" {
		if err := peer.Parse(r, &value.Tagged); err != nil {
			return nil, err
		}
	} else if err := peer.Parse(r, value); err != nil {
		return nil, err
	}
	switch r.Format {
	case "iggy.headers":
		entries, err := entries(value.Headers)
		return iggcon.GetHeadersBytes(entries), err
	case "iggy.identifier":
		one, err := place(value.Tagged)
		return identifierBytes(one, err)
	case "iggy.partitioning":
		one, err := partitioning(value.Tagged)
		return partitioningBytes(one, err)
	}
	stream, err := place(value.Stream)
	topic, other := place(value.Topic)
	if err = errors.Join(err, other); err != nil {
		return nil, err
	}
	if r.Format == "iggy.send" {
		err = send(tcp.PeerClient(wire), stream, topic, value)
	} else {
		err = poll(tcp.PeerClient(wire), stream, topic, value)
	}
	if err != nil {
		return nil, err
	}
	return wire.Sent.Bytes()[frame:], nil
}

func send(client *tcp.IggyTcpClient, stream, topic iggcon.Identifier, value *Asked) error {
	key, err := partitioning(value.Partitioning)
	if err != nil {
		return err
	}
	messages := []iggcon.IggyMessage{}
	for _, one := range value.Messages {
		made, err := written(one)
		if err != nil {
			return err
		}
		messages = append(messages, made)
	}
	return client.SendMessages(stream, topic, key, messages)
}

func written(one Message) (iggcon.IggyMessage, error) {
	headers, err := block(one.Headers)
	number, ok := new(big.Int).SetString(one.ID, 10)
	if err != nil || !ok || number.Sign() < 0 || number.BitLen() > 128 {
		return iggcon.IggyMessage{}, errors.Join(err, errors.New("invalid value: an id has 16 bytes"))
	}
	var id [16]byte
	number.FillBytes(id[:])
	slices.Reverse(id[:])
	made, err := iggcon.NewIggyMessage(one.Payload, iggcon.WithID(id), headers)
	made.Header.OriginTimestamp = one.OriginTimestamp
	return made, err
}

func poll(client *tcp.IggyTcpClient, stream, topic iggcon.Identifier, value *Asked) error {
	id, err := place(value.Consumer.ID)
	kind := slices.Index([]string{"", "offset", "timestamp", "first", "last", "next"}, value.Strategy.Kind)
	if err != nil || kind < 1 {
		return errors.Join(err, errors.New("invalid value: not a strategy"))
	}
	consumer := iggcon.NewSingleConsumer(id)
	if value.Consumer.Kind == "group" {
		consumer = iggcon.NewGroupConsumer(id)
	}
	strategy := iggcon.NewPollingStrategy(iggcon.MessagePolling(kind), value.Strategy.Value)
	_, err = client.PollMessages(stream, topic, consumer, strategy, value.Count, value.AutoCommit, value.PartitionID)
	return err
}

func place(one Tagged) (iggcon.Identifier, error) {
	switch {
	case one.Kind == "string":
		return iggcon.NewIdentifier(string(one.Value))
	case one.Kind == "numeric" && len(one.Value) == 4:
		return iggcon.NewIdentifier(u32(one.Value))
	}
	return iggcon.Identifier{}, errors.New("invalid value: not an identifier")
}
