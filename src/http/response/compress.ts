/**
 * Compresses responses with gzip. Node's zlib is loaded with the first request that accepts it. It
 * costs a fiftieth of the start and five megabytes, and most servers on a loopback address never
 * use it.
 */
import type { Transform } from 'node:stream'
import type { Exchange, Sink } from '#http/exchange.ts'
import { headerText } from '#access/authenticate/header-values.ts'

const zlib = () => process.getBuiltinModule('node:zlib')
/** As in kube-apiserver since 1.26: fast rather than small. */
const level = 1

/** Like kube-apiserver, this ignores quality values, even 0. */
export const acceptsGzip = ({ wire }: Exchange): boolean =>
  /(^|,)\s*gzip\s*(,|$)/.test(headerText(wire.headers['accept-encoding']))

export function gzipped(bytes: Buffer): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    zlib().gzip(bytes, { level }, (error, packed) =>
      error === null ? resolve(packed) : reject(error),
    )
  })
}

export const gzipStream = (): Transform => zlib().createGzip({ level })

/** An empty last block of deflate. */
const lastBlock = Buffer.from([0x01, 0x00, 0x00, 0xff, 0xff])

/**
 * A gzip member that a client can read before the next member arrives. Go's gzip reader withholds
 * the data that it reads together with the end of a member, so a flush separates the two.
 */
export function gzipMember(bytes: Buffer): Buffer {
  const { gzipSync, crc32, constants } = zlib()
  const packed = gzipSync(bytes, { level, finishFlush: constants.Z_SYNC_FLUSH })
  const trailer = Buffer.alloc(8)
  trailer.writeUInt32LE(crc32(bytes), 0)
  trailer.writeUInt32LE(bytes.length % 2 ** 32, 4)
  return Buffer.concat([packed, lastBlock, trailer])
}

/**
 * A stream that compresses each write as a separate gzip member, so an idle stream needs no zlib
 * state.
 */
export function gzipSink(sink: Sink): Sink {
  return {
    write: (bytes) => sink.write(gzipMember(bytes)),
    writeAll: (pieces) => sink.write(gzipMember(Buffer.concat(pieces))),
    drained: () => sink.drained(),
    end: () => sink.end(),
    ...(sink.abort !== undefined && { abort: () => sink.abort?.() }),
    onClose: (listener) => sink.onClose?.(listener),
    get closed() {
      return sink.closed
    },
  }
}
