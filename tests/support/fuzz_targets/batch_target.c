/* A target for libFuzzer and AFL++ with a planted bug behind the checksum of a Kafka record batch: it aborts if a batch
 * whose CRC-32C is right has a producer id and a base sequence that no producer of the seeds has. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

static uint64_t big_endian(const uint8_t *at, int bytes) {
  uint64_t number = 0;
  while (bytes-- > 0) number = number << 8 | *at++;
  return number;
}

static uint32_t crc32c(const uint8_t *at, size_t size) {
  uint32_t crc = 0xffffffff;
  while (size-- > 0) {
    crc ^= *at++;
    for (int bit = 0; bit < 8; bit++) crc = crc >> 1 ^ (crc & 1 ? 0x82f63b78 : 0);
  }
  return ~crc;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size < 61 || data[16] != 2 || big_endian(data + 8, 4) != size - 12) return 0;
  if (big_endian(data + 17, 4) != crc32c(data + 21, size - 21)) return 0;
  if (big_endian(data + 57, 4) == 3 && (data[22] & 7) == 1) abort(); /* three records, compressed with gzip */
  return 0;
}
