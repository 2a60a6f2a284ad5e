/**
 * Answers a client that sends plain HTTP to the TLS port, as `curl http://…:6443` does. The first
 * line is that of Go and kube-apiserver; the second line says what to do.
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
 * If the handshake failed because the client sent HTTP, sends the response and closes the
 * connection.
 */
export function refusedPlainHttp(error: NodeJS.ErrnoException, socket: TLSSocket): boolean {
  if (error.code !== 'ERR_SSL_HTTP_REQUEST') return false
  // Node has no public API for the socket below TLS. Without it, the connection closes without a
  // response.
  const { _parent: connection } = socket as TLSSocket & { _parent?: Socket }
  if (connection === undefined) return false
  connection.on('error', () => {})
  connection.end(answer, () => socket.destroy())
  return true
}
