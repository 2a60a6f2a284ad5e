/** The resources of aggregated servers from their discovery, fetched again after a few seconds. */
import type { Loose } from '#api/object-meta.ts'
import type { ServedResource } from '#client/client.ts'
import type { Aggregation, Remote } from './aggregation.ts'
import { fetchDocument } from './fetch-document.ts'

const freshMs = 5000

interface Asked {
  readonly atMs: number
  readonly remote: Remote
  readonly served: Promise<ServedResource[] | undefined>
}

export class RemoteKinds {
  readonly #aggregation: Aggregation
  readonly #requested = new Map<string, Asked>()

  constructor(aggregation: Aggregation) {
    this.#aggregation = aggregation
  }

  /** Returns each resource once, and the group versions whose servers did not respond. */
  async read(): Promise<{ found: ServedResource[]; away: string[] }> {
    const found = new Map<string, ServedResource>()
    const away: string[] = []
    const all = [...this.#aggregation.remotes()]
    for (const key of this.#requested.keys())
      if (!all.some(([one]) => one === key)) this.#requested.delete(key)
    const answers = all.map(([key, remote]) => ({ key, served: this.#ask(key, remote) }))
    for (const { key, served } of answers) {
      const kinds = await served
      if (kinds === undefined) away.push(key)
      for (const kind of kinds ?? []) {
        const name = `${kind.group}/${kind.plural}`
        const other = found.get(name)
        const apiVersions = [...(other?.apiVersions ?? []), ...kind.apiVersions]
        found.set(name, { ...this.#better(kind, other), apiVersions })
      }
    }
    return { found: [...found.values()], away }
  }

  /** Prefers the version with the higher priority in its group. */
  #better(kind: ServedResource, other: ServedResource | undefined): ServedResource {
    if (other === undefined) return kind
    const priority = ({ group, version }: ServedResource) =>
      this.#aggregation.priorityOf(group, version)?.version ?? 0
    return priority(kind) > priority(other) ? kind : other
  }

  #ask(key: string, remote: Remote): Promise<ServedResource[] | undefined> {
    if (!remote.available || remote.trouble !== undefined) return Promise.resolve(undefined)
    const before = this.#requested.get(key)
    const now = performance.now()
    if (before?.remote === remote && now - before.atMs < freshMs) return before.served
    const served = this.#fetch(key, remote)
    this.#requested.set(key, { atMs: now, remote, served })
    return served
  }

  async #fetch(key: string, remote: Remote): Promise<ServedResource[] | undefined> {
    const document = await fetchDocument(this.#aggregation, remote, `/apis/${key}`)
    if (typeof document === 'string') return undefined
    const [group = '', version = ''] = key.split('/')
    try {
      const list: Loose = JSON.parse(document.bytes.toString())
      return (list.resources ?? [])
        .filter(({ name }: Loose) => !name.includes('/'))
        .map(({ name, kind, namespaced, verbs }: Loose) => ({
          group,
          version,
          plural: name,
          kind,
          namespaced: namespaced === true,
          verbs: new Set<string>(verbs),
          apiVersions: [key],
        }))
    } catch {
      return undefined
    }
  }
}
