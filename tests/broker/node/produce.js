// Carries out a plan with kafkajs: a batch of the plan is one send. Arguments: bootstrap, plan.
'use strict'

const { readFileSync } = require('node:fs')
const { Kafka, CompressionTypes, CompressionCodecs, Partitioners, logLevel } = require('kafkajs')
const { ZstdCodec } = require('zstd-codec')
const lz4 = require('lz4js')
const { hash } = require('lz4js/xxh32')

const TYPES = {
  none: CompressionTypes.None, gzip: CompressionTypes.GZIP, snappy: CompressionTypes.Snappy,
  lz4: CompressionTypes.LZ4, zstd: CompressionTypes.ZSTD
}

// kafkajs leaves the codecs other than gzip to plug-ins; an encoder is all that is wanted here
const plugIn = compress => () => ({
  compress: async encoder => Buffer.from(compress(encoder.buffer)),
  decompress: async () => { throw new Error('an encoder only') }
})

// lz4js calls the block of its frame linked, which Kafka's reader refuses; a first block is linked to nothing
const lz4Frame = data => {
  const frame = lz4.compress(data)
  frame[4] |= 0x20
  frame[6] = hash(0, frame, 4, 2) >> 8
  return frame
}

const value = text => text === null ? null : Buffer.from(text)

// kafkajs has no way to send a header without a value
const headersOf = pairs => {
  const headers = {}
  for (const [key, part] of pairs) if (part !== null) (headers[key] ??= []).push(Buffer.from(part))
  return headers
}

async function run (kafka, step, id) {
  const transactional = step.mode === 'commit' || step.mode === 'abort'
  const producer = kafka.producer({
    createPartitioner: Partitioners.DefaultPartitioner,
    idempotent: step.mode !== 'plain',
    ...(transactional ? { transactionalId: id, maxInFlightRequests: 1 } : {})
  })
  await producer.connect()
  const sink = transactional ? await producer.transaction() : producer
  for (const batch of step.batches) {
    const messages = batch.map(record => ({
      key: value(record.key), value: value(record.value), headers: headersOf(record.headers),
      timestamp: String(record.timestamp), partition: 0
    }))
    await sink.send({ topic: step.topic, messages, compression: TYPES[step.codec], acks: -1 })
  }
  if (step.mode === 'commit') await sink.commit()
  if (step.mode === 'abort') await sink.abort()
  await producer.disconnect()
}

async function main () {
  const [bootstrap, path] = process.argv.slice(2)
  const zstd = await new Promise(resolve => ZstdCodec.run(resolve))
  const simple = new zstd.Simple()
  CompressionCodecs[CompressionTypes.Snappy] = require('kafkajs-snappy')
  CompressionCodecs[CompressionTypes.LZ4] = plugIn(lz4Frame)
  CompressionCodecs[CompressionTypes.ZSTD] = plugIn(data => simple.compress(data))
  const kafka = new Kafka({ clientId: 'wireproof', brokers: [bootstrap], logLevel: logLevel.ERROR })
  let number = 0
  for (const step of JSON.parse(readFileSync(path)).steps) await run(kafka, step, `wireproof-node-${number++}`)
  console.log(require('kafkajs/package.json').version)
}

main().then(() => process.exit(0), error => { console.error(error); process.exit(1) })
