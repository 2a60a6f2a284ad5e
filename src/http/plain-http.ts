/**
 * The answer to a client that speaks plain HTTP on the port of TLS, as `curl http://…:6443` does.
 * The first line of the text is Go's, which kube-apiserver sends; the second says what to do.
 */
import type { Socket } from 'node:net'
import type { TLSSocket } from 'node:tls'

const text = `Client sent an HTTP request to an HTTPS server.
This server speaks only TLS: use https:// and the certificate authority in its kubeconfig.
`
const answer = `HTTP/1.0 400 Bad Request\r
Content-Type: text/plain; charset=utf-8\r
Content-Length: ${text.length}\r
Connection: close\r
\r
${text}`

/**
 * Sends the answer and ends the connection, where the handshake failed because the client spoke
 * HTTP.
 */
export function refusedPlainHttp(error: NodeJS.ErrnoException, socket: TLSSocket): boolean {
  if (error.code !== 'ERR_SSL_HTTP_REQUEST') return false
  // Node has no public way to the connection below. Without it the connection ends without an
  // answer, as it did before.
  const { _parent: connection } = socket as TLSSocket & { _parent?: Socket }
  if (connection === undefined) return false
  connection.on('error', () => {})
  connection.end(answer, () => socket.destroy())
  return true
}
