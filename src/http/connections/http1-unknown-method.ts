/**
 * An HTTP/1.1 request with a method that Node's parser does not know. The API returns 405 for it.
 * The head is parsed from the parser's remaining bytes. The body is not read, and the connection
 * closes after the response. For an invalid or incomplete head the parser's error is returned.
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { http } from '#base/node-http.ts'

/** The details of the parser's error. */
export interface ParserError extends Error {
  readonly code?: string
  /**
   * The bytes that the parser was reading. They begin with the request, unless other bytes arrived
   * directly before it.
   */
  readonly rawPacket?: Buffer
}

const token = "[!#$%&'*+.^_`|~0-9A-Za-z-]+"
const startLine = new RegExp(`^(${token}) ([!-~]+) HTTP/1\\.1\\r\\n`)
const headerLine = new RegExp(`^(${token}):([\\t -~\\x80-\\xff]*)$`)
/** The lookbehind finds trailing blanks in one pass. */
const blanksAround = /^[ \t]+|(?<![ \t])[ \t]+$/g

export function unknownMethodRequest(
  { code, rawPacket }: ParserError,
  socket: Socket,
): { request: IncomingMessage; response: ServerResponse } | undefined {
  if (code !== 'HPE_INVALID_METHOD' || rawPacket === undefined) return undefined
  const text = rawPacket.toString('latin1')
  const [start, method, url] = startLine.exec(text) ?? []
  const end = text.indexOf('\r\n\r\n')
  if (start === undefined || end === -1 || http.METHODS.includes(method as string)) return undefined
  const request = new http.IncomingMessage(socket)
  const headers = new Map<string, string>()
  for (const line of text.slice(start.length, end).split('\r\n')) {
    const [, name, written] = headerLine.exec(line) ?? []
    if (name === undefined || written === undefined) return undefined
    const value = written.replace(blanksAround, '')
    request.rawHeaders.push(name, value)
    const known = headers.get(name.toLowerCase())
    headers.set(name.toLowerCase(), known === undefined ? value : `${known}, ${value}`)
  }
  request.headers = Object.fromEntries(headers)
  request.method = method as string
  request.url = url as string
  request.httpVersion = '1.1'
  request.complete = true
  request.push(null)
  const response = new http.ServerResponse(request)
  response.shouldKeepAlive = false
  response.assignSocket(socket)
  response.once('finish', () => socket.end())
  return { request, response }
}
