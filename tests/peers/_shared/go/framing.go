// Package peer is what the drivers in Go have in common: the adapter contract over its exec framing, a
// u32 big-endian header length, a JSON header and the raw bytes that its "blob" announces, on stdin and stdout.
package peer

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"io"
)

// Request is one question of the suite; the hello is one without an op.
type Request struct {
	ID       string          `json:"id"`
	Op       string          `json:"op"`
	Format   string          `json:"format"`
	Revision string          `json:"revision"`
	Blob     int             `json:"blob"`
	Value    json.RawMessage `json:"value"`
	Options  struct {
		FetchOffset *int64     `json:"fetch_offset"`
		Isolation   string     `json:"isolation"`
		Aborted     [][2]int64 `json:"aborted"`
	} `json:"options"`
	Data []byte `json:"-"`
}

// Delivered tells whether what a consumer hands on is asked for, rather than the log as it stands.
func (r *Request) Delivered() bool { return r.Options.FetchOffset != nil || r.Committed() }

// Committed tells whether records of aborted transactions are to be left out.
func (r *Request) Committed() bool { return r.Options.Isolation == "read_committed" }

func read(in io.Reader) (*Request, error) {
	var length uint32
	if err := binary.Read(in, binary.BigEndian, &length); err != nil {
		return nil, err
	}
	head := make([]byte, length)
	if _, err := io.ReadFull(in, head); err != nil {
		return nil, err
	}
	request := new(Request)
	if err := json.Unmarshal(head, request); err != nil {
		return nil, err
	}
	request.Data = make([]byte, request.Blob)
	_, err := io.ReadFull(in, request.Data)
	return request, err
}

func write(out io.Writer, head map[string]any, blob []byte) {
	if blob != nil {
		head["blob"] = len(blob)
	}
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(head); err != nil {
		panic(err)
	}
	binary.Write(out, binary.BigEndian, uint32(text.Len()))
	out.Write(text.Bytes())
	out.Write(blob)
}
