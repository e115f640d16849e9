// kafkajs behind the adapter contract: a log as its consumer fetches it, one entry as its producer sends it.
'use strict'

const zlib = require('node:zlib')
const { version } = require('kafkajs/package.json')
const { Types, Codecs } = require('kafkajs/src/protocol/message/compression')
const Lz4 = require('kafkajs-lz4')
const { serve } = require('./_shared/node/peer.cjs')
const { decode, showsTypes } = require('./reading.cjs')
const { encode } = require('./writing.cjs')

// Codecs beside gzip are plug-ins of the application; that for zstd is a few lines around Node's own.
Codecs[Types.Snappy] = require('kafkajs-snappy')
Codecs[Types.LZ4] = new Lz4().codec
Codecs[Types.ZSTD] = () => ({
  compress: async encoder => zlib.zstdCompressSync(encoder.buffer),
  decompress: async buffer => zlib.zstdDecompressSync(buffer)
})

const MESSAGE = ['magic', 'offset', 'timestamp', 'key', 'value']
const INNER = [...MESSAGE, 'attributes']
const HEADER = ['baseOffset', 'partitionLeaderEpoch', 'lastOffsetDelta', 'baseTimestamp', 'maxTimestamp',
  'producerId', 'producerEpoch', 'baseSequence']
const RECORD = ['attributes', 'offset', 'timestamp', 'key', 'value', 'headers']
const TYPE = showsTypes ? ['timestampType'] : []
const WRITTEN = ['magic', 'attributes', 'timestamp', 'key', 'value'] // offsets are left to the broker
const TOLD = [...HEADER, 'magic', 'attributes']
const below = (path, names) => names.map(name => path + name)

// The attributes of a batch are shown in parts, the codec is not; of an empty batch nothing is.
const revisions = {
  'kafka.log/mixed': {
    ops: ['decode'],
    codecs: ['none', 'gzip', 'snappy', 'lz4', 'zstd'],
    profiles: ['reader'],
    features: ['wrapper', 'headers', 'log-append-time', 'delete-horizon', 'idempotent', 'transactional',
      'control-batch', 'partial-tail', 'mixed-magic', 'fetch-offset', 'read-committed'],
    observes: below('batches[].',
      [...MESSAGE, ...HEADER, ...below('messages[].', INNER), ...below('records[].', [...RECORD, ...TYPE])])
  },
  'kafka.batch/v0': { ops: ['encode'], codecs: ['none'], profiles: ['reader'], features: [], observes: WRITTEN },
  'kafka.batch/v1': {
    ops: ['encode'],
    codecs: ['none', 'gzip', 'snappy', 'lz4'],
    profiles: ['reader'],
    features: ['wrapper'],
    observes: [...WRITTEN, ...below('messages[].', WRITTEN)]
  },
  'kafka.batch/v2': {
    ops: ['encode'],
    codecs: ['none', 'gzip', 'snappy', 'lz4', 'zstd'],
    profiles: ['reader'],
    features: ['headers', 'empty-batch', 'idempotent', 'transactional'],
    observes: [...TOLD, ...below('records[].', [...RECORD, 'timestampDelta', 'offsetDelta'])]
  }
}

/** What a codec emits once it has answered ends this process, as it would an application: wait for it. */
async function settled(bytes, request) {
  try {
    return await decode(bytes, request)
  } finally {
    await new Promise(setImmediate)
  }
}

serve({
  hello: { name: 'kafkajs', version, revisions, window: 1 }, // a death is then of the one in flight
  decode: settled,
  encode,
  nothing: { batches: [] },
  documented: error => error?.name?.startsWith('KafkaJS'),
  classes: [
    ['Invalid Long', 'bad-varint'],
    ['ERR_OUT_OF_RANGE: The value of "value"', 'invalid-value'],
    ['Z_DATA_ERROR', 'decompress-failed'],
    ['Z_BUF_ERROR', 'decompress-failed'],
    ['ZSTD_error', 'decompress-failed']
  ]
})
