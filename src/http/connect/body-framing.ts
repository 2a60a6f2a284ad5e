/**
 * The framing of the request body to a backend. It is set here and nowhere else. If it were missing
 * or wrong, the rest of a client's body would be the next request on a connection that
 * authenticates this server.
 */
import type http from 'node:http'
import { type Readable, Transform } from 'node:stream'
import type { PassedHeaders } from './passed-headers.ts'

export type PassedBody = Buffer | Readable | undefined

const takesBody = new Set(['POST', 'PUT', 'PATCH'])

/**
 * Keeps and enforces the client's Content-Length of a stream if it is a number. Other streams use
 * chunked encoding.
 */
export function framedHeaders(
  method: string,
  headers: PassedHeaders,
  body: PassedBody,
): PassedHeaders {
  const { 'content-length': stated, 'transfer-encoding': _, ...others } = headers
  if (body === undefined)
    return takesBody.has(method) ? { ...others, 'content-length': '0' } : others
  if (Buffer.isBuffer(body)) return { ...others, 'content-length': String(body.length) }
  if (typeof stated === 'string' && /^\d{1,15}$/.test(stated))
    return { ...others, 'content-length': stated }
  return { ...others, 'transfer-encoding': 'chunked' }
}

export function sendBody(outgoing: http.ClientRequest, body: PassedBody): void {
  if (body === undefined || Buffer.isBuffer(body)) return void outgoing.end(body)
  const stated = outgoing.getHeader('content-length')
  if (stated === undefined) return void body.pipe(outgoing)
  const exact = exactly(Number(stated))
  exact.on('error', (error) => outgoing.destroy(error))
  body.pipe(exact).pipe(outgoing)
}

/**
 * Passes exactly `bytes` bytes on. Fewer or more bytes are an error, and no excess byte is passed
 * on.
 */
function exactly(bytes: number): Transform {
  let seen = 0
  const problem = () => new Error(`http: ContentLength=${bytes} with Body length ${seen}`)
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      seen += chunk.length
      if (seen > bytes) done(problem())
      else done(null, chunk)
    },
    flush: (done) => done(seen === bytes ? null : problem()),
  })
}
