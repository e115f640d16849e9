// @platformatic/kafka behind the adapter contract: a record set as its Fetch responses read it
// (`readRecordsBatches`), a batch as its Produce requests write it (`createRecordsBatch`). Nothing of a
// fetch is delivered where any of it throws; no checksum and no magic is checked.
import { createRecordsBatch, readRecordsBatches } from './node_modules/@platformatic/kafka/dist/protocol/records.js'
import { compressionsAlgorithms } from './node_modules/@platformatic/kafka/dist/protocol/compression.js'
import { Reader } from './node_modules/@platformatic/kafka/dist/protocol/reader.js'
import { version } from './node_modules/@platformatic/kafka/dist/version.js'
import peer from './_shared/node/peer.cjs'

const { expressible, hex, unhex, serve, Unsupported } = peer
const CODEC = 0x07
const TRANSACTIONAL = 0x10
const CODECS = Object.keys(compressionsAlgorithms).filter(name => compressionsAlgorithms[name].available)

// --- decode ---

function decode(bytes, { options }) {
  if (options) throw new Unsupported('offsets and control batches are left out by its stream, not by its codec')
  const reader = Reader.from(bytes)
  const batches = readRecordsBatches(reader).map(batch)
  return { value: { batches }, consumed: reader.position }
}

const batch = shown => ({
  baseOffset: String(shown.firstOffset),
  partitionLeaderEpoch: String(shown.partitionLeaderEpoch),
  magic: String(shown.magic),
  attributes: String(shown.attributes),
  lastOffsetDelta: String(shown.lastOffsetDelta),
  baseTimestamp: String(shown.firstTimestamp),
  maxTimestamp: String(shown.maxTimestamp),
  producerId: String(shown.producerId),
  producerEpoch: String(shown.producerEpoch),
  baseSequence: String(shown.firstSequence),
  records: shown.records.map(record => read(record, shown))
})

/** Offset and timestamp are added up as its stream of messages does for each record. */
const read = (record, { firstOffset, firstTimestamp }) => ({
  attributes: String(record.attributes),
  timestampDelta: String(record.timestampDelta),
  offsetDelta: String(record.offsetDelta),
  key: hex(record.key),
  value: hex(record.value),
  headers: record.headers.map(([key, value]) => [hex(key), hex(value)]),
  offset: String(firstOffset + BigInt(record.offsetDelta)),
  timestamp: String(firstTimestamp + record.timestampDelta)
})

// --- encode ---

function encode(value) {
  const attributes = Number(value.attributes)
  const { records } = value
  const stamps = records.map(record => BigInt(value.baseTimestamp) + BigInt(record.timestampDelta))
  expressible([
    ['records', records.length > 0],
    ['magic', value.magic === '2'],
    ['baseOffset', value.baseOffset === '0'],
    ['attributes', (attributes & ~(CODEC | TRANSACTIONAL)) === 0],
    ['lastOffsetDelta', value.lastOffsetDelta === String(records.length - 1)],
    ['records[].attributes', records.every(record => record.attributes === '0')],
    ['records[].offsetDelta', records.every((record, at) => record.offsetDelta === String(at))],
    ['baseTimestamp', stamps[0] === BigInt(value.baseTimestamp)],
    ['maxTimestamp', stamps.reduce((most, stamp) => (stamp > most ? stamp : most)) === BigInt(value.maxTimestamp)]
  ])
  const messages = records.map((record, at) =>
    ({ topic: 't', partition: 0, timestamp: stamps[at], ...written(record) }))
  return createRecordsBatch(messages, {
    compression: compressionOf(attributes & CODEC),
    transactionalId: attributes & TRANSACTIONAL ? 't' : undefined,
    producerId: BigInt(value.producerId),
    producerEpoch: Number(value.producerEpoch),
    partitionLeaderEpoch: Number(value.partitionLeaderEpoch),
    sequences: { getWithDefault: () => Number(value.baseSequence) }
  }).buffer
}

/** Its options name a compression; one without a name is asked for by its number. */
const compressionOf = bits =>
  Object.keys(compressionsAlgorithms).find(name => compressionsAlgorithms[name].bitmask === bits) ?? String(bits)

const written = record => ({
  key: unhex(record.key),
  value: unhex(record.value),
  headers: new Map(record.headers.map(([key, value]) => [unhex(key), unhex(value)]))
})

// --- claims ---

const RECORD = ['attributes', 'offset', 'timestamp', 'key', 'value', 'headers', 'timestampDelta', 'offsetDelta']
const BATCH = ['baseOffset', 'partitionLeaderEpoch', 'magic', 'attributes', 'lastOffsetDelta', 'baseTimestamp',
  'maxTimestamp', 'producerId', 'producerEpoch', 'baseSequence', ...RECORD.map(name => `records[].${name}`)]
const NOTHING = { ops: [] } // it knows no entries of v0 and v1
const claim = (op, features, observes) => ({ ops: [op], codecs: CODECS, profiles: ['reader'], features, observes })

serve({
  hello: {
    name: 'platformatic-kafka',
    version,
    revisions: {
      'kafka.log/mixed': claim('decode', ['headers', 'empty-batch', 'log-append-time', 'delete-horizon', 'idempotent',
        'transactional', 'control-batch', 'partial-tail'], BATCH.map(name => `batches[].${name}`)),
      'kafka.batch/v0': NOTHING,
      'kafka.batch/v1': NOTHING,
      'kafka.batch/v2': claim('encode', ['headers', 'idempotent', 'transactional'], BATCH)
    }
  },
  decode,
  encode,
  nothing: { batches: [] },
  documented: error => error?.code?.startsWith('PLT_KFK_') || error?.code === 'OUT_OF_BOUNDS',
  classes: [
    ['Unsupported compression algorithm', 'unknown-codec'],
    ['ERR_OUT_OF_RANGE: The value of "value"', 'invalid-value'],
    ['Z_DATA_ERROR', 'decompress-failed'],
    ['Z_BUF_ERROR', 'decompress-failed'],
    ['ZSTD_error', 'decompress-failed'],
    ['xerial snappy', 'decompress-failed']
  ]
})
