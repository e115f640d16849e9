// One entry of a log by the classes with which kafkajs' Produce requests write theirs.
'use strict'

const MessageSet = require('kafkajs/src/protocol/messageSet')
const Record = require('kafkajs/src/protocol/recordBatch/record/v0')
const { RecordBatch } = require('kafkajs/src/protocol/recordBatch/v0')
const { lookupCodec } = require('kafkajs/src/protocol/message/compression')
const { expressible, hex, unhex } = require('./_shared/node/peer.cjs')

const CODEC = 0x07
const TRANSACTIONAL = 0x10

async function batch(value) {
  const attributes = Number(value.attributes)
  expressible([
    ['magic', value.magic === '2'],
    ['attributes', (attributes & ~(CODEC | TRANSACTIONAL)) === 0],
    ['records[].attributes', value.records.every(record => record.attributes === '0')]
  ])
  const encoder = await RecordBatch({
    compression: attributes & CODEC,
    transactional: (attributes & TRANSACTIONAL) !== 0,
    firstOffset: BigInt(value.baseOffset),
    partitionLeaderEpoch: Number(value.partitionLeaderEpoch),
    lastOffsetDelta: Number(value.lastOffsetDelta),
    firstTimestamp: BigInt(value.baseTimestamp),
    maxTimestamp: BigInt(value.maxTimestamp),
    producerId: BigInt(value.producerId),
    producerEpoch: Number(value.producerEpoch),
    firstSequence: Number(value.baseSequence),
    records: value.records.map(record)
  })
  return encoder.buffer
}

const record = shown => Record({
  offsetDelta: Number(shown.offsetDelta),
  timestampDelta: BigInt(shown.timestampDelta),
  key: unhex(shown.key),
  value: unhex(shown.value),
  headers: headers(shown.headers)
})

/** An object by name: a name that is no text, or an order that no object keeps, cannot be told. */
function headers(pairs) {
  const named = {}
  for (const [name, value] of pairs) {
    const text = name === null ? '' : unhex(name).toString()
    named[text] = [...(named[text] ?? []), unhex(value)]
  }
  const kept = Object.entries(named).flatMap(([text, values]) =>
    values.map(value => [hex(Buffer.from(text)), hex(value)]))
  expressible([['records[].headers', JSON.stringify(kept) === JSON.stringify(pairs)]])
  return named
}

/** The offset of a message is the broker's to give; it goes out as 0, that of a wrapper too. */
async function message(value, magic) {
  const compression = Number(value.attributes) & CODEC
  expressible([
    ['magic', value.magic === magic],
    ['offset', value.offset === '0' || value.messages !== null],
    ['attributes', (Number(value.attributes) & ~CODEC) === 0],
    ['messages', Array.isArray(value.messages) === (compression !== 0)],
    ['messages[].magic', (value.messages ?? []).every(inner => inner.magic === value.magic)],
    ['messages[].attributes', (value.messages ?? []).every(inner => inner.attributes === '0')],
    ['timestamp', value.magic === '1' || value.timestamp === '-1']
  ])
  const messageVersion = Number(value.magic)
  if (compression === 0) return MessageSet({ messageVersion, entries: [entry(value)] }).buffer
  const inner = MessageSet({ messageVersion, compression, entries: value.messages.map(entry) })
  const packed = await lookupCodec(compression).compress(inner)
  return MessageSet({ messageVersion, entries: [{ ...entry(value), compression, value: packed }] }).buffer
}

const entry = shown => ({
  timestamp: BigInt(shown.timestamp),
  key: unhex(shown.key),
  value: unhex(shown.value)
})

const encode = (value, { revision }) => (revision === 'v2' ? batch(value) : message(value, revision.slice(1)))

module.exports = { encode }
