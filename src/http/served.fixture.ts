/**
 * The HTTP layer over a server in memory, without sockets. A request is a method, a path, headers
 * and a body; the result is what is written to the wire. Every user is an administrator here; the
 * tests check how requests are read, routed and answered.
 */
import { readFileSync } from 'node:fs'
import { loadFacts } from '#kinds/facts.ts'
import type { Kind } from '#kinds/kind.ts'
import { type Fixture, startVerbs } from '#verbs/fixture.suite.ts'
import type { AnswerHeaders, Headers, Sink, Wire } from './exchange.ts'
import type { HttpParts, PathHandler } from './parts.ts'
import { discoveryPaths } from './paths/discovery.ts'
import { requestServer } from './serve.ts'

export interface Answered {
  readonly status: number
  readonly headers: AnswerHeaders
  readonly body: Buffer
  readonly text: string
  /** The body as JSON. */
  // biome-ignore lint/suspicious/noExplicitAny: a test reads what it expects to be there
  readonly json: any
}

export interface Asked {
  readonly headers?: Headers
  readonly body?: string | Buffer
  /** Aborted when the client disconnects. */
  readonly signal?: AbortSignal
}

export interface Served {
  readonly verbs: Fixture
  readonly parts: HttpParts
  /** Internal errors of the server. */
  readonly defects: string[]
  kind(group: string, version: string, plural: string): Kind
  /** `parts` replace the defaults. */
  ask(method: string, url: string, requested?: Asked, parts?: HttpParts): Promise<Answered>
  stop(): Promise<void>
}

const facts = loadFacts((name: string) =>
  readFileSync(new URL(`../../facts/${name}`, import.meta.url), 'utf8'),
)
const administrator = { name: 'admin', uid: '', groups: ['system:masters'], extra: {} }

interface More {
  readonly release?: number
  readonly paths?: readonly PathHandler[]
  readonly limits?: object
  readonly observers?: HttpParts['observers']
}

/** `more`: another release, paths besides discovery, other limits, and observers. */
export async function startServed(more: More = {}): Promise<Served> {
  const verbs = await startVerbs(undefined, undefined, more.release)
  const defects: string[] = []
  const { server } = verbs
  const parts: HttpParts = {
    server,
    authenticate: () => ({ user: administrator }),
    challenge: undefined,
    authorizesSelectors: true,
    authorizer: {
      authorize: () => ({ decision: 'allow', reason: '' }),
      rulesFor: () => ({ resourceRules: [], nonResourceRules: [], incomplete: false }),
    } as unknown as HttpParts['authorizer'],
    paths: [
      ...(more.paths ?? []),
      discoveryPaths({
        catalog: server.catalog,
        release: server.release,
        priorityOf: () => ({ group: 0, version: 0 }),
        serverAddress: '127.0.0.1:6443',
        typeOf: (kind) =>
          facts.typeOf(`io.k8s.apimachinery.pkg.apis.meta.v1.${kind}`, server.release),
      }),
    ],
    limits: {
      requestTimeoutMs: 60_000,
      minRequestTimeoutSeconds: 1800,
      bodyBytesMax: 3 << 20,
      ...more.limits,
    },
    observers: more.observers ?? [],
    report: (message, error) => defects.push(`${message}: ${error}`),
    monotonicMs: () => performance.now(),
    newAuditId: () => 'audit',
    stopping: new AbortController().signal,
  }
  const take = requestServer(parts)
  return {
    verbs,
    parts,
    defects,
    kind(group, version, plural) {
      const kind = server.catalog.find(group, version, plural)
      if (kind === undefined) throw new Error(`there is no ${plural}`)
      return kind
    },
    ask: (method, url, requested = {}, others) =>
      ask(others === undefined ? take : requestServer(others), method, url, requested),
    stop: () => verbs.stop(),
  }
}

function ask(
  take: (wire: Wire) => void,
  method: string,
  url: string,
  requested: Asked,
): Promise<Answered> {
  return new Promise((resolve) => {
    const answer = (status: number, headers: AnswerHeaders, pieces: readonly Buffer[]) => {
      const body = Buffer.concat(pieces)
      resolve({
        status,
        headers,
        body,
        get text() {
          return body.toString('utf8')
        },
        get json() {
          return JSON.parse(body.toString('utf8'))
        },
      })
    }
    const headers: Headers = { accept: 'application/json', ...requested.headers }
    const wire: Wire = {
      method,
      url,
      headers,
      separateHeaders: headers,
      remoteAddress: '127.0.0.1',
      clientCertificate: () => undefined,
      readBody: async () => Buffer.from(requested.body ?? ''),
      answer: (status, stated, body) => answer(status, stated, body === undefined ? [] : [body]),
      answerPieces: answer,
      stream: (status, stated) => collect((pieces) => answer(status, stated, pieces)),
      signal: requested.signal ?? new AbortController().signal,
    }
    take(wire)
  })
}

/** A client that reads all bytes at once. */
function collect(done: (pieces: readonly Buffer[]) => void): Sink {
  const pieces: Buffer[] = []
  let closed = false
  return {
    write: (bytes) => pieces.push(bytes) > 0,
    drained: async () => {},
    end() {
      closed = true
      done(pieces)
    },
    get closed() {
      return closed
    },
  }
}
