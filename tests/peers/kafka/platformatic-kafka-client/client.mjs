// A client of @platformatic/kafka: `client.mjs consume ADDRESS TOPIC ISOLATION OFFSET`, `client.mjs produce ADDRESS TOPIC CODEC MODE`.
import readline from 'node:readline'
import { Consumer, Producer } from '@platformatic/kafka'

const LEVELS = { read_uncommitted: 0, read_committed: 1 }

const show = line => process.stdout.write(JSON.stringify(line) + '\n')
const hexed = data => (data == null ? null : data.toString('hex'))
const unhexed = text => (text === null ? null : Buffer.from(text, 'hex'))

/** Print the records of partition 0 from an offset on, for ever; an error ends the stream, and a new one goes on. */
async function consume (address, topic, isolation, offset) {
  const consumer = new Consumer({ clientId: 'client', groupId: `${topic}-${process.pid}`, bootstrapBrokers: [address] })
  const options = { topics: [topic], mode: 'manual', autocommit: false, isolationLevel: LEVELS[isolation] }
  for (let next = BigInt(offset); ; await new Promise(resolve => setTimeout(resolve, 100))) {
    try {
      for await (const r of await consumer.consume({ ...options, offsets: [{ topic, partition: 0, offset: next }] })) {
        const headers = r.headerEntries.map(([name, value]) => [(name ?? '').toString(), hexed(value)])
        show({ offset: String(r.offset), timestamp: String(r.timestamp), key: hexed(r.key), value: hexed(r.value), headers })
        next = r.offset + 1n
      }
    } catch (error) {
      show({ error: [error, ...(error.errors ?? []), error.cause ?? ''].join(' ') })
    }
  }
}

/** Hand the records of stdin to the producer; print the answers at each flush. */
async function produce (address, topic, codec, mode) {
  const options = { clientId: 'client', bootstrapBrokers: [address], compression: codec, acks: -1, idempotent: mode !== 'plain' }
  const producer = new Producer(mode === 'transactional' ? { ...options, transactionalId: topic } : options)
  let [sender, messages] = [producer, []]
  for await (const text of readline.createInterface({ input: process.stdin })) {
    const line = JSON.parse(text)
    if (line.begin) sender = await producer.beginTransaction()
    else if (line.commit) await sender.commit()
    else if (line.abort) await sender.abort()
    else if (!line.flush) messages.push(message(topic, line))
    else {
      const sent = sender.send({ messages })
      const answer = await sent.then(({ offsets: [{ offset }] }) => i => ({ offset: String(offset + BigInt(i)) }), error => () => ({ error: String(error) }))
      messages.forEach((_, i) => show(answer(i)))
      messages = []
    }
  }
  await producer.close()
}

/** Return the message of a line. */
function message (topic, { key, value, timestamp, headers = [] }) {
  const pairs = new Map(headers.map(([name, data]) => [Buffer.from(name), unhexed(data)]))
  const when = timestamp === undefined ? {} : { timestamp: BigInt(timestamp) }
  return { topic, partition: 0, key: unhexed(key), value: unhexed(value), headers: pairs, ...when }
}

if (!Promise.withResolvers) {
  console.error(`@platformatic/kafka needs Node 22.22 or newer; this is ${process.version}`)
  process.exit(1)
}
const [verb, ...words] = process.argv.slice(2)
await { consume, produce }[verb](...words)
