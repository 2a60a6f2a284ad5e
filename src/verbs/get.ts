/** GET of one object from the watch cache, at the requested freshness. */
import { notFound } from '#api/status-error.ts'
import { type Answer, answerObject } from './answer.ts'
import { entryMaker } from '#watchcache/entry-maker.ts'
import { type Freshness, freshnessOfGet, livePicture, reach } from './read-at.ts'
import { keyOf, type Server, type Target } from './server.ts'

export async function get(
  server: Server,
  target: Target,
  resourceVersion: string,
): Promise<Answer> {
  const { kind, namespace, name } = target
  const isCached = server.readsFromMemory(kind.resource)
  // kube-apiserver has no watch cache for events.
  const freshness = freshnessOfGet(resourceVersion, isCached && kind.plural !== 'events')
  if (!isCached && freshness.want !== 'any') return getStored(server, target, freshness)
  await reach(server, freshness)
  const ready = await livePicture(server, kind)
  const key = keyOf(kind, namespace, name)
  ready.requireReadable(key)
  const entry = ready.get(key)
  if (entry === undefined) throw notFound(kind, name)
  return answerObject(200, kind, entry)
}

/** Bypasses the watch cache and reads the store. */
async function getStored(
  server: Server,
  { kind, namespace, name }: Target,
  freshness: Freshness,
): Promise<Answer> {
  await reach(server, freshness)
  const { value } = await server.storage.get(keyOf(kind, namespace, name))
  if (value === undefined) throw notFound(kind, name)
  const maker = entryMaker(kind.resource, server.parseStored)
  return answerObject(200, kind, maker.make(value.key, value.revision, value.bytes))
}
