/**
 * The objects of a request in the version that a webhook requires, as text for reviews and as
 * values for patches. Also converts a patched value back to the object of the request.
 */
import type { AdmissionRequest } from '#admission/admission.ts'
import type { Json, KubeObject, Loose } from '#api/object-meta.ts'
import { change, releaseOf } from '#api/releases/change.ts'
import { copyWrittenEmpty } from '#api/written-empty.ts'
import { loadLater } from '#base/load-later.ts'
import { readGoJson } from '#codec/go-json/decode.ts'
import { isUnread, markUnread } from '#kinds/custom/unread.ts'
import { hubOf, type Kind } from '#kinds/kind.ts'
import type { KnownTypes } from '#kinds/known-type.ts'
import {
  asBody,
  readAsOther,
  requireKind,
  requireType,
  type TypeName,
  statedTypeOf,
} from './patched-type.ts'

/** Used if a patch creates an object that does not match its type. */
const loadOrder = loadLater<typeof import('#patch/patched-order.ts')>(
  import.meta.url,
  '#patch/patched-order',
)

/** Loaded for the first webhook that is called. */
const loadEmpty = loadLater<typeof import('./shown-empty.ts')>(import.meta.url, './shown-empty')

const keepsOldOwners = change('the old object of an update shows its managedFields to admission', {
  since: 23,
})

/** The parts of the server that look up types. */
export interface TypeParts {
  readonly types: KnownTypes
  readonly release: number
}

export class Versioned {
  readonly kind: Kind
  /** The type of a body that differs from the resource's: evictions, tokens, scales. */
  readonly own: TypeName | undefined
  #object: KubeObject | undefined
  readonly #old: KubeObject | undefined
  #objectText: string | undefined
  #oldText: string | undefined
  /** A patch changed the object since it was taken from the request. */
  dirty = false
  /** A patch changed the object since the request began. */
  patchedBefore = false

  constructor(
    kind: Kind,
    object: KubeObject | undefined,
    old: KubeObject | undefined,
    own: TypeName | undefined,
  ) {
    this.kind = kind
    this.own = own
    this.#object = object
    this.#old = old
  }

  static async of(request: AdmissionRequest, kind: Kind, release: number): Promise<Versioned> {
    const { object, old } = request
    const own = ownTypeOf(request)
    const next = object && (await fromHub(request.kind, kind, object))
    return new Versioned(
      kind,
      next && own === undefined && kind.decoding === 'typed'
        ? loadEmpty().withEmpty(kind.type, next)
        : next,
      old && withOldOwners(request, await fromHub(request.kind, kind, old), release),
      own,
    )
  }

  get object(): KubeObject | undefined {
    return this.#object
  }

  set object(next: KubeObject | undefined) {
    this.#object = next
    this.#objectText = undefined
    this.dirty = true
  }

  get old(): KubeObject | undefined {
    return this.#old
  }

  get objectText(): string {
    return (this.#objectText ??= JSON.stringify(this.#object ?? null))
  }

  get oldText(): string {
    return (this.#oldText ??= JSON.stringify(this.#old ?? null))
  }
}

/**
 * Before 1.23 updates remove managedFields from the existing object, so that webhooks do not see
 * them. Exceptions are the object to be written and objects that were read again.
 */
function withOldOwners(request: AdmissionRequest, old: KubeObject, release: number): KubeObject {
  if (releaseOf(release).has(keepsOldOwners)) return old
  if (request.operation !== 'UPDATE' || old.metadata?.managedFields === undefined) return old
  if (request.showsOldOwners || request.old === request.object) return old
  const { managedFields, ...metadata } = old.metadata
  return { ...old, metadata }
}

function ownTypeOf({ object, kind: requested }: AdmissionRequest): TypeName | undefined {
  if (object === undefined || !isOwnKind(object, requested)) return undefined
  return { apiVersion: object.apiVersion ?? '', kind: object.kind ?? '' }
}

/** Bodies of their own kind (evictions, tokens, scales) have a single version. */
const isOwnKind = (object: KubeObject, { resource }: Kind): boolean =>
  object.kind !== undefined && object.kind !== resource.hub.kind

async function fromHub(requested: Kind, kind: Kind, object: KubeObject): Promise<KubeObject> {
  if (isOwnKind(object, requested)) return object
  const hub = hubOf(requested)
  if (kind === hub) return typed(object, kind)
  // A webhook receives a patched object of a custom kind with its unknown fields. Without a
  // conversion webhook, conversion changes only the apiVersion.
  if (isUnread(object) && !requested.resource.convertsElsewhere) return typed(object, kind)
  const [converted] = await requested.resource.convert([structuredClone(object)], hub, kind)
  const shown = typed(converted as KubeObject, kind)
  // An untyped reader omits an unset creationTimestamp.
  if (object.metadata.creationTimestamp === undefined) delete shown.metadata.creationTimestamp
  return shown
}

const typed = (object: KubeObject, { kind, apiVersion }: Kind): KubeObject =>
  object.kind === kind && object.apiVersion === apiVersion
    ? object
    : { ...object, kind, apiVersion }

/**
 * A patched value as an object of its own version: canonical, with defaults for absent fields.
 * Throws an Error with kube-apiserver's message if it is invalid.
 */
export function settled(
  { types, release }: TypeParts,
  { kind, own }: Versioned,
  patched: Loose,
  operations: Json,
): KubeObject {
  const stated = statedTypeOf(patched)
  const text = () => JSON.stringify(loadOrder().operatedOrder(patched as Json, operations))
  if (kind.decoding === 'free') {
    requireKind(stated, text)
    return own === undefined ? unread(kind, patched) : bodyOr(types, own, stated, patched, text)
  }
  const expected = own ?? kind
  const named = {
    apiVersion: stated.apiVersion.replace(/^\//, '') || expected.apiVersion,
    kind: stated.kind || expected.kind,
  }
  if (named.kind === expected.kind && named.apiVersion === expected.apiVersion)
    return own === undefined ? typedAs(kind, patched, text) : asBody(types, own, patched, text())
  const other = own === undefined ? kind.resource.kindOf(named.apiVersion) : undefined
  if (other !== undefined && named.kind === other.kind) return typedAs(other, patched, text)
  readAsOther(types, release, kind, named, text())
  return { ...patched, ...named } as KubeObject
}

/** The body of a custom kind's Scale, which is decoded only if its type is Scale. */
const bodyOr = (
  types: KnownTypes,
  own: TypeName,
  stated: TypeName,
  patched: Loose,
  text: () => string,
): KubeObject =>
  stated.kind === own.kind && stated.apiVersion === own.apiVersion
    ? asBody(types, own, patched, text())
    : (patched as KubeObject)

/**
 * Validation of a custom object sees all its fields. Unknown fields are pruned when it is stored.
 */
function unread(kind: Kind, patched: Loose): KubeObject {
  const object = { ...patched, metadata: readableMetadata(kind, patched.metadata) } as KubeObject
  kind.applyDefaults(object)
  return object
}

/** Metadata fields of the wrong type are dropped. */
function readableMetadata(kind: Kind, metadata: unknown): Loose {
  const read = (part: unknown) => kind.conform({ metadata: part }).object.metadata as Loose
  try {
    return read(metadata)
  } catch {
    const fits = (entry: [string, unknown]) => {
      try {
        return read(Object.fromEntries([entry])) !== undefined
      } catch {
        return false
      }
    }
    return read(Object.fromEntries(Object.entries(Object(metadata)).filter(fits)))
  }
}

/**
 * A value that does not match its type is decoded again from its text, like kube-apiserver does.
 */
function typedAs(kind: Kind, patched: Loose, text: () => string): KubeObject {
  let object: KubeObject
  try {
    object = kind.conform(patched).object
  } catch {
    const read = readGoJson(Buffer.from(text()), kind.type)
    if ('fault' in read) throw new Error(read.fault)
    object = kind.conform(read.value as Loose).object
  }
  kind.applyDefaults(object)
  return object
}

/**
 * Copies the webhooks' result into the request's object in place, so that all holders of the object
 * see it.
 */
export async function copyIntoRequest(
  { types, release }: TypeParts,
  request: AdmissionRequest,
  versioned: Versioned,
): Promise<void> {
  const target = request.object
  const changed = versioned.object
  if (!versioned.dirty || target === undefined || changed === undefined) return
  const { kind: requested } = request
  requireType(types, release, requested, versioned.own, changed)
  const hub = hubOf(requested)
  const from = requested.resource.kindOf(changed.apiVersion ?? '')
  const [result] =
    versioned.own === undefined && from !== undefined && from !== hub
      ? await requested.resource.convert([structuredClone(changed)], from, hub)
      : [changed]
  if (result !== target) {
    for (const key of Object.keys(target)) delete target[key]
    Object.assign(target, result)
    copyWrittenEmpty(result, target)
  }
  if (requested.decoding === 'free' && versioned.own === undefined) markUnread(target)
}
