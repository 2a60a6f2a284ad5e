/**
 * As much of SPDY/3.1 as a kubelet speaks with kubectl: streams that the client opens, data both
 * ways, pings. No limits and no flow control beyond acknowledging the client's bytes: for tests
 * only.
 */
import { EventEmitter } from 'node:events'
import type { Duplex } from 'node:stream'
import { constants, createDeflate, createInflate } from 'node:zlib'

const words =
  'options head post put delete trace accept accept-charset accept-encoding accept-language accept-ranges age allow authorization cache-control connection content-base content-encoding content-language content-length content-location content-md5 content-range content-type date etag expect expires from host if-match if-modified-since if-none-match if-range if-unmodified-since last-modified location max-forwards pragma proxy-authenticate proxy-authorization range referer retry-after server te trailer transfer-encoding upgrade user-agent vary via warning www-authenticate method get status 200_OK version HTTP/1.1 url public set-cookie keep-alive origin'
const tail =
  '100101201202205206300302303304305306307402405406407408409410411412413414415416417502504505203 Non-Authoritative Information204 No Content301 Moved Permanently400 Bad Request401 Unauthorized403 Forbidden404 Not Found500 Internal Server Error501 Not Implemented503 Service UnavailableJan Feb Mar Apr May Jun Jul Aug Sept Oct Nov Dec 00:00:00 Mon, Tue, Wed, Thu, Fri, Sat, Sun, GMTchunked,text/html,image/png,image/jpg,image/gif,application/xml,application/xhtml+xml,text/plain,text/javascript,publicprivatemax-age=gzip,deflate,sdchcharset=utf-8charset=iso-8859-1,utf-,*,enq=0.'

/** What both sides' header compression starts from: words with their lengths, then text. */
const dictionary = Buffer.concat([
  ...words.split(' ').flatMap((word) => [uint32(word.length), Buffer.from(word.replace('_', ' '))]),
  Buffer.from(tail),
])

function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32BE(value >>> 0)
  return bytes
}

/** Control frames by their type. */
const frame = { synStream: 1, synReply: 2, rstStream: 3, ping: 6, goAway: 7, windowUpdate: 9 }
const fin = 1

export class SpdyStream extends EventEmitter<{ data: [Buffer]; end: [] }> {
  readonly id: number
  readonly headers: Readonly<Record<string, string>>
  readonly #send: (flags: number, bytes: Buffer) => void
  #early: Buffer[] | undefined = []
  ended = false

  constructor(
    id: number,
    headers: Record<string, string>,
    send: (flags: number, bytes: Buffer) => void,
  ) {
    super()
    this.id = id
    this.headers = headers
    this.#send = send
  }

  write(bytes: Buffer | string): void {
    this.#send(0, Buffer.from(bytes as string))
  }

  end(): void {
    this.#send(fin, Buffer.alloc(0))
  }

  /** What came before anybody listened is handed over first. */
  listen(data: (bytes: Buffer) => void, end: () => void): void {
    for (const bytes of this.#early ?? []) data(bytes)
    this.#early = undefined
    this.on('data', data)
    if (this.ended) end()
    else this.once('end', end)
  }

  take(bytes: Buffer, last: boolean): void {
    if (bytes.length > 0) {
      if (this.#early !== undefined) this.#early.push(bytes)
      else this.emit('data', bytes)
    }
    if (!last) return
    this.ended = true
    this.emit('end')
  }
}

export class SpdyServer {
  readonly #socket: Duplex
  readonly #streams = new Map<number, SpdyStream>()
  readonly #inflate = createInflate({ dictionary })
  readonly #deflate = createDeflate({ dictionary })
  readonly #opened: (stream: SpdyStream) => void
  #pending = Buffer.alloc(0)
  #work = Promise.resolve()

  constructor(socket: Duplex, head: Buffer, opened: (stream: SpdyStream) => void) {
    this.#socket = socket
    this.#opened = opened
    socket.on('data', (bytes: Buffer) => this.#take(bytes))
    if (head.length > 0) this.#take(head)
  }

  close(): void {
    this.#work = this.#work.then(() => void this.#socket.end())
  }

  #take(bytes: Buffer): void {
    this.#pending = Buffer.concat([this.#pending, bytes])
    while (this.#pending.length >= 8) {
      const length = this.#pending.readUInt32BE(4) & 0xffffff
      if (this.#pending.length < 8 + length) return
      const head = this.#pending.subarray(0, 8)
      const body = this.#pending.subarray(8, 8 + length)
      this.#pending = this.#pending.subarray(8 + length)
      this.#work = this.#work.then(() => this.#frame(head, body))
    }
  }

  async #frame(head: Buffer, body: Buffer): Promise<void> {
    const flags = head[4]
    if ((head[0] & 0x80) === 0) {
      const id = head.readUInt32BE(0)
      this.#streams.get(id)?.take(Buffer.from(body), (flags & fin) !== 0)
      if (body.length === 0) return
      for (const one of [0, id])
        this.#control(frame.windowUpdate, Buffer.concat([uint32(one), uint32(body.length)]))
      return
    }
    const type = head.readUInt16BE(2)
    if (type === frame.ping) return this.#control(frame.ping, body)
    if (type === frame.rstStream)
      return void this.#streams.get(body.readUInt32BE(0))?.take(Buffer.alloc(0), true)
    if (type !== frame.synStream) return
    const id = body.readUInt32BE(0) & 0x7fffffff
    const headers = headersIn(await passed(this.#inflate, body.subarray(10)))
    const stream = new SpdyStream(id, headers, (streamFlags, bytes) =>
      this.#data(id, streamFlags, bytes),
    )
    this.#streams.set(id, stream)
    this.#control(
      frame.synReply,
      Buffer.concat([uint32(id), await passed(this.#deflate, uint32(0))]),
    )
    if ((flags & fin) !== 0) stream.take(Buffer.alloc(0), true)
    this.#opened(stream)
  }

  #control(type: number, body: Buffer): void {
    if (!this.#socket.writable) return
    this.#socket.write(Buffer.concat([Buffer.from([0x80, 3, 0, type]), uint32(body.length), body]))
  }

  #data(id: number, flags: number, bytes: Buffer): void {
    if (!this.#socket.writable) return
    this.#socket.write(
      Buffer.concat([uint32(id), uint32(((flags << 24) | bytes.length) >>> 0), bytes]),
    )
  }
}

/** One block through a compressor whose state lives on. */
function passed(
  coder: ReturnType<typeof createDeflate> | ReturnType<typeof createInflate>,
  block: Buffer,
): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const made: Buffer[] = []
    const take = (bytes: Buffer) => void made.push(bytes)
    coder.on('data', take)
    coder.once('error', reject)
    coder.write(block)
    coder.flush(constants.Z_SYNC_FLUSH, () => {
      coder.off('data', take)
      coder.off('error', reject)
      resolve(Buffer.concat(made))
    })
  })
}

function headersIn(block: Buffer): Record<string, string> {
  const headers: Record<string, string> = {}
  let at = 4
  const text = () => {
    const length = block.readUInt32BE(at)
    at += 4 + length
    return block.toString('utf8', at - length, at)
  }
  for (let count = block.readUInt32BE(0); count > 0; count--) {
    const name = text()
    headers[name] = text()
  }
  return headers
}
