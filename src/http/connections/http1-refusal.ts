/**
 * Rejections of HTTP/1.1 requests with the messages of Go's server: plain text, and the connection
 * closes. It checks heads that Node's parser accepted, but not their target.
 */
import type { IncomingMessage, ServerResponse } from 'node:http'

export interface Http1Rejection {
  readonly code: number
  /** The rest of the request line. */
  readonly reason: string
  readonly text: string
}

const refusal = (code: number, reason: string): Http1Rejection => ({
  code,
  reason,
  text: `${code} ${reason}`,
})

export const unreadable = refusal(400, 'Bad Request')
export const headTooLong = refusal(431, 'Request Header Fields Too Large')
const noHost = refusal(400, 'Bad Request: missing required Host header')
const unfitHost = refusal(400, 'Bad Request: malformed Host header')
const otherCoding: Http1Rejection = {
  code: 501,
  reason: 'Not Implemented',
  text: 'Unsupported transfer encoding',
}

/** Host names, addresses, ports, and the other characters that the standard allows in a host. */
const hostText = /^[!$%&'()*+,\-.:;=[\]_~A-Za-z0-9]*$/

/** Undefined if the request can be served. */
export function refusalOf(request: IncomingMessage): Http1Rejection | undefined {
  const { rawHeaders, headers, httpVersion } = request
  const coding = headers['transfer-encoding']
  // With another transfer coding, the encoded body would be taken for the content.
  if (coding !== undefined && coding.toLowerCase() !== 'chunked') return otherCoding
  let hosts = 0
  for (let at = 0; at < rawHeaders.length; at += 2)
    if ((rawHeaders[at] as string).toLowerCase() === 'host') hosts++
  if (hosts === 0) return httpVersion === '1.1' ? noHost : undefined
  if (hosts > 1) return unreadable
  return hostText.test(headers.host ?? '') ? undefined : unfitHost
}

const type = 'text/plain; charset=utf-8'

/** Sent after the responses to earlier requests of the connection. */
export function refuse(response: ServerResponse, { code, reason, text }: Http1Rejection): void {
  response.shouldKeepAlive = false
  response.writeHead(code, reason, { 'content-type': type, 'content-length': text.length })
  response.end(text)
}

/** The complete response, used if the parser produced no request. */
export const refusalText = ({ code, reason, text }: Http1Rejection): string =>
  `HTTP/1.1 ${code} ${reason}\r\nContent-Type: ${type}\r\nConnection: close\r\n\r\n${text}`
