/**
 * The objects that a server of the newest release writes before its first request, made when the
 * package is built. A cluster that starts with them only checks them, which takes half the time of
 * writing them. A checkout writes them itself.
 */
import { readFileSync } from 'node:fs'
import type { TimerClock } from '#base/clock.ts'
import { embeddedFile } from '#base/embedded-file.ts'
import type { Random } from '#base/random.ts'
import type { ServerOptions } from '#settings/settings-of.ts'
import { MemoryStorage, type SavedStore } from '#storage/memory/memory.ts'
import { timestamp } from '#verbs/server.ts'

export interface InitialStore {
  /** The emulated release. */
  readonly release: string
  /** The time in every object; a cluster replaces it by its own start. */
  readonly time: string
  readonly revision: number
  /** The key, the revision and the JSON of each object. */
  readonly items: readonly (readonly [key: string, revision: number, json: string])[]
}

/** These objects name the machine, its certificates or the process: each server writes its own. */
const ofOneServer = /\/(leases|configmaps|endpoints|endpointslices|masterleases)\//
/** Options that do not change the initial objects. With any other, a cluster writes them itself. */
const neutral = new Set([
  ...['emulatedVersion', 'storageBackend', 'securePort', 'dataDir', 'controllers', 'v'],
  ...['shutdownDelayDurationMs', 'requestTimeoutMs'],
])

/** Prepares a saved store of a cluster that started at this time. */
export function initialStoreOf(
  { revision, items }: SavedStore,
  release: string,
  time: string,
): InitialStore {
  const shared = items.filter(([key]) => !ofOneServer.test(key))
  const texts = shared.map(([key, at, bytes]) => [key, at, `${Buffer.from(bytes)}`] as const)
  return { release, time, revision, items: texts }
}

/** The file of the package. A checkout has none that fits its sources. */
export function packagedInitialStore(): InitialStore | undefined {
  if (import.meta.url.endsWith('.ts')) return undefined
  const file = new URL('../../bundle/initial-store.json', import.meta.url)
  return JSON.parse(embeddedFile('bundle/initial-store.json') ?? readFileSync(file, 'utf8'))
}

/** A store with these objects, or undefined if the options need others. */
export function startedStore(
  { release, time, revision, items }: InitialStore,
  options: ServerOptions,
  clock: TimerClock,
  random: Random,
): MemoryStorage | undefined {
  const isNeutral = Object.keys(options).every((name) => neutral.has(name))
  if (!isNeutral || options.emulatedVersion !== release) return undefined
  const now = timestamp(clock)
  const own = (json: string) =>
    json.replaceAll(time, now).replace(/"uid":"[-0-9a-f]{36}"/g, () => `"uid":"${random.uuid()}"`)
  const renewed = items.map(([key, at, json]): SavedStore['items'][number] => [
    key,
    at,
    Buffer.from(own(json)),
  ])
  return MemoryStorage.restored({ revision, items: renewed, expiring: [] }, clock)
}
