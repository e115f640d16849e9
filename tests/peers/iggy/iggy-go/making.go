package main

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	iggcon "github.com/apache/iggy/foreign/go/contracts"

	peer "wireproof/peer/_shared/go"
)

func u32(value []byte) uint32 { return binary.LittleEndian.Uint32(value) }

func partitioning(one Tagged) (iggcon.Partitioning, error) {
	switch {
	case one.Kind == "messages_key":
		return iggcon.EntityIdBytes(one.Value)
	case one.Kind == "partition_id" && len(one.Value) == 4:
		return iggcon.PartitionId(u32(one.Value)), nil
	case one.Kind == "balanced" && len(one.Value) == 0:
		return iggcon.None(), nil
	case one.Kind == "balanced":
		return iggcon.Partitioning{}, peer.Beyond("value")
	}
	return iggcon.Partitioning{}, errors.New("invalid value: not a partitioning")
}

// block is what a message is made with: its headers, or bytes in their place, by an option of the caller's own.
func block(text json.RawMessage) (iggcon.IggyMessageOpt, error) {
	var data peer.Hex
	if json.Unmarshal(text, &data) == nil {
		return func(one *iggcon.IggyMessage) { one.UserHeaders = data }, nil
	}
	made, err := entries(text)
	return iggcon.WithUserHeaders(made), err
}

// entries are pairs of a key and a value; the library has no constructor for most kinds, but open fields.
func entries(block json.RawMessage) ([]iggcon.HeaderEntry, error) {
	var pairs [][2]Tagged
	if err := json.Unmarshal(block, &pairs); err != nil {
		return nil, fmt.Errorf("invalid value: %w", err)
	}
	made := []iggcon.HeaderEntry{}
	for _, pair := range pairs {
		key, err := kind(pair[0])
		value, other := kind(pair[1])
		if err = errors.Join(err, other); err != nil {
			return nil, err
		}
		made = append(made, iggcon.HeaderEntry{Key: iggcon.HeaderKey{Kind: key, Value: pair[0].Value},
			Value: iggcon.HeaderValue{Kind: value, Value: pair[1].Value}})
	}
	return made, nil
}

func kind(one Tagged) (iggcon.HeaderKind, error) {
	if at := slices.Index(kinds, one.Kind); at > 0 {
		return iggcon.HeaderKind(at), nil
	}
	return 0, errors.New("invalid value: not a kind")
}
