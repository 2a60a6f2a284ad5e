/**
 * Splits the bytes of a connection into the preface and frames. Each frame is passed on when it is
 * complete.
 */
import {
  flag,
  frameHeadBytes,
  frameSizeError,
  payloadBytesMax,
  preface,
  protocolError,
} from './frames.ts'

export type TakeFrame = (type: number, flags: number, stream: number, payload: Buffer) => void

export class FrameReader {
  readonly #take: TakeFrame
  #unread: Buffer | undefined
  #begun = false

  constructor(take: TakeFrame) {
    this.#take = take
  }

  read(more: Buffer): void {
    const bytes = this.#unread === undefined ? more : Buffer.concat([this.#unread, more])
    let at = this.#begun ? 0 : this.#readPreface(bytes)
    while (this.#begun && bytes.length - at >= frameHeadBytes) {
      const length = bytes.readUIntBE(at, 3)
      if (length > payloadBytesMax) throw frameSizeError('a frame is too large')
      const end = at + frameHeadBytes + length
      if (end > bytes.length) break
      const stream = bytes.readUInt32BE(at + 5) & 0x7fffffff
      const payload = bytes.subarray(at + frameHeadBytes, end)
      this.#take(bytes[at + 3] as number, bytes[at + 4] as number, stream, payload)
      at = end
    }
    this.#unread = at === bytes.length ? undefined : bytes.subarray(at)
  }

  /** The offset of the first frame. */
  #readPreface(bytes: Buffer): number {
    const known = Math.min(bytes.length, preface.length)
    if (bytes.compare(preface, 0, known, 0, known) !== 0) throw protocolError('this is not HTTP/2')
    if (known < preface.length) return 0
    this.#begun = true
    return preface.length
  }
}

/** The payload of a frame without its padding. */
export function unpadded(flags: number, payload: Buffer): Buffer {
  if ((flags & flag.padded) === 0) return payload
  const padding = payload[0]
  if (padding === undefined || padding >= payload.length)
    throw protocolError('more padding than frame')
  return payload.subarray(1, payload.length - padding)
}
