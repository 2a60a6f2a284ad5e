/**
 * Copies the current objects of one store to another, as bytes; encrypted values stay encrypted.
 * The source is read at one revision and not changed. Records of running servers are omitted.
 * Events get a new full TTL.
 */
import { severalAtOnce } from '#base/several-at-once.ts'
import type { Settings } from '#settings/flags.ts'
import {
  prefixRange,
  type Revision,
  type Storage,
  StorageUnavailable,
  type Stored,
} from '#storage/storage.ts'
import { type Imported, importDatabase } from '#storage/sqlite/import.ts'

/** Keys per read; usually some megabytes. */
const keysPerRead = 500
/** Maximum number of concurrent writes to etcd. */
const writesAtOnce = 32

type CopySettings = Pick<Settings, 'etcdPrefix' | 'eventTtlMs'>

/** Receives the number of copied keys and the total number of keys. */
export type Progress = (done: number, total: number) => void

const rangeOf = ({ etcdPrefix }: CopySettings) => prefixRange(`${etcdPrefix}/`)

/** Yields the objects of a store at a revision, in batches. */
export async function* storedBatches(
  storage: Storage,
  { etcdPrefix }: Pick<Settings, 'etcdPrefix'>,
  at: Revision,
): AsyncGenerator<Stored[]> {
  const range = prefixRange(`${etcdPrefix}/`)
  for (let { start } = range; ; ) {
    const { items, more } = (await storage.list({ ...range, start }, { at, limit: keysPerRead }))
      .value
    if (items.length > 0) yield items
    const last = items.at(-1)
    if (!more || last === undefined) return
    start = `${last.key}\0`
  }
}

async function* imported(
  storage: Storage,
  settings: CopySettings,
  at: Revision,
  progress: Progress,
): AsyncGenerator<Imported[]> {
  const total = (await storage.count(rangeOf(settings))).value
  let done = 0
  for await (const batch of storedBatches(storage, settings, at)) {
    yield batch.flatMap((item) => {
      const ttlMs = lifeMsOf(item.key, settings)
      return ttlMs === undefined ? [] : [{ item, ttlMs }]
    })
    progress((done += batch.length), total)
  }
}

/** The TTL of a copied key; 0 for keys without TTL. Undefined for keys that are not copied. */
function lifeMsOf(key: string, { etcdPrefix, eventTtlMs }: CopySettings): number | undefined {
  if (key.startsWith(`${etcdPrefix}/masterleases/`)) return undefined
  return key.startsWith(`${etcdPrefix}/events/`) ? eventTtlMs : 0
}

/** Creates a database file with the objects of a store. Returns their revision. */
export async function copyToDatabase(
  from: Storage,
  settings: CopySettings,
  file: string,
  nowMs: number,
  progress: Progress,
): Promise<Revision> {
  const revision = await from.currentRevision()
  await importDatabase(file, imported(from, settings, revision, progress), revision, nowMs)
  return revision
}

/** Copies all objects into an empty store. Returns their number. */
export async function copyToStore(
  from: Storage,
  to: Storage,
  settings: CopySettings,
  progress: Progress,
): Promise<number> {
  const there = (await to.count(rangeOf(settings))).value
  if (there > 0)
    throw new StorageUnavailable(
      `the target has ${there} keys under ${settings.etcdPrefix}/ already: ` +
        `remove them (etcdctl del --prefix ${settings.etcdPrefix}/), or choose another --etcd-prefix`,
    )
  const found = (await from.count(rangeOf(settings))).value
  if (found === 0)
    throw new StorageUnavailable(`the source has no keys under ${settings.etcdPrefix}/`)
  let copied = 0
  const revision = await from.currentRevision()
  for await (const batch of imported(from, settings, revision, progress)) {
    await severalAtOnce(batch, writesAtOnce, async ({ item, ttlMs }) => {
      const life = ttlMs > 0 ? { ttlSeconds: Math.ceil(ttlMs / 1000) } : {}
      const outcome = await to.put(item.key, item.bytes, { ifRevision: 0, ...life })
      if (!outcome.ok)
        throw new StorageUnavailable(`${item.key} was written by another server during the copy`)
      copied++
    })
  }
  return copied
}
