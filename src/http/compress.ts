/**
 * Answers made smaller. Node's zlib is loaded with the first request for it: loading it takes a
 * fiftieth of a start and five megabytes, and most servers on a loopback address never need it.
 */
import type { Transform } from 'node:stream'
import type { Exchange, Sink } from './exchange.ts'
import { headerText } from '#access/authenticate/header-values.ts'

const zlib = () => process.getBuiltinModule('node:zlib')
/** As kube-apiserver since 1.26: fast rather than small. */
const level = 1

/**
 * As kube-apiserver reads it: the word alone counts, without its weight, although a weight of 0
 * would mean that it is not wanted.
 */
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

/**
 * A stream whose every write is a gzip member of its own, so that the client can read each at once.
 * An idle stream holds no state of zlib.
 */
export function gzipSink(sink: Sink): Sink {
  const packed = (bytes: Buffer) => zlib().gzipSync(bytes, { level })
  return {
    write: (bytes) => sink.write(packed(bytes)),
    writeAll: (pieces) => sink.write(packed(Buffer.concat(pieces))),
    drained: () => sink.drained(),
    end: () => sink.end(),
    ...(sink.abort !== undefined && { abort: () => sink.abort?.() }),
    onClose: (listener) => sink.onClose?.(listener),
    get closed() {
      return sink.closed
    },
  }
}
