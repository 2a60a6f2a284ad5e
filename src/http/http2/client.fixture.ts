/** A client of one HTTP/2 connection without a network. It sends frames and collects responses. */
import assert from 'node:assert/strict'
import { EventEmitter } from 'node:events'
import type { TLSSocket } from 'node:tls'
import type { Wire } from '#http/exchange.ts'
import { Http2Connection, type Http2Options } from './connection.ts'
import { preface, settingsFrame, writeFrameHead } from './frames.ts'

class FakeSocket extends EventEmitter {
  written = Buffer.alloc(0)
  writes = 0
  destroyed = false
  /** Whether the client reads. */
  open = true
  remoteAddress = '10.0.0.1'

  write(bytes: Buffer): boolean {
    assert.equal(this.destroyed, false, 'nothing is written after the end')
    this.written = Buffer.concat([this.written, bytes])
    this.writes++
    return this.open
  }

  end(): void {
    this.destroyed = true
    this.emit('close')
  }

  destroySoon = this.end
  destroy = this.end
}

export interface Frame {
  readonly type: number
  readonly flags: number
  readonly stream: number
  readonly payload: Buffer
}

export function frame(
  type: number,
  flags: number,
  stream: number,
  payload: Buffer | string = '',
): Buffer {
  const bytes = Buffer.from(payload as string)
  const head = Buffer.alloc(9)
  writeFrameHead(head, 0, bytes.length, type, flags, stream)
  return Buffer.concat([head, bytes])
}

export class Client {
  readonly socket = new FakeSocket()
  readonly wires: Wire[] = []
  readonly connection: Http2Connection

  constructor(
    first: Buffer = Buffer.concat([preface, settingsFrame([])]),
    options: Partial<Http2Options> = {},
  ) {
    this.connection = new Http2Connection(this.socket as unknown as TLSSocket, {
      handle: (wire) => void this.wires.push(wire),
      ...options,
    })
    this.send(first)
  }

  send(...frames: Buffer[]): void {
    this.socket.emit('data', Buffer.concat(frames))
  }

  /** Frames written since the last call. */
  async frames(): Promise<Frame[]> {
    await new Promise((resolve) => setImmediate(resolve))
    const bytes = this.socket.written
    this.socket.written = Buffer.alloc(0)
    const found: Frame[] = []
    for (let at = 0; at < bytes.length; ) {
      const end = at + 9 + bytes.readUIntBE(at, 3)
      found.push({
        type: bytes[at + 3] as number,
        flags: bytes[at + 4] as number,
        stream: bytes.readUInt32BE(at + 5),
        payload: bytes.subarray(at + 9, end),
      })
      at = end
    }
    return found
  }
}
