// What the drivers in Node share: the `exec:` framing of the adapter contract on stdin and stdout (a u32
// big-endian header length, a JSON header, the raw bytes that its "blob" announces), and how a value
// travels: integers as decimal strings, bytes as lower-case hex, null beside empty.
'use strict'

/** A request that the library has no way to express: `unsupported`, which is no refusal. */
class Unsupported extends Error {}

const hex = bytes => (bytes === null || bytes === undefined ? null : bytes.toString('hex'))
const unhex = text => (text === null || text === undefined ? null : Buffer.from(text, 'hex'))

/** Throws `Unsupported` naming the first field of `[[field, possible]]` over which the encoder has no say. */
function expressible(fields) {
  const beyond = fields.find(([, possible]) => !possible)
  if (beyond) throw new Unsupported(`the encoder has no say over ${beyond[0]}`)
}

/** The header of a message; an integer that a double cannot hold stays in its decimal digits. */
function parsed(bytes) {
  const head = JSON.parse(bytes)
  if (!head.options) return head
  return JSON.parse(bytes, (_, part, { source }) =>
    typeof part === 'number' && !Number.isSafeInteger(part) ? source : part)
}

/** Cuts whole messages off the front of what has come; gives what is left over. */
function cut(data, take) {
  let start = 0
  while (data.length - start >= 4) {
    const body = start + 4 + data.readUInt32BE(start)
    if (body > data.length) break
    const head = parsed(data.subarray(start + 4, body))
    const end = body + (head.blob ?? 0)
    if (end > data.length) break
    take(head, data.subarray(body, end))
    start = end
  }
  return data.subarray(start)
}

function send(head, blob) {
  const header = Buffer.from(JSON.stringify(blob ? { ...head, blob: blob.length } : head))
  const length = Buffer.alloc(4)
  length.writeUInt32BE(header.length)
  process.stdout.write(Buffer.concat([length, header, ...(blob ? [blob] : [])]))
}

/**
 * The answer to what was thrown: `refused`, of the class of the first row of `classes` whose text is part
 * of the error's line; untyped unless the library documents errors of its kind.
 */
function refused(error, peer) {
  if (error instanceof Unsupported) return { outcome: 'unsupported', text: error.message }
  const line = `${error?.name} ${error?.code ?? ''}: ${error?.message}`.slice(0, 300)
  const found = peer.classes.find(([part]) => line.includes(part))
  const answer = { outcome: 'refused', class: found ? found[1] : 'other', text: line }
  return { ...answer, untyped: !peer.documented(error) }
}

async function answer(request, blob, peer) {
  const { id, op } = request
  const before = op === 'decode' ? { before: peer.nothing } : {}
  try {
    if (op === 'decode') return send({ id, outcome: 'accepted', ...(await peer.decode(Buffer.from(blob), request)) })
    if (op === 'encode') return send({ id, outcome: 'accepted' }, await peer.encode(request.value, request))
    send({ id, outcome: 'unsupported', text: `no ${op}` })
  } catch (error) {
    const said = refused(error, peer)
    send({ id, ...said, ...(said.outcome === 'refused' ? before : {}) })
  }
}

/**
 * Answers one request after the other until stdin ends.
 *
 * @param peer `hello`, its claims; `decode(bytes, request)`, a promise of `{value, consumed?}`;
 *     `encode(value, request)`, a promise of bytes; `nothing`, what was delivered before an error;
 *     `classes`, `[[part of an error's line, class]]`; `documented(error)`
 */
async function serve(peer) {
  console.log = console.info = console.error // a line of a library on stdout would break the frames
  let rest = Buffer.alloc(0)
  for await (const chunk of process.stdin) {
    const whole = []
    rest = cut(Buffer.concat([rest, chunk]), (head, blob) => whole.push([head, blob]))
    for (const [head, blob] of whole) {
      if (head.hello) send({ hello: { protocol: 1, errors: 'coarse', window: 16, cost: 'fast', ...peer.hello } })
      else await answer(head, blob, peer)
    }
  }
}

module.exports = { Unsupported, expressible, hex, unhex, serve }
