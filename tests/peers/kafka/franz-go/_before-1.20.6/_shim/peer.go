// Added to the vendored copy of a library before 1.20.6, whose decompressor has no limit.

package kgo

// PeerDecompressor is the one of a client.
func PeerDecompressor() Decompressor { return DefaultDecompressor() }

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
