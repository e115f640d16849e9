// Command produce carries out a plan with franz-go: a batch of the plan is a flush.
// Arguments: bootstrap, plan.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"runtime/debug"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

type record struct {
	Key       *string     `json:"key"`
	Value     *string     `json:"value"`
	Headers   [][]*string `json:"headers"`
	Timestamp int64       `json:"timestamp"`
}

type step struct {
	Topic   string     `json:"topic"`
	Codec   string     `json:"codec"`
	Mode    string     `json:"mode"`
	Batches [][]record `json:"batches"`
}

var codecs = map[string]kgo.CompressionCodec{
	"none": kgo.NoCompression(), "gzip": kgo.GzipCompression(), "snappy": kgo.SnappyCompression(),
	"lz4": kgo.Lz4Compression(), "zstd": kgo.ZstdCompression(),
}

func main() {
	var plan struct {
		Steps []step `json:"steps"`
	}
	data, err := os.ReadFile(os.Args[2])
	must(err)
	must(json.Unmarshal(data, &plan))
	for number, one := range plan.Steps {
		produce(os.Args[1], one, fmt.Sprintf("wireproof-go-%d", number))
	}
	build, _ := debug.ReadBuildInfo()
	for _, module := range build.Deps {
		if module.Path == "github.com/twmb/franz-go" {
			fmt.Println(module.Version)
		}
	}
}

func produce(bootstrap string, one step, id string) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	transactional := one.Mode == "commit" || one.Mode == "abort"
	options := []kgo.Opt{
		kgo.SeedBrokers(bootstrap), kgo.ManualFlushing(), kgo.ProducerBatchCompression(codecs[one.Codec]),
		kgo.RecordPartitioner(kgo.ManualPartitioner()),
	}
	if one.Mode == "plain" {
		options = append(options, kgo.DisableIdempotentWrite())
	}
	if transactional {
		options = append(options, kgo.TransactionalID(id))
	}
	client, err := kgo.NewClient(options...)
	must(err)
	defer client.Close()
	if transactional {
		must(client.BeginTransaction())
	}
	for _, batch := range one.Batches {
		for _, wanted := range batch {
			client.Produce(ctx, made(one.Topic, wanted), func(_ *kgo.Record, err error) { must(err) })
		}
		must(client.Flush(ctx))
	}
	if transactional {
		must(client.EndTransaction(ctx, kgo.TransactionEndTry(one.Mode == "commit")))
	}
}

func made(topic string, wanted record) *kgo.Record {
	headers := make([]kgo.RecordHeader, len(wanted.Headers))
	for place, header := range wanted.Headers {
		headers[place] = kgo.RecordHeader{Key: *header[0], Value: raw(header[1])}
	}
	return &kgo.Record{
		Topic: topic, Key: raw(wanted.Key), Value: raw(wanted.Value), Headers: headers,
		Timestamp: time.UnixMilli(wanted.Timestamp),
	}
}

func raw(text *string) []byte {
	if text == nil {
		return nil
	}
	return append([]byte{}, *text...)
}

func must(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
