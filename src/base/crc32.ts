/**
 * CRC-32 as in zlib and PNG (polynomial 0xEDB88320, reflected). Node has it only in node:zlib.
 * Loading that module costs more start time, and more memory in each thread, than all checksums of
 * a day.
 */

/** Four tables, so that four bytes are processed in one step. */
const tables = Array.from({ length: 4 }, () => new Uint32Array(256))
const [first, second, third, fourth] = tables as [
  Uint32Array,
  Uint32Array,
  Uint32Array,
  Uint32Array,
]
for (let byte = 0; byte < 256; byte++) {
  let sum = byte
  for (let bit = 0; bit < 8; bit++) sum = sum & 1 ? (sum >>> 1) ^ 0xedb88320 : sum >>> 1
  first[byte] = sum
}
for (let byte = 0; byte < 256; byte++) {
  for (let i = 1; i < 4; i++) {
    const before = (tables[i - 1] as Uint32Array)[byte] as number
    ;(tables[i] as Uint32Array)[byte] = (before >>> 8) ^ (first[before & 0xff] as number)
  }
}

/**
 * The checksum of bytes, or of a text as UTF-8. `before` is the checksum of the preceding bytes.
 */
export function crc32(data: Uint8Array | string, before = 0): number {
  const bytes = typeof data === 'string' ? Buffer.from(data) : data
  let sum = ~before
  let at = 0
  for (const whole = bytes.length - 3; at < whole; at += 4) {
    sum ^=
      (bytes[at] as number) |
      ((bytes[at + 1] as number) << 8) |
      ((bytes[at + 2] as number) << 16) |
      ((bytes[at + 3] as number) << 24)
    sum =
      (fourth[sum & 0xff] as number) ^
      (third[(sum >>> 8) & 0xff] as number) ^
      (second[(sum >>> 16) & 0xff] as number) ^
      (first[sum >>> 24] as number)
  }
  for (; at < bytes.length; at++)
    sum = (sum >>> 8) ^ (first[(sum ^ (bytes[at] as number)) & 0xff] as number)
  return ~sum >>> 0
}
