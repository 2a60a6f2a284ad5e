/**
 * The same request to a real server and to this one; every word and its place are compared.
 * kube-apiserver iterates over maps in random order, and sometimes ends at the first problem. If
 * its words differ the request is repeated, and they count only if they stay the same. The order of
 * a custom kind's fields is random for all its life: there only the order of the problems of one
 * field counts. Places in memory are hidden.
 */
import type { ComparedResponse } from './compared-response.ts'
import type { Client, Difference, Replayer, Step } from './two-servers.ts'

/** Two problems in an order of chance stay in that order by chance seldom enough after so many. */
const timesAskedAgain = 40
const tokens = { admin: 'admin-token' }

export class ExactServers {
  readonly #lib: Replayer
  readonly #peer: Client
  readonly #ours: Client

  constructor(lib: Replayer, peer: string, ours: string) {
    this.#lib = lib
    this.#peer = new lib.Client({ server: peer, tokens })
    this.#ours = new lib.Client({ server: ours, tokens })
  }

  async ask(step: Step): Promise<{ want: ComparedResponse; difference?: Difference }> {
    const [want, got] = await Promise.all([
      this.#seen(this.#peer, step),
      this.#seen(this.#ours, step),
    ])
    // There is nothing to learn from a panic.
    if (want.status === 0) return { want }
    const difference = this.#lib.firstDiff(want, got)
    if (difference === undefined) return { want }
    const repeatable = want.status >= 400 || step.method === 'GET'
    if (!repeatable || want.status !== got.status) return { want, difference }
    for (let i = 0; i < timesAskedAgain; i++) {
      const again = await this.#seen(this.#peer, step)
      if (this.#lib.firstDiff(want, again) !== undefined) return { want }
    }
    if (isOfCustomKind(step) && this.#lib.firstDiff(byField(want), byField(got)) === undefined) {
      return { want }
    }
    return { want, difference }
  }

  async #seen(client: Client, step: Step): Promise<ComparedResponse> {
    const answer = await client.request(step).catch((error: NodeJS.ErrnoException) => {
      // kube-apiserver panics at some requests, and closes the connection.
      if (error.code !== 'ECONNRESET') throw error
      return { status: 0, headers: {}, text: '' }
    })
    const seen = this.#lib.observe(answer, '{id}')
    const text = JSON.stringify(seen, (_key, value) =>
      typeof value === 'string' ? withoutWholes(value) : value,
    )
    return JSON.parse(text) as ComparedResponse
  }
}

/** Places in memory, and whole objects with their versions, are of the server that shows them. */
const withoutWholes = (text: string): string =>
  text
    .replace(/0x[0-9a-f]{6,}/g, '0x<address>')
    .replace(/(Invalid value: "\{\\").*$/s, '$1<whole object>')

const isOfCustomKind = ({ path }: Step): boolean => !path.startsWith('/apis/apiextensions.k8s.io/')

/** The problems of a field in their order, the fields in the order of their names. */
const byField = (seen: ComparedResponse): ComparedResponse =>
  withMessage(seen, (message) => {
    const [head, rest] = message.split(/(?<= is invalid: )\[|\n/, 2)
    const parts = (rest ?? '')
      .replace(/\]$/, '')
      .split(/, (?=(?:spec|status|metadata|other|<nil>)[^ ]*: )|\n/)
    const field = (part: string) => part.split(': ')[0] as string
    return [
      head as string,
      ...parts.sort((a, b) => (field(a) < field(b) ? -1 : field(a) > field(b) ? 1 : 0)),
    ]
  })

function withMessage(
  seen: ComparedResponse,
  change: (message: string) => string[],
): ComparedResponse {
  const { message } = (seen.body ?? {}) as { message?: string }
  if (typeof message !== 'string') return seen
  return { ...seen, body: { ...(seen.body as object), message: change(message).join(' | ') } }
}
