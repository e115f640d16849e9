// Added to the vendored copy of a library before 1.19, which exports neither its reader of a partition nor its
// compressors: they have here the names that later releases give them.

package kgo

import "github.com/twmb/franz-go/pkg/kmsg"

type (
	Compressor   = *compressor
	Decompressor = *decompressor
)

// DefaultCompressor is the one of a producer with these codecs.
func DefaultCompressor(codecs ...CompressionCodec) (Compressor, error) {
	return newCompressor(codecs...)
}

// PeerDecompressor is the one of a client.
func PeerDecompressor() Decompressor { return newDecompressor() }

// ProcessFetchPartitionOpts has those options of the later function that a consumer has too.
type ProcessFetchPartitionOpts struct {
	KeepControlRecords bool
	Offset             int64
	IsolationLevel     IsolationLevel
}

type peerHook func(FetchBatchMetrics)

// OnFetchBatchRead is called for each entry that was processed.
func (hook peerHook) OnFetchBatchRead(_ BrokerMetadata, _ string, _ int32, metrics FetchBatchMetrics) {
	hook(metrics)
}

// ProcessFetchPartition reads a partition of a response as the consumer does.
func ProcessFetchPartition(
	o ProcessFetchPartitionOpts, rp *kmsg.FetchResponseTopicPartition, d Decompressor, hook func(FetchBatchMetrics),
) (FetchPartition, int64) {
	client := &Client{cfg: defaultCfg()}
	client.cfg.isolationLevel = o.IsolationLevel.level
	next := &cursorOffsetNext{from: &cursor{keepControl: o.KeepControlRecords}}
	next.offset = o.Offset
	found := next.processRespPartition(&broker{cl: client}, rp, d, hooks{peerHook(hook)})
	return found, next.offset
}

// PeerBatch writes records as the producer writes a batch for brokers that know record batches.
func PeerBatch(
	records []*Record, id int64, epoch int16, sequence int32, transactional bool, compressor Compressor,
) []byte {
	written, _ := peerSeqBatch(records, sequence).appendTo(nil, 8, id, epoch, transactional, compressor)
	return written[4:] // behind its length
}

// PeerMessages writes records as the producer writes a message set, of magic 0 or 1, for older brokers.
func PeerMessages(records []*Record, magic uint8, compressor Compressor) []byte {
	written, _ := peerSeqBatch(records, 0).appendToAsMessageSet(nil, 2*magic, compressor)
	return written[4:]
}

// peerOverhead is the length of a batch without records, behind its own length in a request.
const peerOverhead = 4 + 61

func peerSeqBatch(records []*Record, sequence int32) seqRecBatch {
	batch := &recBatch{wireLength: peerOverhead}
	for _, record := range records {
		batch.appendRecord(promisedRec{Record: record}, batch.calculateRecordNumbers(record))
	}
	return seqRecBatch{seq: sequence, recBatch: batch}
}
