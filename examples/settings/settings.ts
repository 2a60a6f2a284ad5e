/**
 * The settings of a program, kept in a ConfigMap: read once, and updated with each change. It needs
 * only Node: the API is HTTP and JSON, and a watch is a response of one event a line that does not
 * end. If it ends, the program continues from the last version it received; if that version is too
 * old (410), from a new read.
 */
import type { IncomingMessage } from 'node:http'
import { Agent, request } from 'node:https'
import { createInterface } from 'node:readline'

export interface Place {
  readonly server: string
  readonly ca: string
  readonly token: string
  readonly namespace: string
  readonly name: string
}
export type Settings = Readonly<Record<string, string>>

interface ConfigMap {
  readonly metadata: { readonly name: string; readonly resourceVersion: string }
  readonly data?: Settings
}
interface WatchEvent {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK' | 'ERROR'
  readonly object: ConfigMap
}

const retryMs = 200

export interface SettingsWatch {
  /** As they are now; empty while there are none. */
  readonly now: Settings
  stop(): void
}

export async function watchSettings(
  { server, ca, token, namespace, name }: Place,
  hear: (settings: Settings) => void,
): Promise<SettingsWatch> {
  const agent = new Agent({ ca, keepAlive: true })
  const stopping = new AbortController()
  let now: Settings = {}
  let version = ''

  async function* ask(query: string): AsyncGenerator<string> {
    const path = `/api/v1/namespaces/${namespace}/configmaps?fieldSelector=metadata.name%3D${name}${query}`
    const { signal } = stopping
    const headers = { authorization: `Bearer ${token}` }
    const input = await new Promise<IncomingMessage>((resolve, reject) => {
      request(`${server}${path}`, { agent, headers, signal }, (answer) => {
        if (answer.statusCode === 200) resolve(answer)
        else reject(new Error(`${path} was answered with ${answer.statusCode}`))
      })
        .on('error', reject)
        .end()
    })
    yield* createInterface({ input })
  }

  function take(object: ConfigMap | undefined): void {
    const before = JSON.stringify(now)
    now = object?.data ?? {}
    if (JSON.stringify(now) !== before) hear(now)
  }

  async function read(): Promise<void> {
    let text = ''
    for await (const line of ask('')) text += line
    const list = JSON.parse(text) as { metadata: ConfigMap['metadata']; items: ConfigMap[] }
    version = list.metadata.resourceVersion
    take(list.items[0])
  }

  async function follow(): Promise<void> {
    for await (const line of ask(`&watch=1&allowWatchBookmarks=true&resourceVersion=${version}`)) {
      const { type, object } = JSON.parse(line) as WatchEvent
      if (type === 'ERROR') return read()
      version = object.metadata.resourceVersion
      if (type !== 'BOOKMARK') take(type === 'DELETED' ? undefined : object)
    }
  }

  async function keepFollowing(): Promise<void> {
    while (!stopping.signal.aborted) {
      await follow().catch(() => new Promise((resolve) => setTimeout(resolve, retryMs)))
    }
  }

  await read()
  void keepFollowing()
  return {
    get now() {
      return now
    },
    stop: () => {
      stopping.abort()
      agent.destroy()
    },
  }
}
