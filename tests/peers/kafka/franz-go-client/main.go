// A client of franz-go: `client consume ADDRESS TOPIC ISOLATION OFFSET`, `client produce ADDRESS TOPIC CODEC MODE`.
package main

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"os"
	"strconv"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

type dict = map[string]any

type line struct {
	Key, Value                  *string
	Timestamp                   *string
	Headers                     [][2]*string
	Flush, Begin, Commit, Abort bool
}

var (
	ctx    = context.Background()
	out    = json.NewEncoder(os.Stdout)
	levels = map[string]kgo.IsolationLevel{"read_uncommitted": kgo.ReadUncommitted(), "read_committed": kgo.ReadCommitted()}
	kinds  = map[int8]any{-1: nil, 0: "CreateTime", 1: "LogAppendTime"}
	codecs = map[string]kgo.CompressionCodec{"none": kgo.NoCompression(), "gzip": kgo.GzipCompression(),
		"snappy": kgo.SnappyCompression(), "lz4": kgo.Lz4Compression(), "zstd": kgo.ZstdCompression()}
)

// consume prints the records of partition 0 from an offset on, for ever.
func consume(address, topic, isolation, offset string) {
	start := kgo.NewOffset().At(must(strconv.ParseInt(offset, 10, 64)))
	client := must(kgo.NewClient(kgo.SeedBrokers(address), kgo.FetchIsolationLevel(levels[isolation]),
		kgo.ConsumeResetOffset(kgo.NoResetOffset()), kgo.ConsumePartitions(map[string]map[int32]kgo.Offset{topic: {0: start}})))
	for {
		fetches := client.PollFetches(ctx)
		fetches.EachRecord(func(r *kgo.Record) {
			headers := [][2]any{}
			for _, h := range r.Headers {
				headers = append(headers, [2]any{h.Key, hexed(h.Value)})
			}
			out.Encode(dict{"offset": strconv.FormatInt(r.Offset, 10), "key": hexed(r.Key), "value": hexed(r.Value), "headers": headers,
				"timestamp": millis(r.Timestamp), "timestampType": kinds[r.Attrs.TimestampType()]})
		})
		fetches.EachError(func(_ string, _ int32, err error) { out.Encode(dict{"error": err.Error()}) })
	}
}

// produce hands the records of stdin to the producer, and prints the answers at each flush.
func produce(address, topic, codec, mode string) {
	client := must(kgo.NewClient(append(map[string][]kgo.Opt{"plain": {kgo.DisableIdempotentWrite()}, "transactional": {kgo.TransactionalID(topic)}}[mode],
		kgo.SeedBrokers(address), kgo.DefaultProduceTopic(topic), kgo.RecordPartitioner(kgo.ManualPartitioner()), kgo.ProducerLinger(time.Minute),
		kgo.ProducerBatchCompression(codecs[codec]), kgo.ProducerBatchMaxBytes(1<<24), kgo.BrokerMaxWriteBytes(1<<26), kgo.MaxBufferedRecords(1_000_000))...))
	for lines := json.NewDecoder(os.Stdin); lines.More(); {
		l := line{}
		check(lines.Decode(&l))
		switch {
		case l.Flush:
			check(client.Flush(ctx))
		case l.Begin:
			check(client.BeginTransaction())
		case l.Commit || l.Abort:
			check(client.Flush(ctx))
			check(client.EndTransaction(ctx, kgo.TransactionEndTry(l.Commit)))
		default:
			client.Produce(ctx, record(l), answer)
		}
	}
}

// answer prints the answer to one record.
func answer(r *kgo.Record, err error) {
	if err != nil {
		out.Encode(dict{"error": err.Error()})
	} else {
		out.Encode(dict{"offset": strconv.FormatInt(r.Offset, 10)})
	}
}

// record returns the record of a line.
func record(l line) *kgo.Record {
	r := &kgo.Record{Key: unhexed(l.Key), Value: unhexed(l.Value)}
	if l.Timestamp != nil {
		r.Timestamp = time.UnixMilli(must(strconv.ParseInt(*l.Timestamp, 10, 64)))
	}
	for _, h := range l.Headers {
		r.Headers = append(r.Headers, kgo.RecordHeader{Key: *h[0], Value: unhexed(h[1])})
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
