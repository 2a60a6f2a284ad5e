/**
 * WebSocket frames for a server that only sends. It writes whole messages, and reads only pings and
 * closes. Other input is skipped.
 */

export const opcodes = { text: 1, binary: 2, close: 8, ping: 9, pong: 10 } as const

/** Frames that a server sends are not masked. */
export function frame(opcode: number, bytes: Buffer): Buffer {
  const { length } = bytes
  const headLength = length < 126 ? 2 : length < 65_536 ? 4 : 10
  const out = Buffer.allocUnsafe(headLength + length)
  out[0] = 0x80 | opcode
  if (headLength === 2) out[1] = length
  else if (headLength === 4) {
    out[1] = 126
    out.writeUInt16BE(length, 2)
  } else {
    out[1] = 127
    out.writeBigUInt64BE(BigInt(length), 2)
  }
  bytes.copy(out, headLength)
  return out
}

export const closeStatus = { normal: 1000, protocolError: 1002 } as const

export function closeFrame(status: number): Buffer {
  const reason = Buffer.allocUnsafe(2)
  reason.writeUInt16BE(status)
  return frame(opcodes.close, reason)
}

export interface Heard {
  ping(bytes: Buffer): void
  close(status: number): void
}

/** Parses the client's frames, which may arrive in any pieces. */
export class FrameReader {
  readonly #heard: Heard
  #pending: Buffer = Buffer.alloc(0)
  #skip = 0n
  #closed = false

  constructor(heard: Heard) {
    this.#heard = heard
  }

  take(bytes: Buffer): void {
    this.#pending = this.#pending.length === 0 ? bytes : Buffer.concat([this.#pending, bytes])
    while (!this.#closed && this.#step());
    if (this.#closed) this.#pending = Buffer.alloc(0)
  }

  /** Returns whether the buffered bytes may contain another frame. */
  #step(): boolean {
    const here = this.#pending
    if (this.#skip > 0n) {
      const count = this.#skip < BigInt(here.length) ? Number(this.#skip) : here.length
      this.#skip -= BigInt(count)
      this.#pending = here.subarray(count)
      return this.#pending.length > 0
    }
    if (here.length < 2) return false
    const [opcode, short] = [here[0] & 0x0f, here[1] & 0x7f]
    const lengthBytes = short === 126 ? 2 : short === 127 ? 8 : 0
    const isControl = opcode >= opcodes.close
    if ((here[1] & 0x80) === 0 || (isControl && lengthBytes > 0)) {
      return this.#close(closeStatus.protocolError)
    }
    const headLength = 2 + lengthBytes + 4
    if (here.length < headLength) return false
    const length =
      lengthBytes === 0
        ? BigInt(short)
        : lengthBytes === 2
          ? BigInt(here.readUInt16BE(2))
          : here.readBigUInt64BE(2)
    if (!isControl) {
      this.#pending = here.subarray(headLength)
      this.#skip = length
      return true
    }
    const end = headLength + short
    if (here.length < end) return false
    this.#pending = here.subarray(end)
    if (opcode === opcodes.close) return this.#close(closeStatus.normal)
    if (opcode === opcodes.ping) this.#heard.ping(unmasked(here.subarray(headLength - 4, end)))
    return true
  }

  #close(status: number): false {
    this.#closed = true
    this.#heard.close(status)
    return false
  }
}

/** `bytes` is the mask, followed by the masked data. */
const unmasked = (bytes: Buffer): Buffer =>
  Buffer.from(bytes.subarray(4).map((byte, i) => byte ^ bytes[i % 4]))
