/**
 * The Huffman code of RFC 7541, appendix B, read only: our own header values are sent as they are. The code is canonical,
 * so the lengths of its 256 words tell all of it. Decoding walks a table of nibbles: two steps a byte.
 */

/** Bits of the code of each byte, as digits of base 36. */
const lengths =
  'dnsssssssoussussssssssusssssssss6aacd68baa8b8666555666666678f6cad67777777777777777777777878djde6' +
  'f56565666577666567655677777fbedskmkkmmmnmnnnnnonoomnonnnnlmnmnnomlkmmnnlnmmolmnnllmlnmnnkmmmnmmnq' +
  'qkjmnmpqqqrrqopjlqrrqrollqqsrrrkoklmllnmmppooqnqrqqrrrrrsrrrrrq'

interface Walk {
  /** Per node and nibble: the next node, or -1 where no code leads on. */
  readonly next: Int16Array
  /** Per node and nibble: the byte that is complete on the way, or -1. */
  readonly byte: Int16Array
  /** Whether a text may end here: only ones, and fewer than eight, follow the last code. */
  readonly final: Uint8Array
}

let walk: Walk | undefined

/** The text, or nothing where the bytes are no Huffman code. */
export function decodeHuffman(bytes: Buffer, from: number, to: number): string | undefined {
  walk ??= makeWalk()
  const { next, byte, final } = walk
  const out = Buffer.allocUnsafe(Math.ceil(((to - from) * 8) / 5))
  let length = 0
  let node = 0
  for (let at = from; at < to; at++) {
    const both = bytes[at] as number
    for (let shift = 4; shift >= 0; shift -= 4) {
      const step = node * 16 + ((both >> shift) & 15)
      node = next[step] as number
      if (node === -1) return undefined
      if (byte[step] !== -1) out[length++] = byte[step] as number
    }
  }
  return final[node] === 1 ? out.toString('latin1', 0, length) : undefined
}

/** A binary tree first, then its nodes four bits at a time. */
function makeWalk(): Walk {
  const tree = makeTree()
  const count = tree.length
  const next = new Int16Array(count * 16).fill(-1)
  const byte = new Int16Array(count * 16).fill(-1)
  for (let node = 0; node < count; node++) {
    for (let nibble = 0; nibble < 16; nibble++) {
      let here = node
      for (let bit = 3; bit >= 0 && here !== -1; bit--) {
        const to = (tree[here] as [number, number])[(nibble >> bit) & 1] as number
        if (to < 0 && to !== none) byte[node * 16 + nibble] = -1 - to
        here = to === none ? -1 : to < 0 ? 0 : to
      }
      next[node * 16 + nibble] = here
    }
  }
  const final = new Uint8Array(count)
  for (let node = 0, ones = 0; ones < 8 && node >= 0; ones++) {
    final[node] = 1
    node = (tree[node] as [number, number])[1]
  }
  return { next, byte, final }
}

/** No code begins this way: only the end mark does, which must not be sent. */
const none = -1000

/** Nodes as their two ways on: another node, or `-1 - byte`. */
function makeTree(): [number, number][] {
  const tree: [number, number][] = [[none, none]]
  const sorted = [...lengths]
    .map((digit, byte) => ({ byte, bits: Number.parseInt(digit, 36) }))
    .sort((a, b) => a.bits - b.bits || a.byte - b.byte)
  let code = 0
  let before = sorted[0]?.bits as number
  for (const { byte, bits } of sorted) {
    code *= 2 ** (bits - before)
    before = bits
    let node = 0
    for (let bit = bits - 1; bit > 0; bit--) {
      const ways = tree[node] as [number, number]
      const side = (code >> bit) & 1
      if (ways[side] === none) ways[side] = tree.push([none, none]) - 1
      node = ways[side] as number
    }
    ;(tree[node] as [number, number])[code & 1] = -1 - byte
    code++
  }
  return tree
}
