// A client of segmentio/kafka-go: `client consume ADDRESS TOPIC ISOLATION OFFSET`, `client produce ADDRESS TOPIC CODEC MODE`.
package main

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"os"
	"strconv"
	"time"

	"github.com/segmentio/kafka-go"
)

type dict = map[string]any

type line struct {
	Key, Value *string
	Timestamp  *string
	Headers    [][2]*string
	Flush      bool
}

var (
	ctx    = context.Background()
	out    = json.NewEncoder(os.Stdout)
	levels = map[string]kafka.IsolationLevel{"read_uncommitted": kafka.ReadUncommitted, "read_committed": kafka.ReadCommitted}
	codecs = map[string]kafka.Compression{"gzip": kafka.Gzip, "snappy": kafka.Snappy, "lz4": kafka.Lz4, "zstd": kafka.Zstd}
)

// consume prints the records of partition 0 from an offset on, for ever.
func consume(address, topic, isolation, offset string) {
	reader := kafka.NewReader(kafka.ReaderConfig{Brokers: []string{address}, Topic: topic, IsolationLevel: levels[isolation]})
	check(reader.SetOffset(must(strconv.ParseInt(offset, 10, 64))))
	for {
		r, err := reader.FetchMessage(ctx)
		if err != nil {
			out.Encode(dict{"error": err.Error()})
			time.Sleep(100 * time.Millisecond)
			continue
		}
		headers := [][2]any{}
		for _, h := range r.Headers {
			headers = append(headers, [2]any{h.Key, hexed(h.Value)})
		}
		out.Encode(dict{"offset": strconv.FormatInt(r.Offset, 10), "timestamp": millis(r.Time),
			"key": hexed(r.Key), "value": hexed(r.Value), "headers": headers})
	}
}

// produce hands the records of stdin to the producer, and prints the answers at each flush: its Writer has no flush,
// so that the records go to it together; it has neither idempotence nor transactions.
func produce(address, topic, codec, mode string) {
	writer := &kafka.Writer{Addr: kafka.TCP(address), Topic: topic, Compression: codecs[codec], RequiredAcks: kafka.RequireAll,
		BatchSize: 1_000_000, BatchBytes: 1 << 24, BatchTimeout: 100 * time.Millisecond, Completion: answer}
	waiting := []kafka.Message{}
	for lines := json.NewDecoder(os.Stdin); lines.More(); {
		l := line{}
		check(lines.Decode(&l))
		if !l.Flush {
			waiting = append(waiting, record(l))
			continue
		}
		writer.WriteMessages(ctx, waiting...) // its errors go to Completion
		waiting = nil
	}
}

// answer prints the answers to some records.
func answer(records []kafka.Message, err error) {
	for _, r := range records {
		if err != nil {
			out.Encode(dict{"error": err.Error()})
		} else {
			out.Encode(dict{"offset": strconv.FormatInt(r.Offset, 10)})
		}
	}
}

// record returns the record of a line.
func record(l line) kafka.Message {
	r := kafka.Message{Key: unhexed(l.Key), Value: unhexed(l.Value)}
	if l.Timestamp != nil {
		r.Time = time.UnixMilli(must(strconv.ParseInt(*l.Timestamp, 10, 64)))
	}
	for _, h := range l.Headers {
		r.Headers = append(r.Headers, kafka.Header{Key: *h[0], Value: unhexed(h[1])})
	}
	return r
}

// millis returns milliseconds; a message of v0 has the zero time.
func millis(when time.Time) string {
	if when.IsZero() {
		return "-1"
	}
	return strconv.FormatInt(when.UnixMilli(), 10)
}

func hexed(data []byte) any {
	if data == nil {
		return nil
	}
	return hex.EncodeToString(data)
}

func unhexed(text *string) []byte {
	if text == nil {
		return nil
	}
	return must(hex.DecodeString(*text))
}

// must returns the value of a call that has no error; else the client ends with it.
func must[T any](value T, err error) T {
	check(err)
	return value
}

func check(err error) {
	if err != nil {
		out.Encode(dict{"error": err.Error()})
		os.Exit(1)
	}
}

func main() {
	run := map[string]func(address, topic, third, fourth string){"consume": consume, "produce": produce}[os.Args[1]]
	run(os.Args[2], os.Args[3], os.Args[4], os.Args[5])
}
