// protobufjs on Heka messages, as its guide says: `decode`, and `fromObject` (which takes text for 64-bit
// numbers), `verify`, `encode`.
'use strict'

const fs = require('node:fs')
const path = require('node:path')
const protobuf = require('protobufjs')
const { version } = require('protobufjs/package.json')
const { hex, unhex, serve } = require('./_shared/node/peer.cjs')

// Fields keep the names of the schema; `value_type` stands there only as a name or, unknown, as a number.
const schema = fs.readFileSync(path.join(__dirname, 'message.proto'), 'utf8')
const { root } = protobuf.parse(schema, { keepCase: true })
const Message = root.lookupType('message.Message')
const Field = root.lookupType('message.Field')
const TYPES = root.lookupEnum('message.Field.ValueType')

/** What was set, as JSON: a field that is not there is null, also where the schema has a default. */
function shown(type, message) {
  return Object.fromEntries(type.fieldsArray.map(field => {
    if (field.repeated) return [field.name, message[field.name].map(part => json(field, part))]
    const there = Object.hasOwn(message, field.name)
    return [field.name, there ? json(field, message[field.name]) : null]
  }))
}

function json(field, part) {
  switch (field.type) {
    case 'Field': return shown(Field, part)
    case 'bytes': return hex(part)
    case 'string': return hex(Buffer.from(part))
    case 'double': return bits(part)
    case 'bool': return part
    case 'ValueType': return TYPES.valuesById[part] ?? String(part)
    default: return part.toString()
  }
}

function bits(number) {
  const data = Buffer.alloc(8)
  data.writeDoubleBE(number)
  return hex(data)
}

/** The plain object that `fromObject` takes. */
function plain(type, value) {
  const set = type.fieldsArray.filter(field => (value[field.name] ?? null) !== null)
  return Object.fromEntries(set.map(field => {
    const part = value[field.name]
    return [field.name, field.repeated ? part.map(item => taken(field, item)) : taken(field, part)]
  }))
}

function taken(field, part) {
  switch (field.type) {
    case 'Field': return plain(Field, part)
    case 'bytes': return unhex(part)
    case 'string': return unhex(part).toString()
    case 'double': return real(unhex(part))
    case 'int32': return Number(part)
    default: return part // names of the enum, 64-bit numbers in decimal, booleans
  }
}

function real(data) {
  if (data.length !== 8) throw new Error(`no double has ${data.length} bytes`)
  return data.readDoubleBE()
}

function encode(value) {
  const object = plain(Message, value)
  const wrong = Message.verify(Message.fromObject(object))
  if (wrong) throw new Error(`verify: ${wrong}`)
  return Buffer.from(Message.encode(Message.fromObject(object)).finish())
}

serve({
  hello: {
    name: 'protobufjs',
    version,
    revisions: { 'heka.message/0.10': { ops: ['decode', 'encode'], codecs: ['none'], profiles: ['reader'] } }
  },
  decode: bytes => ({ value: shown(Message, Message.decode(bytes)), consumed: bytes.length }),
  encode,
  nothing: null,
  classes: [
    ['missing required', 'missing-field'],
    ['index out of range', 'truncated'],
    ['invalid varint', 'bad-varint'],
    ['invalid tag', 'bad-varint'],
    ['invalid length', 'length-past-end'],
    ['field number 0', 'bad-kind'],
    ['invalid wire type', 'bad-kind'],
    ['invalid end group', 'bad-kind'],
    ['no double has', 'invalid-value'],
    ['verify: ', 'invalid-value']
  ],
  documented: error => error.constructor === Error || error instanceof RangeError || error instanceof protobuf.util.ProtocolError
})
