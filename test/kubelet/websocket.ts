/**
 * As much of WebSocket as a kubelet speaks with kubectl: binary messages on numbered channels. For
 * tests only.
 */
import { createHash } from 'node:crypto'
import type { Duplex } from 'node:stream'

export const acceptOf = (key: string): string =>
  createHash('sha1').update(`${key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest('base64')

export class WebSocketServer {
  readonly #socket: Duplex
  readonly #message: (channel: number, bytes: Buffer) => void
  #pending = Buffer.alloc(0)

  constructor(socket: Duplex, head: Buffer, message: (channel: number, bytes: Buffer) => void) {
    this.#socket = socket
    this.#message = message
    socket.on('data', (bytes: Buffer) => this.#take(bytes))
    if (head.length > 0) this.#take(head)
  }

  send(channel: number, bytes: Buffer): void {
    this.#frame(2, Buffer.concat([Buffer.from([channel]), bytes]))
  }

  close(): void {
    this.#frame(8, Buffer.from([0x03, 0xe8]))
    this.#socket.end()
  }

  #frame(opcode: number, body: Buffer): void {
    if (!this.#socket.writable) return
    const head = Buffer.alloc(body.length < 126 ? 2 : 10)
    head[0] = 0x80 | opcode
    if (body.length < 126) head[1] = body.length
    else {
      head[1] = 127
      head.writeBigUInt64BE(BigInt(body.length), 2)
    }
    this.#socket.write(Buffer.concat([head, body]))
  }

  #take(bytes: Buffer): void {
    this.#pending = Buffer.concat([this.#pending, bytes])
    for (;;) {
      const data = this.#pending
      if (data.length < 2) return
      let length = data[1] & 0x7f
      let at = 2
      if (length === 126) at = 4
      if (length === 127) at = 10
      if (data.length < at + 4) return
      if (length === 126) length = data.readUInt16BE(2)
      else if (length === 127) length = Number(data.readBigUInt64BE(2))
      if (data.length < at + 4 + length) return
      const mask = data.subarray(at, at + 4)
      const body = Buffer.from(
        data.subarray(at + 4, at + 4 + length).map((byte, i) => byte ^ mask[i % 4]),
      )
      this.#pending = data.subarray(at + 4 + length)
      const opcode = data[0] & 0x0f
      if (opcode === 9) this.#frame(10, body)
      else if (opcode === 8) this.#socket.end()
      else if (opcode === 1 || opcode === 2) this.#message(body[0], body.subarray(1))
    }
  }
}
