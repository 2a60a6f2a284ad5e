/**
 * Calls webhooks: over connections that stay open, each for its own authorities and credentials, within the time the
 * webhook has and no longer. Failures are told in the words of the original.
 */
import { type CallAnswer, type Caller, caller } from '#access/https-call.ts'
import type { KubeconfigUsers } from '#access/kubeconfig.ts'
import type { Loose } from '#api/object-meta.ts'
import { nestingDepthMax } from '#codec/json.ts'
import { scanJson } from '#codec/json-scan.ts'
import type { ObjectReader } from '#kinds/reader.ts'
import { type Address, addressOf } from './address.ts'
import { userFor } from './credentials.ts'
import { callProblem, statusProblem } from './call-problem.ts'
import type { Hook } from './hook.ts'

/** As many different webhooks keep their connections; the one made first goes first. */
const callersMax = 200
/** More than the largest object with every field of it patched. */
const patchBytesMax = 16 << 20

/** What of a webhook its call needs. */
type Called = Pick<Hook, 'client' | 'timeoutMs'>

export class HookClient {
  readonly #users: KubeconfigUsers
  readonly #answerBytesMax: number
  readonly #callers = new Map<string, Caller>()

  constructor(users: KubeconfigUsers, answerBytesMax = patchBytesMax) {
    this.#users = users
    this.#answerBytesMax = answerBytesMax
  }

  /** The answered review. Throws an Error that says why there is none. */
  async post(hook: Called, body: string, reader: ObjectReader): Promise<Loose> {
    const answerBytesMax = this.#answerBytesMax
    const began = performance.now()
    const address = await addressOf(hook.client, hook.timeoutMs, reader)
    const user = userFor(this.#users, address.host)
    const call = this.#callerFor(hook, address, user)
    const headers = {
      'content-type': 'application/json',
      accept: 'application/json, */*',
      'user-agent': 'kube-apiserver-admission',
      ...(address.serverName !== undefined && { host: address.host }),
      ...(user?.authorization !== undefined && { authorization: user.authorization }),
    }
    const send = () => {
      const timeoutMs = Math.max(1, Math.ceil(hook.timeoutMs - (performance.now() - began)))
      return call({ method: 'POST', url: address.url, headers, body, timeoutMs, answerBytesMax })
    }
    let answer: CallAnswer
    try {
      answer = await send().catch((error: Error & { code?: string }) => {
        // A kept connection that the other side had closed: a fresh one may do.
        if (error.code === 'ECONNRESET' || error.code === 'EPIPE') return send()
        throw error
      })
    } catch (error) {
      throw new Error(callProblem(error as Error & { code?: string }, address, hook.timeoutMs))
    }
    if (answer.status < 200 || answer.status > 299) throw new Error(statusProblem(answer))
    return reviewIn(answer)
  }

  #callerFor(
    { client }: Called,
    { serverName }: Address,
    user: ReturnType<typeof userFor>,
  ): Caller {
    const key = JSON.stringify([client.caBundle, serverName, user?.cert])
    let found = this.#callers.get(key)
    if (found === undefined) {
      found = caller({
        ...(client.caBundle && { ca: Buffer.from(client.caBundle, 'base64').toString('utf8') }),
        ...(serverName !== undefined && { serverName }),
        ...(user?.cert !== undefined && { cert: user.cert }),
        ...(user?.key !== undefined && { key: user.key }),
      })
      if (this.#callers.size >= callersMax)
        this.#callers.delete(this.#callers.keys().next().value as string)
      this.#callers.set(key, found)
    }
    return found
  }
}

/** What Go says of a body that is no object: text that is no JSON is, as YAML, a string. */
export function reviewIn({ status, headers, body }: CallAnswer): Loose {
  if (body === '') {
    const type = headers['content-type'] ?? ''
    throw new Error(`0-length response with status code: ${status} and content type: ${type}`)
  }
  let value: unknown = ''
  try {
    value = JSON.parse(body)
  } catch {
    const fault = body.trimStart().startsWith('{') ? scanJson(body, nestingDepthMax).fault : ''
    if (fault) throw new Error(`couldn't get version/kind; json parse error: ${fault}`)
  }
  if (value === null) return {}
  if (typeof value === 'object' && !Array.isArray(value)) return value
  const found = Array.isArray(value) ? 'array' : typeof value === 'boolean' ? 'bool' : typeof value
  throw new Error(
    `couldn't get version/kind; json parse error: json: cannot unmarshal ${found} into Go value of type struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }`,
  )
}
