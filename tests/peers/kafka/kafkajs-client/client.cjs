// A client of kafkajs: `client.cjs consume ADDRESS TOPIC ISOLATION OFFSET`, `client.cjs produce ADDRESS TOPIC CODEC MODE`.
'use strict'

const readline = require('node:readline')
const zlib = require('node:zlib')
const { Kafka, CompressionTypes: Types, CompressionCodecs: Codecs } = require('kafkajs')
const Lz4 = require('kafkajs-lz4')

// Codecs beside gzip are plug-ins of the application; that for zstd is a few lines around Node's own.
Codecs[Types.Snappy] = require('kafkajs-snappy')
Codecs[Types.LZ4] = new Lz4().codec
Codecs[Types.ZSTD] = () => ({
  compress: async encoder => zlib.zstdCompressSync(encoder.buffer),
  decompress: async buffer => zlib.zstdDecompressSync(buffer)
})
const CODECS = { none: Types.None, gzip: Types.GZIP, snappy: Types.Snappy, lz4: Types.LZ4, zstd: Types.ZSTD }

const show = line => process.stdout.write(JSON.stringify(line) + '\n')
const hexed = data => (data == null ? null : data.toString('hex'))
const unhexed = text => (text === null ? null : Buffer.from(text, 'hex'))

/** Print the records of partition 0 from an offset on, for ever. A group is the only way; errors go to the log. */
async function consume (address, topic, isolation, offset) {
  const logCreator = () => ({ log }) => show({ error: `${log.message} ${log.error ?? ''} ${log.stack ?? ''}` })
  const kafka = new Kafka({ brokers: [address], logLevel: 1, logCreator })
  const consumer = kafka.consumer({ groupId: `${topic}-${process.pid}`, readUncommitted: isolation === 'read_uncommitted' })
  let next = offset // nothing is committed, so a group that is joined again begins here
  consumer.on(consumer.events.GROUP_JOIN, () => consumer.seek({ topic, partition: 0, offset: next }))
  await consumer.connect()
  await consumer.subscribe({ topic, fromBeginning: true })
  await consumer.run({
    autoCommit: false,
    eachMessage: async ({ message: { offset, timestamp, key, value, headers } }) => {
      const pairs = Object.entries(headers ?? {}).flatMap(([name, values]) => [values].flat().map(one => [name, hexed(one)]))
      show({ offset, timestamp, key: hexed(key), value: hexed(value), headers: pairs })
      next = String(BigInt(offset) + 1n)
    }
  })
}

/** Hand the records of stdin to the producer; print the answers at each flush. */
async function produce (address, topic, codec, mode) {
  const options = { idempotent: mode !== 'plain', ...(mode === 'transactional' && { transactionalId: topic, maxInFlightRequests: 1 }) }
  const producer = new Kafka({ brokers: [address], logLevel: 0 }).producer(options)
  await producer.connect()
  let [sender, messages] = [producer, []]
  for await (const text of readline.createInterface({ input: process.stdin })) {
    const line = JSON.parse(text)
    if (line.begin) sender = await producer.transaction()
    else if (line.commit) await sender.commit()
    else if (line.abort) await sender.abort()
    else if (!line.flush) messages.push(message(line))
    else {
      const sent = sender.send({ topic, messages, acks: -1, compression: CODECS[codec] })
      const answer = await sent.then(([{ baseOffset }]) => i => ({ offset: String(BigInt(baseOffset) + BigInt(i)) }), error => () => ({ error: String(error) }))
      messages.forEach((_, i) => show(answer(i)))
      messages = []
    }
  }
  await producer.disconnect()
}

/** Return the message of a line: headers are an object, in which a name has one value or a list. */
function message ({ key, value, timestamp, headers: pairs = [] }) {
  const headers = {}
  for (const [name, data] of pairs) headers[name] = name in headers ? [headers[name], unhexed(data)].flat() : unhexed(data)
  return { partition: 0, key: unhexed(key), value: unhexed(value), timestamp, headers }
}

const [verb, ...words] = process.argv.slice(2)
;({ consume, produce })[verb](...words)
