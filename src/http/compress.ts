/**
 * Answers made smaller. Node's zlib is loaded with the first request for it: loading it takes a
 * fiftieth of a start and five megabytes, and most servers on a loopback address never need it.
 */
import type { Transform } from 'node:stream'
import type { Exchange } from './exchange.ts'
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
