/** The last step of every write: encodes the object once and stores it conditionally. */
import { change, releaseOf } from '#api/releases/change.ts'
import type { KubeObject, Loose } from '#api/object-meta.ts'
import { ApiError } from '#api/status-error.ts'
import { after, type Awaitable } from '#base/awaitable.ts'
import { copyData } from '#base/copy-data.ts'
import { encodeObject } from '#codec/protobuf.ts'
import { hubOf, type Kind } from '#kinds/kind.ts'
import type { Outcome, Revision, WriteDeadline } from '#storage/storage.ts'
import { encodeForStorage, isStoredOtherwise } from '#watchcache/entry-maker.ts'
import type { ObjectView } from './answer.ts'
import { convertOne, type Live } from './current.ts'
import { isSameBut } from './owner-times.ts'
import { keyOf, nameOf, type Server, type WriteRequest } from './server.ts'

/** etcd's limit for a request, so that data can be moved between stores. */
const objectSizeBytesMax = 1_572_864
/** kube-apiserver does not send larger requests to etcd; the error text is the same. */
const messageSizeBytesMax = 2_097_152

const tooLargeText = (size: number): string =>
  size <= messageSizeBytesMax
    ? 'etcdserver: request is too large'
    : `rpc error: code = ResourceExhausted desc = trying to send message larger than max (${size} vs. ${messageSizeBytesMax})`

export interface Encoded {
  readonly view: ObjectView
  /** The stored bytes: those of the view, or their protobuf form. */
  readonly bytes: Buffer
  readonly key: string
}

const forgetsOwners = change(
  'an object whose managed fields are too large loses them instead of being rejected',
  { since: 19 },
)

/** How to treat an object that is too large for the store. */
type TooLarge = 'refuse' | 'forget owners' | 'show'

/**
 * An apply must not lose its managedFields. A dry run stores nothing, so its object is never too
 * large.
 */
export function whenTooLarge({ release }: Server, request: WriteRequest): TooLarge {
  if (request.options.dryRun) return 'show'
  const applies = 'patchType' in request && request.patchType === 'apply'
  return releaseOf(release).has(forgetsOwners) && !applies ? 'forget owners' : 'refuse'
}

/** Encodes an object of the hub version for the store. */
export function encode(
  server: Server,
  kind: Kind,
  given: KubeObject,
  tooLarge: TooLarge = 'refuse',
): Awaitable<Encoded> {
  const { resource } = kind
  const object = resource.readBack?.(given) ?? given
  const { stored } = resource
  const hub = hubOf(kind)
  delete object.metadata.resourceVersion
  if (stored === hub) return encodeWritten(server, kind, object, object, tooLarge)
  return after(convertOne(copyData(object), hub, stored), (written) => {
    resource.fillStored?.(written)
    return encodeWritten(server, kind, object, written, tooLarge)
  })
}

/** `written` is the same object in the stored version. */
function encodeWritten(
  server: Server,
  kind: Kind,
  object: KubeObject,
  written: KubeObject,
  tooLarge: TooLarge,
): Encoded {
  const { resource } = kind
  const { stored, behaviour } = resource
  const fields = behaviour.selectableFields && Object.values(behaviour.selectableFields(object))
  const key = keyOf(kind, object.metadata.namespace ?? '', nameOf(object))
  written.kind = stored.kind
  written.apiVersion = stored.apiVersion
  const protobuf =
    server.storesProtobuf && stored.formats.has('protobuf')
      ? encodeObject(stored.type, written)
      : undefined
  const cut = encodeForStorage(written, fields, resource, protobuf)
  const bytes = protobuf ?? cut.bytes
  if (bytes.length > objectSizeBytesMax && tooLarge !== 'show') {
    if (tooLarge === 'forget owners' && object.metadata.managedFields !== undefined) {
      for (const { metadata } of [object, written]) delete metadata.managedFields
      return encodeWritten(server, kind, object, written, 'refuse')
    }
    throw new ApiError(500, '', tooLargeText(bytes.length))
  }
  const { namespace = '', name = '' } = object.metadata
  return {
    key,
    bytes,
    view: { cut, namespace, name, apiVersion: stored.apiVersion, revision: undefined },
  }
}

/**
 * Whether a write would change nothing. Defaults append members to a new object, while decoding
 * sorts them; so the order of members is ignored.
 */
export function isUnchanged({ view }: Encoded, next: KubeObject, live: Live): boolean {
  const { bytes } = view.cut
  if (bytes.length !== live.bytes.length || isStoredOtherwise(live.bytes)) return false
  return bytes.equals(live.bytes) || isSame(next, live.object)
}

/** Ignores kind, apiVersion and resourceVersion, which differ between versions of an object. */
function isSame(next: KubeObject, live: KubeObject): boolean {
  return (
    isSameBut(headerAndMetadata, next, live) &&
    isSameBut(revision, next.metadata as Loose, live.metadata as Loose)
  )
}

const headerAndMetadata: ReadonlySet<string> = new Set(['kind', 'apiVersion', 'metadata'])
const revision: ReadonlySet<string> = new Set(['resourceVersion'])

export function put(
  server: Server,
  kind: Kind,
  encoded: Encoded,
  ifRevision: Revision,
  { deadlineAt }: WriteDeadline,
): Promise<Outcome> {
  const ttlSeconds = kind.resource.behaviour.expires ? server.eventTtlSeconds : undefined
  return server.storage.put(encoded.key, encoded.bytes, {
    ifRevision,
    deadlineAt,
    // A new object has a new UID.
    ...(ifRevision === 0 && { isUnique: true }),
    ...(ttlSeconds !== undefined && ttlSeconds > 0 && { ttlSeconds }),
  })
}

/** The view of an object with the revision of its write. */
export const viewAt = (view: ObjectView, revision: Revision | undefined): ObjectView => ({
  ...view,
  revision,
})
