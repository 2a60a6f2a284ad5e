/** Why bytes are not valid UTF-8, with the messages of Go's YAML library. */

/** The smallest character that needs a sequence of this many bytes. */
const smallest = [0, 0, 0x80, 0x800, 0x1_0000]

const widthOf = (first: number): number =>
  first < 0x80
    ? 1
    : first >> 5 === 0b110
      ? 2
      : first >> 4 === 0b1110
        ? 3
        : first >> 3 === 0b11110
          ? 4
          : 0

/** Undefined if the bytes are valid UTF-8. */
export function utf8Fault(bytes: Buffer): string | undefined {
  let width: number
  for (let at = 0; at < bytes.length; at += width) {
    const first = bytes[at] as number
    width = widthOf(first)
    if (width === 0) return 'invalid leading UTF-8 octet'
    if (at + width > bytes.length) return 'incomplete UTF-8 octet sequence'
    let character = width === 1 ? first : first & (0xff >> (width + 1))
    for (let i = 1; i < width; i++) {
      const next = bytes[at + i] as number
      if (next >> 6 !== 0b10) return 'invalid trailing UTF-8 octet'
      character = (character << 6) | (next & 0x3f)
    }
    if (character < (smallest[width] as number)) return 'invalid length of a UTF-8 sequence'
    if ((character >= 0xd800 && character <= 0xdfff) || character > 0x10_ffff)
      return 'invalid Unicode character'
  }
  return undefined
}
