/**
 * The same request to a real server and to this one, and whether their answers are the same: what
 * the replayer hides of recorded answers is hidden here too. The replayer's own comparison is used,
 * from where it is.
 */
import { dirname, join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { parseArgs } from 'node:util'
import { withoutChance, withoutWholes } from './without-chance.ts'
import type { ComparedResponse } from './compared-response.ts'

export interface Step {
  readonly method: string
  readonly path: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: unknown
}

export interface Difference {
  readonly path: string
  readonly want: unknown
  readonly got: unknown
}

interface Answer {
  readonly status: number
  readonly text: string
  readonly headers: Readonly<Record<string, string | undefined>>
}
export interface Client {
  request(step: Step): Promise<Answer>
}
/** What of the replayer is used. */
export interface Replayer {
  readonly Client: new (options: { server: string; tokens: Record<string, string> }) => Client
  observe(answer: Answer, id: string): ComparedResponse
  firstDiff(want: unknown, got: unknown): Difference | undefined
}

export interface Settings {
  readonly seed: number
  readonly count: number
  readonly only: RegExp | undefined
  readonly keepGoing: boolean
  readonly servers: TwoServers
  /** The options that only one fuzzer has. */
  readonly more: Readonly<Record<string, string | boolean | undefined>>
}

type Options = Record<string, { type: 'string' | 'boolean'; default?: string | boolean }>

export async function settingsOf(args: readonly string[], more: Options = {}): Promise<Settings> {
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
      ...more,
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
    more: values,
  }
}

/** Headers that mean something to a client, beside those that the replayer compares. */
const headersOfWeight = [
  'allow',
  'cache-control',
  'content-encoding',
  'location',
  'www-authenticate',
  'x-content-type-options',
]

/** How often a request is repeated at kube-apiserver for an error that differs. */
const triesMax = 12
/**
 * Two keys of a small map of Go's are seldom in the other order than they were put there: once in
 * eight times.
 */
const orderTriesMax = 40

/** Beside a body of a DELETE kube-apiserver ignores `dryRun` in the query: a decision here. */
const withoutDryRun = (step: Step): Step =>
  step.method === 'DELETE' && step.body !== undefined
    ? { ...step, path: step.path.replace(/(?<=[?&])dryRun=[^&]*/g, '') }
    : step

export class TwoServers {
  readonly #lib: Replayer
  readonly #peer: Client
  readonly #ours: Client
  readonly #memory = new Map<Client, Map<string, string>>()
  lastWriteAtMs = 0

  constructor(lib: Replayer, peer: string, ours: string) {
    const tokens = { admin: 'admin-token' }
    this.#lib = lib
    this.#peer = new lib.Client({ server: peer, tokens })
    this.#ours = new lib.Client({ server: ours, tokens })
  }

  /**
   * Sends a request to both, and returns the first difference. `id` is the part of names that is
   * this run's own, `comparable` what two answers must have in common.
   */
  async ask(
    step: Step,
    id: string,
    comparable: (seen: ComparedResponse) => ComparedResponse = (seen) => seen,
  ): Promise<{ want: ComparedResponse; difference: Difference | undefined }> {
    const [peer, ours] = await Promise.all([
      this.#request(this.#peer, step),
      this.#request(this.#ours, step),
    ])
    if (step.method !== 'GET' && step.method !== 'HEAD') this.lastWriteAtMs = Date.now()
    const want = comparable(this.#lib.observe(peer, id))
    const got = comparable(this.#lib.observe(ours, id))
    // A message of a kube-apiserver that failed is no rule to follow.
    if (want.status === 500 && got.status !== 500) return { want, difference: undefined }
    const difference =
      this.#lib.firstDiff(withoutChance(want), withoutChance(got)) ??
      this.#lib.firstDiff(weighty(peer, peer), weighty(ours, peer))
    return { want, difference }
  }

  /**
   * As `ask`. An error that kube-apiserver words differently when the request is repeated, or that
   * both word alike then, is random there and no difference.
   */
  async askOften(
    step: Step,
    id: string,
    comparable?: (seen: ComparedResponse) => ComparedResponse,
  ): Promise<{ want: ComparedResponse; difference: Difference | undefined }> {
    const first = await this.ask(step, id, comparable)
    if (first.difference === undefined || first.want.status < 300) return first
    for (let i = 0; i < triesMax; i++) {
      const again = await this.ask(step, id, comparable)
      if (again.difference === undefined) return again
    }
    return first
  }

  /**
   * As `askOften`, and the problems of an object must be reported in the same order, unless that is
   * random too.
   */
  async askInOrder(
    step: Step,
    id: string,
  ): Promise<{ want: ComparedResponse; difference: Difference | undefined }> {
    const first = await this.askOften(step, id)
    if (first.difference !== undefined || first.want.status !== 422) return first
    let kept: string | undefined
    let difference: Difference | undefined
    for (let i = 0; i < orderTriesMax; i++) {
      const answers = await Promise.all([
        this.#request(this.#peer, step),
        this.#request(this.#ours, step),
      ])
      const [want, got] = answers.map((answer) => told(this.#lib.observe(answer, id)))
      if (want === got || (kept !== undefined && kept !== want)) return first
      kept = want
      difference = { path: 'body.message, in order', want, got }
    }
    return { want: first.want, difference }
  }

  /**
   * Sends to both, and compares the bodies as they were sent, except versions, uids and times: ages
   * too, and every cell.
   */
  async askExactly(
    step: Step,
    id: string,
    comparable: (body: unknown) => unknown,
  ): Promise<{ want: ComparedResponse; difference: Difference | undefined }> {
    const [peer, ours] = await Promise.all([
      this.#request(this.#peer, step),
      this.#request(this.#ours, step),
    ])
    const [want, got] = [peer, ours].map((answer) => {
      const { body: _, ...seen } = this.#lib.observe(answer, id)
      return { ...seen, body: comparable(JSON.parse(withoutTheServersOwn(answer.text))) }
    }) as [ComparedResponse, ComparedResponse]
    return { want, difference: this.#lib.firstDiff(withoutChance(want), withoutChance(got)) }
  }

  /** As `ask`, and a body that cannot be read must be rejected in the same words. */
  async askWords(
    step: Step,
    id: string,
  ): Promise<{ want: ComparedResponse; difference: Difference | undefined }> {
    const asked = await this.ask(step, id)
    if (asked.want.status !== 400 || asked.difference !== undefined) return asked
    const [peer, ours] = await Promise.all([this.#peer.request(step), this.#ours.request(step)])
    return { want: asked.want, difference: this.#lib.firstDiff(wordsOf(peer), wordsOf(ours)) }
  }

  /** Sends to both, and compares a part of the bodies, whatever its name there. */
  async askPart(step: Step, part: (body: unknown) => unknown): Promise<Difference | undefined> {
    const answers = await Promise.all([this.#peer.request(step), this.#ours.request(step)])
    const [want, got] = answers.map(({ text }) => part(JSON.parse(text)))
    return this.#lib.firstDiff(want, got)
  }

  /** Forgets what the placeholders of steps stand for. */
  forget(): void {
    this.#memory.clear()
  }

  /**
   * In a step `$rv`, `$uid` and `$continue` stand for the latest values that the same server
   * returned, `$first` for its first version.
   */
  async #request(client: Client, step: Step): Promise<Answer> {
    const memory = this.#memory.get(client) ?? new Map<string, string>()
    this.#memory.set(client, memory)
    const fill = (text: string) =>
      text.replace(/\$(rv|uid|continue|first)/g, (_, name: string) => memory.get(name) ?? '')
    const answer = await client.request(JSON.parse(fill(JSON.stringify(withoutDryRun(step)))))
    remember(memory, answer.text)
    return answer
  }

  /** The peer's answer alone, as JSON. */
  async askPeer(step: Step): Promise<unknown> {
    const { status, text } = await this.#peer.request(step)
    return status === 200 ? JSON.parse(text) : {}
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

/** The message of an answer, with what is of one server taken out. */
const told = ({ body }: ComparedResponse): string =>
  withoutWholes(String((body as { message?: string }).message ?? '')).replace(/0x[0-9a-f]{6,}/g, '')

const wordsOf = ({ text }: Answer): unknown => JSON.parse(text).message

function remember(memory: Map<string, string>, text: string): void {
  let metadata: { resourceVersion?: string; uid?: string; continue?: string } | undefined
  try {
    metadata = JSON.parse(text)?.metadata
  } catch {
    return
  }
  if (typeof metadata !== 'object' || metadata === null) return
  const { resourceVersion, uid, continue: token } = metadata
  if (resourceVersion) {
    memory.set('rv', resourceVersion)
    if (!memory.has('first')) memory.set('first', resourceVersion)
  }
  if (uid) memory.set('uid', uid)
  if (token) memory.set('continue', token)
}

/** Ids, versions, times and what the server gave, and prose. */
const withoutTheServersOwn = (text: string): string =>
  text
    .replace(/"(resourceVersion|uid|description|selfLink)":"(?:[^"\\]|\\.)*"/g, '"$1":"<own>"')
    .replace(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, '<uid>')
    .replace(/"nodePort":\d+/g, '"nodePort":"<port>"')
    .replace(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z/g, '<time>')

/** The oldest release lets its answers be cached; this server never does. */
const weighty = ({ headers }: Answer, peer: Answer): Record<string, string | undefined> =>
  Object.fromEntries(
    headersOfWeight
      .filter((name) => name !== 'cache-control' || peer.headers[name] !== undefined)
      .map((name) => [name, headers[name]]),
  )

export const showDifference = ({ path, want, got }: Difference): string =>
  `at ${path || 'the top'}\n    peer ${shown(want)}\n    ours ${shown(got)}`

const shown = (value: unknown): string => (JSON.stringify(value) ?? 'nothing').slice(0, 600)
