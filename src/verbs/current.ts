/** Reads the newest state of one object for the verbs that change it. */
import type { KubeObject } from '#api/object-meta.ts'
import { after, type Awaitable } from '#base/awaitable.ts'
import { hubOf, type Kind } from '#kinds/kind.ts'
import type { Revision, Stored } from '#storage/storage.ts'
import type { Entry } from '#watchcache/entry.ts'
import { livePicture, reach } from './read-at.ts'
import { keyOf, type Server, type Target } from './server.ts'

export interface Live {
  /** A fresh copy in the hub version with its resourceVersion; the caller may change it. */
  readonly object: KubeObject
  readonly revision: Revision
  /** The stored bytes, to check whether a write would change anything. */
  readonly bytes: Buffer
}

async function currentEntry(server: Server, target: Target): Promise<Entry | undefined> {
  await reach(server, { want: 'latest' })
  const cache = await livePicture(server, target.kind)
  const key = keyOf(target.kind, target.namespace, target.name)
  cache.requireReadable(key)
  return cache.get(key)
}

export async function currentObject(server: Server, target: Target): Promise<Live | undefined> {
  const entry = await currentEntry(server, target)
  if (entry === undefined) return undefined
  const { bytes } = entry.cut
  return liveFrom(target.kind, server.parseStored(bytes), bytes, entry.revision)
}

/** After a lost race: the state that won, of any writer. */
export async function liveFromStored(
  server: Server,
  kind: Kind,
  { bytes, revision }: Stored,
): Promise<Live> {
  const parsed = server.parseStored(bytes)
  return liveFrom(kind, kind.resource.restore?.(parsed) ?? parsed, bytes, revision)
}

async function liveFrom(
  kind: Kind,
  parsed: KubeObject,
  bytes: Buffer,
  revision: Revision,
): Promise<Live> {
  const { resource } = kind
  const from = resource.kindOf(parsed.apiVersion as string) ?? resource.stored
  const object = await convertOne(parsed, from, hubOf(kind))
  object.metadata.resourceVersion = String(revision)
  return { object, revision, bytes }
}

/** Converts one object to another version of its resource. It may modify its argument. */
export function convertOne(object: KubeObject, from: Kind, to: Kind): Awaitable<KubeObject> {
  if (from === to) return object
  return after(from.resource.convert([object], from, to), ([converted]) => converted)
}
