// A record set as kafkajs' Fetch responses read it (`decodeMessages`), and what its consumer hands on of it.
// Nothing of a fetch is delivered where any of it throws; no checksum is checked.
'use strict'

const Decoder = require('kafkajs/src/protocol/decoder')
const Encoder = require('kafkajs/src/protocol/encoder')
const decodeMessages = require('kafkajs/src/protocol/requests/fetch/v4/decodeMessages')
const decodeMessage = require('kafkajs/src/protocol/message/decoder')
const FetchedBatch = require('kafkajs/src/consumer/batch')
const { lookupCodecByAttributes } = require('kafkajs/src/protocol/message/compression')
const { hex } = require('./_shared/node/peer.cjs')

const OLDEST = '-9223372036854775808'

const fetched = bytes => decodeMessages(new Decoder(new Encoder().writeBytes(bytes).buffer))

/** The flat list that a fetch gives, as entries again; of a batch without records it tells nothing. */
async function entries(bytes, messages) {
  return messages.some(message => message.batchContext) ? batches(messages) : legacy(bytes, messages)
}

/** Records of one batch share one context, in which the batch's header is. */
function batches(messages) {
  const found = new Map(messages.map(({ batchContext }) => [batchContext, []]))
  for (const message of messages) found.get(message.batchContext).push(message)
  return [...found].map(([context, list]) => ({ head: header(context), list, name: 'records', show: record }))
}

const header = context => ({
  baseOffset: context.firstOffset,
  partitionLeaderEpoch: String(context.partitionLeaderEpoch),
  magic: String(context.magicByte),
  lastOffsetDelta: String(context.lastOffsetDelta),
  baseTimestamp: context.firstTimestamp,
  maxTimestamp: context.maxTimestamp,
  producerId: context.producerId,
  producerEpoch: String(context.producerEpoch),
  baseSequence: String(context.firstSequence)
})

/** A wrapper's own fields by kafkajs' reader of one message; how many are in it, by a fetch of it alone. */
async function legacy(bytes, messages) {
  const found = []
  const decoder = new Decoder(bytes)
  for (let used = 0; used < messages.length; ) {
    const start = decoder.offset
    const outer = decodeMessage(decoder.readInt64().toString(), decoder.readInt32(), decoder)
    const wraps = lookupCodecByAttributes(outer.attributes) !== null
    const count = wraps ? (await fetched(bytes.subarray(start, decoder.offset))).length : 1
    const list = messages.slice(used, used + count)
    const wrapper = wraps && { head: { ...message(outer), value: null }, name: 'messages' }
    used += count
    if (count) found.push({ head: {}, name: '', ...wrapper, list, show: message })
  }
  return found
}

/** A message of v0 has no timestamp, which Kafka reads as -1. */
const message = shown => ({
  offset: shown.offset,
  magic: String(shown.magicByte),
  attributes: String(shown.attributes),
  timestamp: shown.timestamp ?? '-1',
  key: hex(shown.key),
  value: hex(shown.value),
  messages: null
})

/** The types by kafkajs' numbers of them; none in a release before 1.13, which does not tell them apart. */
function timestampTypes() {
  try {
    const types = require('kafkajs/src/protocol/timestampTypes')
    return new Map([[types.CREATE_TIME, 'create'], [types.LOG_APPEND_TIME, 'log-append']])
  } catch (error) {
    if (error.code === 'MODULE_NOT_FOUND') return new Map()
    throw error
  }
}

const TYPES = timestampTypes()

const record = shown => ({
  attributes: String(shown.attributes),
  offset: shown.offset,
  timestamp: shown.timestamp,
  timestampType: TYPES.get(shown.batchContext.timestampType),
  key: hex(shown.key),
  value: hex(shown.value),
  headers: Object.entries(shown.headers).flatMap(([name, values]) =>
    [values].flat().map(value => [hex(Buffer.from(name)), hex(value)]))
})

/** What the consumer hands on of a fetch at an offset, or of one in which transactions were aborted. */
function delivered(messages, { fetch_offset: offset = OLDEST, isolation, aborted = [] }) {
  const abortedTransactions = isolation === 'read_committed' ? aborted.map(
    ([producerId, firstOffset]) => ({ producerId: String(producerId), firstOffset: String(firstOffset) })) : []
  const fetch = { partition: 0, highWatermark: '0', abortedTransactions, messages }
  return new FetchedBatch('t', String(offset), fetch).messages
}

const shown = ({ head, list, name, show }) => (name ? { ...head, [name]: list.map(show) } : show(list[0]))

async function decode(bytes, { options }) {
  const messages = await fetched(bytes)
  const kept = new Set(options ? delivered(messages, options) : messages)
  const left = (await entries(bytes, messages)).map(
    entry => ({ ...entry, list: entry.list.filter(one => kept.has(one)) }))
  return { value: { batches: left.filter(({ list }) => list.length).map(shown) } }
}

module.exports = { decode, showsTypes: TYPES.size > 0 }
