/**
 * Returns the object of an entry in the version of a reader in this process. It is made at most
 * once for all watchers of a change, and must not be modified.
 */
import { after } from '#base/awaitable.ts'
import type { KubeObject } from '#api/object-meta.ts'
import { copyData } from '#base/copy-data.ts'
import type { Kind } from '#kinds/kind.ts'
import type { Revision } from '#storage/storage.ts'
import type { Entry, ParseStored } from '#watchcache/entry.ts'
import { cachedParsed } from '#watchcache/parsed-objects.ts'

export function shownObject(
  parse: ParseStored,
  entry: Entry,
  kind: Kind,
  revision: Revision,
): KubeObject | Promise<KubeObject> {
  const hand = cachedParsed(entry, parse)
  const { shown } = hand
  if (shown?.as === kind && shown.revision === revision) return shown.object
  const object = made(hand.object, entry, kind, revision)
  if (!(object instanceof Promise)) hand.shown = { as: kind, revision, object }
  return object
}

function made(
  stored: KubeObject,
  entry: Entry,
  kind: Kind,
  revision: Revision,
): KubeObject | Promise<KubeObject> {
  const { resource } = kind
  const from = resource.kindOf(entry.apiVersion) ?? resource.stored
  const metadata = { ...stored.metadata, resourceVersion: String(revision) }
  if (from === kind) return { ...stored, metadata }
  return after(resource.convert([copyData({ ...stored, metadata })], from, kind), ([one]) => one)
}
