/** The newest state of one object, as the verbs that change it need it. */
import type { KubeObject } from '#api/object-meta.ts'
import { after, type Awaitable } from '#base/awaitable.ts'
import { hubOf, type Kind } from '#kinds/kind.ts'
import type { Revision, Stored } from '#storage/storage.ts'
import type { Entry } from '#watchcache/entry.ts'
import type { ResourceCache } from '#watchcache/resource-cache.ts'
import { tooLargeResourceVersion } from '#api/status-error.ts'
import { keyOf, type Server, type Target } from './server.ts'

/** How long a read waits for a revision that the server has not seen yet. */
export const freshnessWaitMsMax = 3000

export interface Live {
  /** Hub version, a fresh copy with its resourceVersion: the caller may change it. */
  readonly object: KubeObject
  readonly revision: Revision
  /** The bytes as they are stored, to see whether a write would change anything. */
  readonly bytes: Buffer
}

/** The live picture of a resource once it has seen everything written so far. */
async function freshCache(server: Server, kind: Kind): Promise<ResourceCache> {
  const cache = server.cache.of(kind.resource)
  const ready = cache instanceof Promise ? await cache : cache
  const current = server.storage.currentRevision()
  const newest = typeof current === 'number' ? current : await current
  const { freshness } = server.cache
  if (newest > freshness.revision && !(await freshness.reach(newest, freshnessWaitMsMax))) {
    throw tooLargeResourceVersion(newest, freshness.revision, 1, server.release)
  }
  return ready
}

async function currentEntry(server: Server, target: Target): Promise<Entry | undefined> {
  const cache = await freshCache(server, target.kind)
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

/** What a lost race answered with: the state that won, whoever wrote it. */
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

/** One object as another version of its resource. The input may be changed. */
export function convertOne(object: KubeObject, from: Kind, to: Kind): Awaitable<KubeObject> {
  if (from === to) return object
  return after(from.resource.convert([object], from, to), ([converted]) => converted)
}
