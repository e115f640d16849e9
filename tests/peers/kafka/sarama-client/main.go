// A client of Sarama: `client consume ADDRESS TOPIC ISOLATION OFFSET`, `client produce ADDRESS TOPIC CODEC MODE`.
package main

import (
	"encoding/hex"
	"encoding/json"
	"os"
	"strconv"
	"time"

	"github.com/IBM/sarama"
)

type dict = map[string]any

type line struct {
	Key, Value                  *string
	Timestamp                   *string
	Headers                     [][2]*string
	Flush, Begin, Commit, Abort bool
}

var (
	out    = json.NewEncoder(os.Stdout)
	levels = map[string]sarama.IsolationLevel{"read_uncommitted": sarama.ReadUncommitted, "read_committed": sarama.ReadCommitted}
	codecs = map[string]sarama.CompressionCodec{"gzip": sarama.CompressionGZIP, "snappy": sarama.CompressionSnappy,
		"lz4": sarama.CompressionLZ4, "zstd": sarama.CompressionZSTD}
)

// consume prints the records of partition 0 from an offset on, for ever. The version is the highest known one:
// by default Sarama asks like Kafka 2.1.
func consume(address, topic, isolation, offset string) {
	config := sarama.NewConfig()
	config.Version, config.Consumer.IsolationLevel, config.Consumer.Return.Errors = sarama.MaxVersion, levels[isolation], true
	partition := must(must(sarama.NewConsumer([]string{address}, config)).ConsumePartition(topic, 0, must(strconv.ParseInt(offset, 10, 64))))
	for {
		select {
		case err := <-partition.Errors():
			out.Encode(dict{"error": err.Error()})
		case r := <-partition.Messages():
			headers := [][2]any{}
			for _, h := range r.Headers {
				headers = append(headers, [2]any{string(h.Key), hexed(h.Value)})
			}
			out.Encode(dict{"offset": strconv.FormatInt(r.Offset, 10), "timestamp": millis(r.Timestamp),
				"key": hexed(r.Key), "value": hexed(r.Value), "headers": headers})
		}
	}
}

// produce hands the records of stdin to the producer, and prints the answers at each flush. Sarama flushes by itself
// when no record has come for a moment.
func produce(address, topic, codec, mode string) {
	producer, sent := must(sarama.NewAsyncProducer([]string{address}, settings(topic, codec, mode))), 0
	for lines := json.NewDecoder(os.Stdin); lines.More(); {
		l := line{}
		check(lines.Decode(&l))
		switch {
		case l.Flush:
			for ; sent > 0; sent-- {
				answer(producer)
			}
		case l.Begin:
			check(producer.BeginTxn())
		case l.Commit:
			check(producer.CommitTxn())
		case l.Abort:
			check(producer.AbortTxn())
		default:
			producer.Input() <- record(topic, l)
			sent++
		}
	}
}

// settings returns the settings of a producer.
func settings(topic, codec, mode string) *sarama.Config {
	config := sarama.NewConfig()
	config.Version, config.Producer.RequiredAcks, config.Producer.Compression = sarama.MaxVersion, sarama.WaitForAll, codecs[codec]
	config.Producer.Return.Successes, config.Producer.Partitioner = true, sarama.NewManualPartitioner
	config.Producer.Flush.Frequency, config.Producer.MaxMessageBytes = 100*time.Millisecond, 1<<24
	if mode != "plain" {
		config.Producer.Idempotent, config.Net.MaxOpenRequests = true, 1
	}
	if mode == "transactional" {
		config.Producer.Transaction.ID = topic
	}
	return config
}

// answer prints the answer to one record.
func answer(producer sarama.AsyncProducer) {
	select {
	case err := <-producer.Errors():
		out.Encode(dict{"error": err.Error()})
	case r := <-producer.Successes():
		out.Encode(dict{"offset": strconv.FormatInt(r.Offset, 10)})
	}
}

// record returns the record of a line.
func record(topic string, l line) *sarama.ProducerMessage {
	r := &sarama.ProducerMessage{Topic: topic}
	if l.Key != nil {
		r.Key = sarama.ByteEncoder(unhexed(l.Key))
	}
	if l.Value != nil {
		r.Value = sarama.ByteEncoder(unhexed(l.Value))
	}
	if l.Timestamp != nil {
		r.Timestamp = time.UnixMilli(must(strconv.ParseInt(*l.Timestamp, 10, 64)))
	}
	for _, h := range l.Headers {
		r.Headers = append(r.Headers, sarama.RecordHeader{Key: []byte(*h[0]), Value: unhexed(h[1])})
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
