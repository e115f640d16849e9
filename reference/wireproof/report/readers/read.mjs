// SPDX-License-Identifier: Apache-2.0
// Read an export of wireproof: `node readers/read.mjs`. Prints the number of cases and a digest of all.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

const root = join(import.meta.dirname ?? new URL('.', import.meta.url).pathname, '..')

function crc32 (data, crc) {
  crc = ~crc
  for (const byte of data) {
    crc ^= byte
    for (let bit = 0; bit < 8; bit++) crc = (crc >>> 1) ^ (crc & 1 ? 0xedb88320 : 0)
  }
  return ~crc >>> 0
}

let count = 0
let digest = 0
for (const line of readFileSync(join(root, 'cases.ndjson'), 'utf8').split('\n')) {
  if (!line) continue
  const theCase = JSON.parse(line)
  const data = theCase.file ? readFileSync(join(root, theCase.file)) : Buffer.alloc(0)
  // your codec here: op and format say what to do with `data` (of input.value for an encode),
  // expect what must come of it: accept, reject, or either of some behaviours
  digest = crc32(Buffer.concat([Buffer.from(theCase.id + '\n'), data]), digest)
  count++
}
console.log(`${count} ${digest.toString(16).padStart(8, '0')}`)
