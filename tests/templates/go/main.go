// An adapter for wireproof: one file of Go and its standard library.
//
//	go build -o adapter . && wireproof check 'exec:./adapter' --run 'iggy.identifier/**'
//
// As it stands it is a whole codec of a small format, Iggy's identifier: kind (1 byte), length (1 byte), value.
// Put yours in its place: name, version, claims, decode, encode. What is below "the wire" can stay as it is.
package main

import (
	"bufio"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
)

const name, version = "my-codec", "1.0"

// "exact": the classes of refusals are judged too; "coarse": only that it refuses; "none": it has no reasons.
const reasons = "exact"

// Refused are bytes or a value that the codec does not take: a class of the contract, where, and a text.
type Refused struct {
	Class string
	At    int
	Text  string
}

func (r Refused) Error() string { return r.Text }

// --- the codec: yours goes here ---

// What the codec can do, by format and revision (`wireproof show` lists them). Only what is claimed is asked.
// May hold more: codecs, profiles, features, and observes, the fields that it shows, if not all.
var claims = map[string]object{
	"iggy.identifier/0.0.30": {"ops": []string{"decode", "encode"}},
	"iggy.identifier/0.8":    {"ops": []string{"decode", "encode"}},
}

// Identifier is a value in the form of its JSON Schema: bytes and text are lower-case hex.
type Identifier struct {
	Kind  string `json:"kind"`
	Value string `json:"value"`
}

var kinds = []string{"", "numeric", "string"}

// decode gives the value that stands at the start of data, and how many bytes it takes.
func decode(revision string, data []byte) (value any, consumed int, err error) {
	if len(data) < 2 && (len(data) == 0 || data[0] == 1 || data[0] == 2) {
		return nil, 0, Refused{"truncated", len(data), "no kind and length"}
	} else if data[0] == 0 || int(data[0]) >= len(kinds) {
		return nil, 0, Refused{"bad-kind", 0, fmt.Sprintf("kind %d", data[0])}
	}
	kind, length := kinds[data[0]], int(data[1])
	if length == 0 || (kind == "numeric" && length != 4) {
		return nil, 0, Refused{"bad-length", 1, fmt.Sprintf("%s of %d bytes", kind, length)}
	} else if length > len(data)-2 {
		return nil, 0, Refused{"truncated", 2, fmt.Sprintf("%d bytes announced", length)}
	}
	content := data[2 : 2+length]
	if kind == "string" && string([]rune(string(content))) != string(content) {
		return nil, 0, Refused{"bad-utf8", 2, "no UTF-8"}
	} else if kind == "numeric" && revision == "0.0.30" && binary.LittleEndian.Uint32(content) == 0 {
		return nil, 0, Refused{"invalid-value", 2, "0 names nothing before 0.8"}
	}
	return Identifier{kind, hex.EncodeToString(content)}, 2 + length, nil
}

// encode gives the bytes of a value in the form that decode gives it.
func encode(revision string, text json.RawMessage) ([]byte, error) {
	var value Identifier
	_ = json.Unmarshal(text, &value) // without a kind it is no value
	data, _ := hex.DecodeString(value.Value)
	if len(data) > 255 {
		return nil, Refused{"invalid-value", 0, fmt.Sprintf("%s of %d bytes", value.Kind, len(data))}
	}
	wire := append([]byte{map[string]byte{"numeric": 1, "string": 2}[value.Kind], byte(len(data))}, data...)
	if _, _, err := decode(revision, wire); err != nil {
		return nil, Refused{"invalid-value", 0, err.Error()} // what does not decode again is no value
	}
	return wire, nil
}

// --- the wire: u32 big-endian length, a JSON header of that length, then as many raw bytes as "blob" says ---

type object = map[string]any

type request struct {
	Hello                    json.RawMessage
	ID, Op, Format, Revision string
	Value                    json.RawMessage
	Blob                     int
}

func answer(r request, blob []byte) (said object, data []byte) {
	if r.Hello != nil {
		hello := object{"protocol": 1, "name": name, "version": version, "revisions": claims, "errors": reasons, "window": 64}
		return object{"hello": hello}, nil
	}
	defer func() { // a panic would have ended any other caller: a crash
		if fault := recover(); fault != nil {
			said = object{"id": r.ID, "outcome": "crashed", "text": fmt.Sprint("panic: ", fault)}
		}
	}()
	said = object{"id": r.ID, "outcome": "accepted"}
	var err error
	if ops, _ := claims[r.Format+"/"+r.Revision]["ops"].([]string); !slices.Contains(ops, r.Op) {
		return object{"id": r.ID, "outcome": "unsupported", "text": "no " + r.Op + " of " + r.Format}, nil
	} else if r.Op == "decode" {
		said["value"], said["consumed"], err = decode(r.Revision, blob)
	} else {
		data, err = encode(r.Revision, r.Value)
	}
	if err == nil {
		return said, data
	}
	refused := Refused{"other", 0, err.Error()}
	errors.As(err, &refused)
	return object{"id": r.ID, "outcome": "refused", "class": refused.Class, "at": refused.At, "text": refused.Text}, nil
}

func main() {
	in, length := bufio.NewReader(os.Stdin), uint32(0)
	for binary.Read(in, binary.BigEndian, &length) == nil {
		var r request
		if err := json.Unmarshal(take(in, int(length)), &r); err != nil {
			panic(err)
		}
		said, data := answer(r, take(in, r.Blob))
		if data != nil {
			said["blob"] = len(data)
		}
		header, _ := json.Marshal(said)
		frame := append(binary.BigEndian.AppendUint32(nil, uint32(len(header))), header...)
		os.Stdout.Write(append(frame, data...))
	}
}

func take(in io.Reader, size int) []byte {
	bytes := make([]byte, size)
	if _, err := io.ReadFull(in, bytes); err != nil {
		panic(err)
	}
	return bytes
}
