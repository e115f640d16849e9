// Heka's own Node client: its encoder, its sender (framing and signature; the debug sender keeps what it
// would send) and, for decoding, the message class that both are made of. It has no reader of frames.
'use strict'

require('heka') // first: its modules require one another in a circle
const { Message, Field } = require('heka/message')
const { protobufEncoder } = require('heka/senders/encoders')
const { debugSenderFactory } = require('heka/senders/dev')
const { version } = require('heka/package.json')
const { Long } = require('protobufjs')
const { expressible, hex, unhex, serve } = require('./_shared/node/peer.cjs')

const TYPES = ['STRING', 'BYTES', 'INTEGER', 'DOUBLE', 'BOOL']
const same = { show: part => part, take: part => part }
const TEXT = { show: part => hex(Buffer.from(part)), take: part => unhex(part).toString() }
const BYTES = { show: part => hex(part.toBuffer()), take: unhex }
const INT64 = { show: String, take: part => Long.fromString(part) }
const INT32 = { show: String, take: Number }
const TYPE = { show: part => TYPES[part] ?? String(part), take: part => TYPES.indexOf(part) }
const DOUBLE = { show: bits, take: real }
const FIELD = { show: part => shown(FIELDS, part), take: part => filled(new Field(), FIELDS, part) }

const FIELDS = {
  name: TEXT, value_type: TYPE, representation: TEXT,
  value_string: TEXT, value_bytes: BYTES, value_integer: INT64, value_double: DOUBLE, value_bool: same
}
const MESSAGE = {
  uuid: { ...BYTES, take: part => part }, // its encoder takes the uuid in hex
  timestamp: INT64, type: TEXT, logger: TEXT, severity: INT32, payload: TEXT,
  env_version: TEXT, pid: INT32, hostname: TEXT, fields: FIELD
}

function bits(number) {
  const data = Buffer.alloc(8)
  data.writeDoubleBE(number)
  return hex(data)
}

function real(part) {
  if (part.length !== 16) throw new Error(`no double has ${part.length / 2} bytes`)
  return unhex(part).readDoubleBE()
}

const shown = (names, message) => Object.fromEntries(Object.entries(names).map(([name, { show }]) => {
  const part = message[name]
  return [name, Array.isArray(part) ? part.map(show) : part === null ? null : show(part)]
}))

function filled(message, names, value) {
  for (const [name, { take }] of Object.entries(names)) {
    const part = value[name] ?? null
    if (Array.isArray(part)) message[name].push(...part.map(take))
    else if (part !== null) message[name] = take(part)
  }
  return message
}

const message = value => filled(new Message(), MESSAGE, value)

// --- frames ---

function encode(value, { format, options = {} }) {
  if (format === 'heka.message') return protobufEncoder.encode(message(value))
  return Buffer.concat(value.frames.map(frame => sent(frame, options.keys ?? null)))
}

/** What a sender puts on the wire; a hash function it writes always, as it does the legacy encoding. */
function sent({ header, message: body }, keys) {
  const sender = debugSenderFactory({ encoder: './senders/encoders:protobufEncoder', hmc: signing(header, keys) })
  sender.sendMessage(message(body))
  return sender.msgs[0]
}

/** A sender signs every message with one key, or none. */
function signing({ hmac_hash_function: name, hmac_signer, hmac_key_version: version, hmac }, keys) {
  const signer = hmac_signer === null ? null : unhex(hmac_signer).toString()
  const key = keys?.[`${signer}_${version}`] ?? null
  if (signer === null && version === null && hmac === null) return undefined
  expressible([['hmac', hmac === null], ['hmac_signer', signer !== null && key !== null]])
  return { signer, key_version: Number(version), hash_function: (name ?? 'MD5').toLowerCase(), key: unhex(key) }
}

// A value_type that is not there reads as its default, and a hash function is always written.
const hides = name => name !== 'value_type' && name !== 'fields'
const inner = Object.keys(FIELDS).filter(hides).map(name => `fields[].${name}`)
const observes = [...Object.keys(MESSAGE).filter(hides), ...inner]
const header = ['message_length', 'hmac_signer', 'hmac_key_version', 'hmac'].map(name => `frames[].header.${name}`)
const frames = [...header, ...observes.map(name => `frames[].message.${name}`)]

serve({
  hello: {
    name: 'heka-node',
    version,
    revisions: {
      'heka.message/0.10': { ops: ['decode', 'encode'], codecs: ['none'], profiles: ['reader'], observes },
      'heka.stream/0.10': {
        ops: ['encode'], codecs: ['none'], features: ['hmac'], profiles: ['reader'], observes: frames
      }
    }
  },
  decode: bytes => ({ value: shown(MESSAGE, Message.decode(bytes)), consumed: bytes.length }),
  encode,
  nothing: null,
  classes: [
    ['Missing at least one required field', 'missing-field'],
    ['Illegal wire type for field', 'type-mismatch'],
    ['Illegal wire type', 'bad-kind'],
    ['Capacity overflow', 'truncated'],
    ['outside the bounds', 'truncated'],
    ['no double has', 'invalid-value']
  ],
  documented: error => error.constructor === Error
})
