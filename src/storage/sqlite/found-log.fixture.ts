/** Builds a write-ahead log: its pages, its commits, and a fault. */

const salts = Buffer.from('saltsalt')

export interface MadeFrame {
  readonly page: number
  readonly commits?: boolean
  /** The position of a byte of the frame that is changed after all checksums were computed. */
  readonly garbledAt?: number
  readonly salts?: Buffer
}

export interface MadeLog {
  readonly pageSize?: number
  /** The last bit is the byte order of the checksums. */
  readonly magic?: number
}

export function makeLog(
  frames: readonly MadeFrame[],
  { pageSize = 512, magic = 0x377f0682 }: MadeLog = {},
): Buffer {
  const isHighFirst = magic % 2 === 1
  let sums: [number, number] = [0, 0]
  const add = (bytes: Buffer) => {
    const read = (at: number) => (isHighFirst ? bytes.readUInt32BE(at) : bytes.readUInt32LE(at))
    for (let at = 0; at < bytes.length; at += 8) {
      const first = (sums[0] + read(at) + sums[1]) % 2 ** 32
      sums = [first, (sums[1] + read(at + 4) + first) % 2 ** 32]
    }
  }
  const numbers = (...of: number[]) => {
    const bytes = Buffer.alloc(of.length * 4)
    for (const [i, one] of of.entries()) bytes.writeUInt32BE(one, i * 4)
    return bytes
  }
  const head = Buffer.concat([numbers(magic, 3_007_000, pageSize, 0), salts])
  add(head)
  const parts = [head, numbers(...sums)]
  for (const { page, commits, garbledAt, salts: own = salts } of frames) {
    const stated = numbers(page, commits ? 3 : 0)
    const content = Buffer.alloc(pageSize, `page ${page} `)
    add(stated)
    add(content)
    const frame = Buffer.concat([stated, own, numbers(...sums), content])
    if (garbledAt !== undefined) frame[garbledAt] = (frame[garbledAt] as number) ^ 1
    parts.push(frame)
  }
  return Buffer.concat(parts)
}
