/**
 * Sentences of the specification as rows: where it stands, what it claims in our words, and a check
 * against a running server. Rows of a file run side by side on one server, so each has objects of
 * its own.
 */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { type Answer, type RunningServer, startServer } from './running-server.ts'

export type Check = (on: Wire) => Promise<void>
export type Row = readonly [section: string, claim: string, check: Check]

/** How many rows run at once: they mostly wait. */
const rowsAtOnce = 16

export const core = '/api/v1'
export const maps = '/api/v1/namespaces/default/configmaps'

/** The server as rows see it. */
export class Wire {
  readonly #server: RunningServer
  readonly #headers: Readonly<Record<string, string>>
  /** `headers`: sent with every request. */
  constructor(server: RunningServer, headers: Readonly<Record<string, string>> = {}) {
    this.#server = server
    this.#headers = headers
  }

  get server(): RunningServer {
    return this.#server
  }

  ask(
    method: string,
    path: string,
    body?: unknown,
    headers?: Readonly<Record<string, string>>,
  ): Promise<Answer> {
    return this.#server.ask(method, path, body, { ...this.#headers, ...headers })
  }

  /** Sends a request, and accepts no other status. */
  async expect(status: number, method: string, path: string, body?: unknown, headers = {}) {
    const answer = await this.ask(method, path, body, headers)
    assert.equal(answer.status, status, `${method} ${path}: ${answer.text.slice(0, 300)}`)
    return answer
  }

  /** A config map in `default`; answers its resourceVersion. */
  async map(name: string, more: object = {}): Promise<string> {
    const metadata = { name, ...(more as { metadata?: object }).metadata }
    const { body } = await this.expect(201, 'POST', maps, { ...more, metadata })
    return body.metadata.resourceVersion
  }

  async touch(name: string, value: string): Promise<string> {
    const path = `${maps}/${name}`
    const { body } = await this.expect(200, 'PATCH', path, { data: { value } }, merge)
    return body.metadata.resourceVersion
  }

  /** A watch that is open until it is left; its events are added as they come. */
  follow(path: string): { events: Event[]; leave: () => void } {
    const events: Event[] = []
    const mark = path.includes('?') ? '&' : '?'
    let rest = ''
    const leave = this.#server.follow(`${path}${mark}watch=1`, this.#headers, (text) => {
      const lines = (rest + text).split('\n')
      rest = lines.pop() ?? ''
      for (const line of lines) events.push(JSON.parse(line))
    })
    return { events, leave }
  }

  /**
   * The events of a watch within `seconds`: enough for what happened before it, not for what is to
   * come.
   */
  async watch(path: string, seconds = 1): Promise<{ answer: Answer; events: Event[] }> {
    const mark = path.includes('?') ? '&' : '?'
    const answer = await this.ask('GET', `${path}${mark}watch=1&timeoutSeconds=${seconds}`)
    const isStream = answer.status === 200
    const lines = isStream ? answer.text.split('\n').filter((line) => line !== '') : []
    return { answer, events: lines.map((line) => JSON.parse(line)) }
  }
}

export const merge = { 'content-type': 'application/merge-patch+json' }

export interface Event {
  readonly type: string
  // biome-ignore lint/suspicious/noExplicitAny: what an object holds is the row's to know
  readonly object: any
}

export const told = (events: readonly Event[]): string[] =>
  events.map(({ type, object }) => `${type} ${object.metadata?.name ?? object.code}`)

export function specify(title: string, flags: readonly string[], rows: readonly Row[]): void {
  describe(title, { concurrency: rowsAtOnce }, () => {
    let wire: Wire
    before(async () => {
      wire = new Wire(await startServer(flags))
    })
    after(() => wire?.server.stop())
    for (const [section, claim, check] of rows) {
      test(`${section}: ${claim}`, () => check(wire))
    }
  })
}
