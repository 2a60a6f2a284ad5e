/**
 * Decodes the Huffman code of RFC 7541, appendix B. Our own header values are sent unencoded. The
 * code is canonical, so the lengths of its 256 words define it. Most characters in headers have
 * words of at most eight bits, which one table lookup decodes; longer words are decoded bit by bit.
 */

/** The word length of each byte, as base-36 digits. */
const lengths =
  'dnsssssssoussussssssssusssssssss6aacd68baa8b8666555666666678f6cad67777777777777777777777878djde6' +
  'f56565666577666567655677777fbedskmkkmmmnmnnnnnonoomnonnnnlmnmnnomlkmmnnlnmmolmnnllmlnmnnkmmmnmmnq' +
  'qkjmnmpqqqrrqopjlqrrqrollqqsrrrkoklmllnmmppooqnqrqqrrrrrsrrrrrq'

/** The bits of one table lookup. */
const lookBits = 8
/** A byte and the length of its word in one number; 0 means no word. */
const found = (byte: number, bits: number) => (bits << 8) | byte

interface Code {
  /** The decoded word by the next eight bits, for words of at most eight bits. */
  readonly short: Uint16Array
  /**
   * For each length: the first word, the number of words, and the index of their bytes in `bytes`.
   */
  readonly first: Uint32Array
  readonly count: Uint16Array
  readonly start: Uint16Array
  readonly bytes: Uint8Array
}

let code: Code | undefined

/** Decodes the bytes; undefined if they are not valid. */
export function decodeHuffman(bytes: Buffer, from: number, to: number): string | undefined {
  code ??= makeCode()
  const { short } = code
  const out = Buffer.allocUnsafe(Math.ceil(((to - from) * 8) / 5))
  const end = to * 8
  let length = 0
  for (let at = from * 8; at < end; ) {
    const byteAt = at >> 3
    // Pad the end with ones, like the padding of the last byte.
    const next = byteAt + 1 < to ? (bytes[byteAt + 1] as number) : 0xff
    const eight = ((((bytes[byteAt] as number) << 8) | next) >> (8 - (at & 7))) & 0xff
    let word = short[eight] as number
    if (word === 0) {
      if (end - at < lookBits) {
        if (eight !== 0xff) return undefined
        break
      }
      word = longWord(code, bytes, at, end)
      if (word === 0) return undefined
    }
    at += word >> 8
    if (at > end) return undefined
    out[length++] = word & 0xff
  }
  return out.toString('latin1', 0, length)
}

const lengthMax = 30

function longWord(
  { first, count, start, bytes: inOrder }: Code,
  bytes: Buffer,
  at: number,
  end: number,
): number {
  let word = 0
  const bitsMax = Math.min(lengthMax, end - at)
  for (let bits = 1; bits <= bitsMax; bits++) {
    const place = at + bits - 1
    word = (word << 1) | (((bytes[place >> 3] as number) >> (7 - (place & 7))) & 1)
    const nth = word - (first[bits] as number)
    if (bits > lookBits && nth >= 0 && nth < (count[bits] as number))
      return found(inOrder[(start[bits] as number) + nth] as number, bits)
  }
  return 0
}

/** Words of one length are consecutive numbers; each length continues after the previous one. */
function makeCode(): Code {
  const short = new Uint16Array(1 << lookBits)
  const first = new Uint32Array(lengthMax + 1)
  const count = new Uint16Array(lengthMax + 1)
  const start = new Uint16Array(lengthMax + 1)
  const inOrder = new Uint8Array(256)
  let word = 0
  let place = 0
  for (let bits = 1; bits <= lengthMax; bits++) {
    word <<= 1
    first[bits] = word
    start[bits] = place
    const digit = bits.toString(36)
    for (let byte = lengths.indexOf(digit); byte !== -1; byte = lengths.indexOf(digit, byte + 1)) {
      if (bits <= lookBits) {
        const free = lookBits - bits
        short.fill(found(byte, bits), word << free, (word + 1) << free)
      }
      inOrder[place++] = byte
      word++
    }
    count[bits] = place - (start[bits] as number)
  }
  return { short, first, count, start, bytes: inOrder }
}
