package peer

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strconv"
	"time"
)

// Bits of the attributes of batches and messages.
const (
	Codec         = 0x07
	AppendTime    = 0x08
	Transactional = 0x10
	Control       = 0x20
)

// Hex is bytes as lower-case hex; nil is null, which is not empty.
type Hex []byte

// MarshalJSON writes null or hex.
func (h Hex) MarshalJSON() ([]byte, error) {
	if h == nil {
		return []byte("null"), nil
	}
	return json.Marshal(hex.EncodeToString(h))
}

// UnmarshalJSON reads null or hex.
func (h *Hex) UnmarshalJSON(text []byte) error {
	var digits *string
	if err := json.Unmarshal(text, &digits); err != nil || digits == nil {
		return err
	}
	data, err := hex.DecodeString(*digits)
	*h = append(Hex{}, data...)
	return err
}

// Header is a key and a value.
type Header [2]Hex

// Record is one of a batch; its last two integers are absolute and are not encoded.
type Record struct {
	Attributes     int8     `json:"attributes,string"`
	TimestampDelta int64    `json:"timestampDelta,string"`
	OffsetDelta    int64    `json:"offsetDelta,string"`
	Key            Hex      `json:"key"`
	Value          Hex      `json:"value"`
	Headers        []Header `json:"headers"`
	Offset         int64    `json:"offset,string"`
	Timestamp      int64    `json:"timestamp,string"`
	TimestampType  string   `json:"timestampType,omitempty"` // of a library that shows it
}

// Batch is a v2 entry.
type Batch struct {
	BaseOffset           int64    `json:"baseOffset,string"`
	PartitionLeaderEpoch int32    `json:"partitionLeaderEpoch,string"`
	Magic                int8     `json:"magic,string"`
	Attributes           int16    `json:"attributes,string"`
	LastOffsetDelta      int32    `json:"lastOffsetDelta,string"`
	BaseTimestamp        int64    `json:"baseTimestamp,string"`
	MaxTimestamp         int64    `json:"maxTimestamp,string"`
	ProducerID           int64    `json:"producerId,string"`
	ProducerEpoch        int16    `json:"producerEpoch,string"`
	BaseSequence         int32    `json:"baseSequence,string"`
	Records              []Record `json:"records"`
	NextOffset           *int64   `json:"nextOffset,string,omitempty"` // of a library that shows it
}

// Message is a v0 or v1 entry; one that is no wrapper has no Messages, not even none.
type Message struct {
	Offset     int64     `json:"offset,string"`
	Magic      int8      `json:"magic,string"`
	Attributes int8      `json:"attributes,string"`
	Timestamp  int64     `json:"timestamp,string"`
	Key        Hex       `json:"key"`
	Value      Hex       `json:"value"`
	Messages   []Message `json:"messages"`

	TimestampType string `json:"timestampType,omitempty"` // of a library that shows it
}

// Log is what a decode has delivered so far, each entry a *Batch or a *Message. NextOffset is where the library
// goes on, if it shows that.
type Log struct {
	Batches    []any
	NextOffset *int64
}

func (l *Log) value(r *Request) any {
	if r.Revision != "mixed" {
		if len(l.Batches) == 0 {
			return nil
		}
		return l.Batches[0]
	}
	var next any
	if l.NextOffset != nil {
		next = strconv.FormatInt(*l.NextOffset, 10)
	}
	return map[string]any{"batches": append([]any{}, l.Batches...), "nextOffset": next}
}

// Add appends an entry; where a consumer's view is asked for, not one of which nothing is left.
func (l *Log) Add(r *Request, entry any) {
	empty := false
	switch entry := entry.(type) {
	case *Batch:
		empty = len(entry.Records) == 0
	case *Message:
		empty = entry.Messages != nil && len(entry.Messages) == 0
	}
	if !empty || !r.Delivered() {
		l.Batches = append(l.Batches, entry)
	}
}

// Parse reads the value that is to be encoded; a number that does not fit its field is an error.
func Parse(r *Request, entry any) error {
	if err := json.Unmarshal(r.Value, entry); err != nil {
		return fmt.Errorf("invalid value: %w", err)
	}
	return nil
}

// Millis is a time as Kafka counts it; Go's zero time is none, -1.
func Millis(t time.Time) int64 {
	if t.IsZero() {
		return -1
	}
	return t.UnixMilli()
}
