/**
 * The same request to a real server and to this one, and whether their answers are the same: what the replayer hides of
 * recorded answers is hidden here too. The replayer's own comparison is used, from where it is.
 */
import { dirname, join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { parseArgs } from 'node:util'

export interface Step {
  readonly method: string
  readonly path: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: unknown
}
export interface Seen {
  readonly status: number
  readonly body: unknown
  readonly warning?: string
}
export interface Difference {
  readonly path: string
  readonly want: unknown
  readonly got: unknown
}

interface Answer {
  readonly status: number
  readonly text: string
}
interface Client {
  request(step: Step): Promise<Answer>
}
interface Replayer {
  readonly Client: new (options: { server: string; tokens: Record<string, string> }) => Client
  observe(answer: Answer, id: string): Seen
  firstDiff(want: unknown, got: unknown): Difference | undefined
}

export interface Settings {
  readonly seed: number
  readonly count: number
  readonly only: RegExp | undefined
  readonly keepGoing: boolean
  readonly servers: TwoServers
}

export async function settingsOf(args: readonly string[]): Promise<Settings> {
  const root = resolve(import.meta.dirname, '..')
  const replay = process.env.BINNACLE_REPLAY ?? join(root, '../shared/replay/replay.mjs')
  const { values } = parseArgs({
    args: [...args],
    options: {
      peer: { type: 'string' },
      ours: { type: 'string' },
      seed: { type: 'string', default: '1' },
      count: { type: 'string', default: '100' },
      only: { type: 'string' },
      'keep-going': { type: 'boolean', default: false },
      lib: { type: 'string', default: join(dirname(replay), 'lib.mjs') },
    },
  })
  if (values.peer === undefined || values.ours === undefined) {
    throw new Error('say --peer URL (the real server) and --ours URL (this one)')
  }
  const lib = (await import(pathToFileURL(values.lib).href)) as Replayer
  return {
    seed: Number(values.seed),
    count: Number(values.count),
    only: values.only === undefined ? undefined : new RegExp(values.only),
    keepGoing: values['keep-going'],
    servers: new TwoServers(lib, values.peer, values.ours),
  }
}

export class TwoServers {
  readonly #lib: Replayer
  readonly #peer: Client
  readonly #ours: Client

  constructor(lib: Replayer, peer: string, ours: string) {
    const tokens = { admin: 'admin-token' }
    this.#lib = lib
    this.#peer = new lib.Client({ server: peer, tokens })
    this.#ours = new lib.Client({ server: ours, tokens })
  }

  /** Asks both, and tells the first difference. `id` is the part of names that is this run's own. */
  async ask(step: Step, id: string): Promise<{ want: Seen; difference: Difference | undefined }> {
    const [peer, ours] = await Promise.all([this.#peer.request(step), this.#ours.request(step)])
    const want = this.#lib.observe(peer, id)
    const got = this.#lib.observe(ours, id)
    const difference = this.#lib.firstDiff(withoutChance(want), withoutChance(got))
    return { want, difference }
  }

  /** A namespace of the run's own, with the account that pods need. */
  async makeNamespace(id: string): Promise<void> {
    const one = (kind: string, name: string) => ({ apiVersion: 'v1', kind, metadata: { name } })
    for (const client of [this.#peer, this.#ours]) {
      await client.request({
        method: 'POST',
        path: '/api/v1/namespaces',
        body: one('Namespace', id),
      })
      const path = `/api/v1/namespaces/${id}/serviceaccounts`
      await client.request({ method: 'POST', path, body: one('ServiceAccount', 'default') })
    }
  }

  async deleteNamespace(id: string): Promise<void> {
    for (const client of [this.#peer, this.#ours]) {
      await client.request({ method: 'DELETE', path: `/api/v1/namespaces/${id}` })
    }
  }
}

/** A whole object or template shown in a message: versions, and places in memory, are of the server that shows it. */
const shownWhole = /(Invalid value: )("\{|core\.PodTemplateSpec\{)[\s\S]*$/
const shownWholeInText = /("\{|core\.PodTemplateSpec\{)[\s\S]*$/
const addressGiven = /10\.0\.\d+\.\d+(?="[:}])/g

/**
 * What the original leaves to chance: the order of errors where it walks through maps, and what two servers never have in
 * common and a message shows.
 */
function withoutChance(seen: Seen): Seen {
  const { kind, message } = (seen.body ?? {}) as { kind?: string; message?: string }
  if (kind !== 'Status' || typeof message !== 'string') return seen
  const body = JSON.parse(JSON.stringify(seen.body).replace(/0x[0-9a-f]{6,}/g, '0x<address>'))
  const parts = message.replace(shownWholeInText, '<whole>').replace(addressGiven, '<ip>')
  body.message = parts
    .replace(/0x[0-9a-f]{6,}/g, '0x<address>')
    .split(/errors:|, |\[|\]|\n/)
    .sort()
    .join(' | ')
  for (const cause of body.details?.causes ?? []) {
    cause.message = cause.message.replace(shownWhole, '$1<whole>').replace(addressGiven, '<ip>')
  }
  return { ...seen, body }
}

export const showDifference = ({ path, want, got }: Difference): string =>
  `at ${path || 'the top'}\n    peer ${shown(want)}\n    ours ${shown(got)}`

const shown = (value: unknown): string => (JSON.stringify(value) ?? 'nothing').slice(0, 600)
