/**
 * Webhooks on loopback for tests: HTTPS with a generated certificate, and configured responses for
 * each path.
 */
import { createServer, type Server } from 'node:https'
import type { AddressInfo } from 'node:net'
import { authority, type Made, make, serverUsage } from '#access/certificates.suite.ts'
import type { Loose } from '#api/object-meta.ts'
import type { Loopback } from './address.ts'

/** A loopback address for tests without a server. */
export const ownPlace: Loopback = { url: 'https://127.0.0.1:1', serverName: '', cert: '', key: '' }

/** Maps a review to its response, to the text of a complete response, or to none ever. */
export type Respond = (request: Loose) => Loose | string | 'never'

export interface Received {
  readonly path: string
  readonly headers: Loose
  readonly review: Loose
}

export class WebhookServer {
  readonly received: Received[] = []
  readonly paths = new Map<string, Respond>()
  /** Paths that redirect to another one. */
  readonly redirects = new Map<string, { readonly status: number; readonly location: string }>()
  readonly ca: Made
  readonly #server: Server
  connections = 0
  /** Decides when a response is sent, if it is not sent at once. */
  onRequest: ((go: () => void) => void) | undefined

  constructor(ca: Made, serving: Made) {
    this.ca = ca
    this.#server = createServer(
      {
        cert: serving.pem,
        key: serving.keyPem,
        ca: ca.pem,
        requestCert: true,
        rejectUnauthorized: false,
      },
      (request, response) => {
        let body = ''
        request.on('data', (chunk) => {
          body += chunk
        })
        request.on('end', () => {
          const path = (request.url ?? '').split('?')[0] as string
          const review = JSON.parse(body)
          this.received.push({ path, headers: request.headers, review })
          const sent = this.redirects.get(path)
          if (sent !== undefined) {
            return response.writeHead(sent.status, { location: sent.location }).end()
          }
          const answer = this.paths.get(path)?.(review.request) ?? { allowed: true }
          if (answer === 'never') return
          if (typeof answer === 'string') return response.end(answer)
          const { apiVersion } = review
          const stated = { uid: review.request.uid, ...answer }
          response.setHeader('content-type', 'application/json')
          const text = JSON.stringify({ kind: 'AdmissionReview', apiVersion, response: stated })
          const go = () => void response.end(text)
          if (this.onRequest === undefined) go()
          else this.onRequest(go)
        })
      },
    )
    this.#server.on('secureConnection', () => this.connections++)
  }

  static async start(): Promise<WebhookServer> {
    const ca = await authority('webhook authority')
    const hosts = ['localhost', '127.0.0.1', 'hook.ns.svc']
    const serving = await make({
      subject: [{ CN: ['hook'] }],
      issuer: ca,
      usages: [serverUsage],
      hosts,
    })
    const started = new WebhookServer(ca, serving)
    await new Promise<void>((resolve) => started.#server.listen(0, '127.0.0.1', resolve))
    return started
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port
  }

  /** `clientConfig` for one of the paths. */
  at(path: string): Loose {
    return { url: `https://127.0.0.1:${this.port}${path}`, caBundle: this.caBundle }
  }

  get caBundle(): string {
    return Buffer.from(this.ca.pem).toString('base64')
  }

  stop(): void {
    this.#server.closeAllConnections()
    this.#server.close()
  }
}
