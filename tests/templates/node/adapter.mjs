// An adapter for wireproof: one file for Node 18 or newer. Nothing to build.
//
//     wireproof check 'exec:node adapter.mjs' --run 'iggy.identifier/**'
//
// As it stands it is a whole codec of a small format, Iggy's identifier: kind (1 byte), length (1 byte), value.
// Put yours in its place: name, version, claims, decode, encode. What is below "the wire" can stay as it is.
const name = 'my-codec'
const version = '1.0'

// "exact": the classes of refusals are judged too; "coarse": only that it refuses; "none": it has no reasons.
const errors = 'exact'

/** Bytes or a value that the codec does not take: a class of the contract, where, and a text. */
class Refused extends Error {
  constructor (cls, at, text) { super(text); this.cls = cls; this.at = at }
}

/** A question that the codec cannot be asked. */
class Unsupported extends Error {}

// --- the codec: yours goes here ---

import { isUtf8 } from 'node:buffer'

// What the codec can do, by format and revision (`wireproof show` lists them). Only what is claimed is asked.
// May hold more: codecs, profiles, features, and observes, the fields that it shows, if not all.
const claims = {
  'iggy.identifier/0.0.30': { ops: ['decode', 'encode'] },
  'iggy.identifier/0.8': { ops: ['decode', 'encode'] }
}

const KINDS = ['', 'numeric', 'string']

/** The value that stands at the start of `data`, and how many bytes it takes. */
function decode (revision, data) {
  if (data.length < 1) throw new Refused('truncated', 0, 'no kind')
  const kind = KINDS[data[0]]
  if (!kind) throw new Refused('bad-kind', 0, `kind ${data[0]}`)
  if (data.length < 2) throw new Refused('truncated', 1, 'no length')
  const length = data[1]
  if (length === 0 || (kind === 'numeric' && length !== 4)) throw new Refused('bad-length', 1, `${kind} of ${length} bytes`)
  if (length > data.length - 2) throw new Refused('truncated', 2, `${length} bytes announced, ${data.length - 2} there`)
  const value = data.subarray(2, 2 + length)
  if (kind === 'string' && !isUtf8(value)) throw new Refused('bad-utf8', 2, 'no UTF-8')
  if (kind === 'numeric' && revision === '0.0.30' && value.every(byte => byte === 0)) {
    throw new Refused('invalid-value', 2, '0 names nothing before 0.8')
  }
  return { value: { kind, value: value.toString('hex') }, consumed: 2 + length }
}

/** The bytes of a value in the form that `decode` gives it. */
function encode (revision, value) {
  const data = Buffer.from(value.value, 'hex')
  const wire = Buffer.concat([Buffer.from([KINDS.indexOf(value.kind), data.length]), data])
  if (data.length > 255) throw new Refused('invalid-value', 0, `${value.kind} of ${data.length} bytes`)
  decode(revision, wire) // what does not decode again is no value
  return wire
}

// --- the wire: u32 big-endian length, a JSON header of that length, then as many raw bytes as "blob" says ---

/** The answer to one request, and its bytes. */
function answer (head, blob) {
  if (head.hello) return [{ hello: { protocol: 1, name, version, revisions: claims, errors, window: 64 } }]
  const id = head.id
  try {
    const claim = claims[`${head.format}/${head.revision}`]
    if (!claim?.ops.includes(head.op)) throw new Unsupported(`no ${head.op} of ${head.format}/${head.revision}`)
    if (head.op === 'decode') return [{ id, outcome: 'accepted', ...decode(head.revision, blob) }]
    return [{ id, outcome: 'accepted' }, encode(head.revision, head.value)]
  } catch (error) {
    const text = String(error.message).slice(0, 300)
    if (error instanceof Unsupported) return [{ id, outcome: 'unsupported', text }]
    // an encoder's refusals are all of one class; what the codec does not document is untyped
    if (!(error instanceof Refused)) return [{ id, outcome: 'refused', class: 'other', text, untyped: true }]
    if (head.op === 'encode') return [{ id, outcome: 'refused', class: 'invalid-value', text }]
    return [{ id, outcome: 'refused', class: error.cls, text, at: error.at }]
  }
}

function write (head, blob) {
  const header = Buffer.from(JSON.stringify(blob ? { ...head, blob: blob.length } : head))
  const length = Buffer.alloc(4)
  length.writeUInt32BE(header.length)
  process.stdout.write(Buffer.concat([length, header, blob ?? Buffer.alloc(0)]))
}

/** Answers the messages that are whole; gives back the bytes that wait for more. */
function feed (bytes) {
  while (bytes.length >= 4) {
    const start = 4 + bytes.readUInt32BE(0)
    if (bytes.length < start) break
    const head = JSON.parse(bytes.subarray(4, start).toString())
    const end = start + (head.blob ?? 0)
    if (bytes.length < end) break
    write(...answer(head, bytes.subarray(start, end)))
    bytes = bytes.subarray(end)
  }
  return bytes
}

let waiting = Buffer.alloc(0)
process.stdin.on('data', more => { waiting = feed(Buffer.concat([waiting, more])) })
