// Iggy's SDK for Go behind the adapter contract: what its TCP client sends for a call, and what it makes of
// a reply. Blocks of headers are its consumer's to open, by iggcon.DeserializeHeaders, as they are here; one
// that this refuses is shown as it came.
package main

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"fmt"
	"math/big"
	"slices"

	"github.com/apache/iggy/foreign/go/client/tcp"
	iggcon "github.com/apache/iggy/foreign/go/contracts"

	peer "wireproof/peer/_shared/go"
)

const frame = 8 // a length and a code stand before what is sent, a status and a length before a reply

var classes = [][2]string{
	{"has incorrect size", "bad-length"},
	{"size for kind", "type-mismatch"},
	{"invalid header", "truncated"},
	{"EOF", "truncated"},
	{"invalid value", "invalid-value"},
}

var features = []string{"headers", "message-id", "partitioning-balanced", "partitioning-messages-key"}

var kinds = []string{"", "raw", "string", "bool", "int8", "int16", "int32", "int64", "int128", "uint8", "uint16",
	"uint32", "uint64", "uint128", "float32", "float64"}

func main() {
	claim := func(ops ...string) peer.Claim {
		return peer.Claim{Ops: ops, Profiles: []string{"reader"}, Codecs: []string{"none"}, Features: features}
	}
	driver := peer.Driver{Name: "iggy-go", Module: "github.com/apache/iggy/foreign/go", Classes: classes,
		Decode: decode, Encode: encode, Claims: map[string]peer.Claim{
			"iggy.headers/0.10": claim("decode", "encode"), "iggy.poll/0.9": claim("decode"),
			"iggy.send/0.9": claim("encode"), "iggy.poll-request/0.8": claim("encode"),
			"iggy.identifier/0.8": claim("encode"), "iggy.partitioning/0.9": claim("encode"),
		}}
	driver.Run()
}

func decode(r *peer.Request, log *peer.Log) error {
	if r.Format == "iggy.headers" {
		entries, err := iggcon.DeserializeHeaders(r.Data)
		if err == nil {
			log.Batches = append(log.Batches, map[string]any{"headers": shown(entries)})
		}
		return err
	}
	reply := binary.LittleEndian.AppendUint32(make([]byte, 4), uint32(len(r.Data)))
	client := tcp.PeerClient(&tcp.PeerWire{Reply: bytes.NewReader(append(reply, r.Data...))})
	place, _ := iggcon.NewIdentifier(uint32(1))
	polled, err := client.PollMessages(place, place, iggcon.DefaultConsumer(), iggcon.NextPollingStrategy(), 10, false, nil)
	if err != nil {
		return err
	}
	messages := []any{}
	for _, one := range polled.Messages {
		messages = append(messages, message(&one))
	}
	log.Batches = append(log.Batches, map[string]any{"partition_id": fmt.Sprint(polled.PartitionId),
		"current_offset": fmt.Sprint(polled.CurrentOffset), "messages": messages})
	return nil
}

func message(one *iggcon.IggyMessage) map[string]any {
	var block any = peer.Hex(one.UserHeaders)
	if entries, err := iggcon.DeserializeHeaders(one.UserHeaders); err == nil {
		block = shown(entries)
	}
	head := one.Header
	return map[string]any{"checksum": fmt.Sprint(head.Checksum), "id": number(head.Id), "offset": fmt.Sprint(head.Offset),
		"timestamp": fmt.Sprint(head.Timestamp), "origin_timestamp": fmt.Sprint(head.OriginTimestamp),
		"headers": block, "payload": peer.Hex(one.Payload)}
}

// number is an id, which the library leaves in the bytes of the wire.
func number(id iggcon.MessageID) string {
	high, low := binary.LittleEndian.Uint64(id[8:]), binary.LittleEndian.Uint64(id[:])
	sum := new(big.Int).Lsh(new(big.Int).SetUint64(high), 64)
	return sum.Or(sum, new(big.Int).SetUint64(low)).String()
}

// shown is the list as the map that it is, by its keys; the library keeps the order of the wire.
func shown(entries []iggcon.HeaderEntry) []any {
	pairs := []any{}
	slices.SortStableFunc(entries, func(a, b iggcon.HeaderEntry) int {
		return cmp.Or(cmp.Compare(a.Key.Kind, b.Key.Kind), bytes.Compare(a.Key.Value, b.Key.Value))
	})
	for _, one := range entries {
		pairs = append(pairs, []any{tagged(one.Key.Kind, one.Key.Value), tagged(one.Value.Kind, one.Value.Value)})
	}
	return pairs
}

// tagged names a kind; one without a name is shown by its number.
func tagged(kind iggcon.HeaderKind, value []byte) map[string]any {
	name := fmt.Sprint(int(kind))
	if 0 < kind && int(kind) < len(kinds) {
		name = kinds[kind]
	}
	return map[string]any{"kind": name, "value": peer.Hex(value)}
}
