package main

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"encoding/json"
	"io"
	"os"
)

// A request as it comes: a u32 big-endian length of a JSON header, the header, the bytes that its "blob"
// announces (of a scan, one after another). The hello is the one without an op.
type request struct {
	ID      string          `json:"id"`
	Op      string          `json:"op"`
	Format  string          `json:"format"`
	Blob    int             `json:"blob"`
	Blobs   []int           `json:"blobs"`
	Value   json.RawMessage `json:"value"`
	Options struct {
		Keys        map[string]string `json:"keys"`
		MaxMessage  *uint32           `json:"max_message"`
		Resync      string            `json:"resync"`
		Content     string            `json:"content"`
		Compression string            `json:"compression"`
	} `json:"options"`
	chunks [][]byte
}

func read(in io.Reader) (*request, error) {
	var length uint32
	if err := binary.Read(in, binary.BigEndian, &length); err != nil {
		return nil, err
	}
	head := make([]byte, length)
	if _, err := io.ReadFull(in, head); err != nil {
		return nil, err
	}
	asked := new(request)
	if err := json.Unmarshal(head, asked); err != nil {
		return nil, err
	}
	for _, size := range append(asked.Blobs, asked.Blob) {
		chunk := make([]byte, size)
		if _, err := io.ReadFull(in, chunk); err != nil {
			return nil, err
		}
		asked.chunks = append(asked.chunks, chunk)
	}
	return asked, nil
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

// Answers requests until stdin ends.
func serve(answer func(*request) (map[string]any, []byte)) {
	in, out := bufio.NewReader(os.Stdin), bufio.NewWriter(os.Stdout)
	defer out.Flush()
	for {
		asked, err := read(in)
		if err == io.EOF {
			return
		}
		if err != nil {
			panic(err)
		}
		head, blob := answer(asked)
		write(out, head, blob)
		if in.Buffered() == 0 {
			out.Flush()
		}
	}
}
