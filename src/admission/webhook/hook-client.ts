/**
 * Calls webhooks over keep-alive connections, with one connection pool for each CA and credential.
 * A call ends at the webhook's timeout. Errors have kube-apiserver's messages.
 */
import { type CallAnswer, type CallError, type Caller, caller } from '#access/https-call.ts'
import type { KubeconfigUsers } from '#access/kubeconfig.ts'
import type { Loose } from '#api/object-meta.ts'
import { loadLater } from '#base/load-later.ts'
import { nestingDepthMax, parseJson, storedDepthMax } from '#codec/json.ts'
import { scanJson } from '#codec/json-scan.ts'
import type { ObjectReader } from '#kinds/reader.ts'
import { type Address, addressOf, isOwn, type Loopback, posted } from './address.ts'
import { userFor } from './credentials.ts'
import { callProblem, statusProblem } from './call-problem.ts'
import type { Hook } from './hook.ts'

const loadYaml = loadLater<typeof import('#codec/yaml.ts')>(import.meta.url, '#codec/yaml')

/** Limit of retries for responses with Retry-After, as in Go's client. */
const retriesMax = 10
/** Limit of webhooks whose connections are kept open. The oldest is closed first. */
const callersDefault = 200
/** Limit of a webhook's response. A patch of every field of the largest object fits. */
const patchBytesMax = 16 << 20

/** The properties of a webhook that a call needs. */
type Called = Pick<Hook, 'client' | 'timeoutMs'>

/** The parsed AdmissionReview of a response, and its JSON. */
export interface Answered {
  readonly review: Loose
  readonly json: string
}

export class HookClient {
  readonly #users: KubeconfigUsers
  readonly #loopback: Loopback
  readonly #answerBytesMax: number
  readonly #callersMax: number
  readonly #callers = new Map<string, Caller>()
  #ownCaller: Caller | undefined

  constructor(
    users: KubeconfigUsers,
    loopback: Loopback,
    answerBytesMax = patchBytesMax,
    callersMax = callersDefault,
  ) {
    this.#users = users
    this.#loopback = loopback
    this.#answerBytesMax = answerBytesMax
    this.#callersMax = callersMax
  }

  /**
   * Sends the review and returns the response. Throws an Error with the reason if the call fails.
   */
  async post(hook: Called, body: string, reader: ObjectReader): Promise<Answered> {
    const deadlineMs = performance.now() + hook.timeoutMs
    const address = await addressOf(hook.client, hook.timeoutMs, reader, this.#loopback)
    const identity = isOwn(address) ? this.#loopback : userFor(this.#users, address.host)?.()
    const call = this.#callerFor(hook, address)
    const headers = {
      'content-type': 'application/json',
      accept: 'application/json, */*',
      'accept-encoding': 'gzip',
      'user-agent': isOwn(address) ? 'Go-http-client/1.1' : 'kube-apiserver-admission',
      ...(address.serverName !== undefined && { host: address.host }),
    }
    const send = () =>
      call({
        method: 'POST',
        url: address.url,
        headers,
        identity,
        body,
        timeoutMs: Math.max(1, Math.ceil(deadlineMs - performance.now())),
        answerBytesMax: this.#answerBytesMax,
      })
    let answer = await sent(send, address)
    for (let tries = 0; tries < retriesMax; tries++) {
      const waitMs = retryAfterMsOf(answer)
      if (waitMs === undefined) break
      if (performance.now() + waitMs > deadlineMs) {
        await new Promise((resolve) => setTimeout(resolve, deadlineMs - performance.now()))
        throw new Error(posted(address, 'context deadline exceeded'))
      }
      await new Promise((resolve) => setTimeout(resolve, waitMs))
      answer = await sent(send, address)
    }
    if (answer.status < 200 || answer.status > 299) throw new Error(statusProblem(answer))
    return answeredIn(answer)
  }

  #callerFor({ client }: Called, address: Address): Caller {
    if (isOwn(address)) return (this.#ownCaller ??= ownCaller(this.#loopback))
    const { serverName } = address
    const key = JSON.stringify([client.caBundle, serverName])
    let found = this.#callers.get(key)
    if (found === undefined) {
      requireAuthorities(client.caBundle)
      found = caller({
        ...(client.caBundle && { ca: Buffer.from(client.caBundle, 'base64').toString('utf8') }),
        ...(serverName !== undefined && { serverName }),
      })
      if (this.#callers.size >= this.#callersMax)
        this.#callers.delete(this.#callers.keys().next().value as string)
      this.#callers.set(key, found)
    }
    return found
  }
}

const ownCaller = ({ serverName, cert }: Loopback): Caller => caller({ ca: cert, serverName })

async function sent(send: () => Promise<CallAnswer>, address: Address): Promise<CallAnswer> {
  return send()
    .catch((error: CallError) => {
      // The server closed a keep-alive connection before it received the call, so retry once on a
      // new connection. A webhook that received the call is not called twice.
      const wasClosed = error.code === 'ECONNRESET' || error.code === 'EPIPE'
      if (wasClosed && error.reused && !error.answered) return send()
      throw error
    })
    .catch((error: CallError) => {
      throw new Error(callProblem(error, address))
    })
}

/** The Retry-After of a busy server, in whole seconds. */
function retryAfterMsOf({ status, headers }: CallAnswer): number | undefined {
  if (status !== 429 && status < 500) return undefined
  const after = headers['retry-after'] ?? ''
  return /^[0-9]+$/.test(after) ? Number(after) * 1000 : undefined
}

/** kube-apiserver reports this error before it makes any call. */
export class NoClient extends Error {}

function requireAuthorities(caBundle: string | undefined): void {
  if (!caBundle) return
  const text = Buffer.from(caBundle, 'base64').toString('latin1')
  if (/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/.test(text)) return
  throw new NoClient('unable to load root certificates: unable to parse bytes as PEM block')
}

/**
 * A number with this many digits may lose precision in JSON.parse. Few responses have such numbers;
 * the others use the faster parser.
 */
const longNumber = /[0-9]{16}/

/**
 * Parses a response body as Go does: a body that is not JSON is parsed as YAML, and is then usually
 * a string.
 */
export function answeredIn({ status, headers, body }: CallAnswer): Answered {
  if (body === '') {
    const type = headers['content-type'] ?? 'application/json'
    throw new Error(`0-length response with status code: ${status} and content type: ${type}`)
  }
  let value: unknown = ''
  let json = body
  try {
    value = longNumber.test(body) ? parseJson(body, storedDepthMax) : JSON.parse(body)
  } catch {
    const fault = body.trimStart().startsWith('{') ? scanJson(body, nestingDepthMax).fault : ''
    if (fault) throw new Error(`couldn't get version/kind; json parse error: ${fault}`)
    value = orText(() => loadYaml().parseYaml(body))
    json = JSON.stringify(value)
  }
  if (value === null) return { review: {}, json: '{}' }
  if (typeof value === 'object' && !Array.isArray(value)) return { review: value, json }
  const found = Array.isArray(value) ? 'array' : typeof value === 'boolean' ? 'bool' : typeof value
  throw new Error(
    `couldn't get version/kind; json parse error: json: cannot unmarshal ${found} into Go value of type struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }`,
  )
}

function orText(parse: () => unknown): unknown {
  try {
    return parse()
  } catch {
    return ''
  }
}
