/**
 * The same request to a real server and to this one, every word compared and its place too. The original walks through
 * maps in an order of chance, and sometimes ends at the first problem: where its words differ it is asked again, and they
 * count only when it keeps to them. The order of a custom kind's fields is drawn once for all its life: there only the order of what
 * is said of one field counts. Places in memory are hidden.
 */
import type { Seen } from './seen.ts'
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

  async ask(step: Step): Promise<{ want: Seen; difference?: Difference }> {
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

  async #seen(client: Client, step: Step): Promise<Seen> {
    const answer = await client.request(step).catch((error: NodeJS.ErrnoException) => {
      // The original panics at some requests, and lets go of the connection.
      if (error.code !== 'ECONNRESET') throw error
      return { status: 0, headers: {}, text: '' }
    })
    const seen = this.#lib.observe(answer, '{id}')
    const text = JSON.stringify(seen, (_key, value) =>
      typeof value === 'string' ? withoutWholes(value) : value,
    )
    return JSON.parse(text) as Seen
  }
}

/** Places in memory, and whole objects with their versions, are of the server that shows them. */
const withoutWholes = (text: string): string =>
  text
    .replace(/0x[0-9a-f]{6,}/g, '0x<address>')
    .replace(/(Invalid value: "\{\\").*$/s, '$1<whole object>')

const isOfCustomKind = ({ path }: Step): boolean => !path.startsWith('/apis/apiextensions.k8s.io/')

/** What is said of a field in the order in which it is said, the fields in the order of their names. */
const byField = (seen: Seen): Seen =>
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

function withMessage(seen: Seen, change: (message: string) => string[]): Seen {
  const { message } = (seen.body ?? {}) as { message?: string }
  if (typeof message !== 'string') return seen
  return { ...seen, body: { ...(seen.body as object), message: change(message).join(' | ') } }
}
