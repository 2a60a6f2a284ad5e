/**
 * The objects of a request in the version a webhook asked for, as text for reviews and as values for patches; and the
 * way back, from a patched value to the object that goes on through the server.
 */
import type { AdmissionRequest } from '#admission/admission.ts'
import { goQuote } from '#api/go-syntax.ts'
import type { Json, KubeObject, Loose } from '#api/object-meta.ts'
import { loadLater } from '#base/load-later.ts'
import { hubOf, type Kind } from '#kinds/kind.ts'

/** For patches that make an object which is none. */
const loadGoJson = loadLater<typeof import('#codec/go-json/decode.ts')>(
  import.meta.url,
  '#codec/go-json/decode',
)
const loadOrder = loadLater<typeof import('#patch/patched-order.ts')>(
  import.meta.url,
  '#patch/patched-order',
)

export class Versioned {
  readonly kind: Kind
  #object: KubeObject | undefined
  readonly #old: KubeObject | undefined
  #objectText: string | undefined
  #oldText: string | undefined
  /** A patch changed the object since it was taken from the request. */
  dirty = false
  /** A patch changed the object since the request began. */
  patchedBefore = false

  constructor(kind: Kind, object: KubeObject | undefined, old: KubeObject | undefined) {
    this.kind = kind
    this.#object = object
    this.#old = old
  }

  static async of(request: AdmissionRequest, kind: Kind): Promise<Versioned> {
    const { object, old } = request
    return new Versioned(
      kind,
      object && (await fromHub(request.kind, kind, object)),
      old && withoutOwners(request, await fromHub(request.kind, kind, old)),
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

  get objectText(): string {
    return (this.#objectText ??= JSON.stringify(this.#object ?? null))
  }

  get oldText(): string {
    return (this.#oldText ??= JSON.stringify(this.#old ?? null))
  }
}

/** An update has taken the owners out of what it found by the time a webhook is shown it. */
function withoutOwners({ operation }: AdmissionRequest, old: KubeObject): KubeObject {
  if (operation !== 'UPDATE' || old.metadata?.managedFields === undefined) return old
  const { managedFields, ...metadata } = old.metadata
  return { ...old, metadata }
}

/** Bodies of a kind of their own (evictions, tokens, scales) have one version, which is theirs. */
const isOwnKind = (object: KubeObject, { resource }: Kind): boolean =>
  object.kind !== undefined && object.kind !== resource.hub.kind

async function fromHub(asked: Kind, kind: Kind, object: KubeObject): Promise<KubeObject> {
  if (isOwnKind(object, asked)) return object
  const hub = hubOf(asked)
  if (kind === hub) return typed(object, kind)
  const [converted] = await asked.resource.convert([structuredClone(object)], hub, kind)
  return typed(converted as KubeObject, kind)
}

const typed = (object: KubeObject, { kind, apiVersion }: Kind): KubeObject =>
  object.kind === kind && object.apiVersion === apiVersion
    ? object
    : { ...object, kind, apiVersion }

/**
 * A patched value as an object of the same version: canonical, and with defaults where the patch left room for them.
 * Throws an Error in the original's words where it is none.
 */
export function settled(
  kind: Kind,
  before: KubeObject,
  patched: Loose,
  operations: Json,
): KubeObject {
  if (isOwnKind(before, kind)) return patched as KubeObject
  if (kind.protobuf) requireSameType(kind, patched)
  const { object } = conformed(kind, patched, operations)
  kind.applyDefaults(object)
  return object
}

function requireSameType({ kind, apiVersion }: Kind, patched: Loose): void {
  const version = String(patched.apiVersion || apiVersion)
  const named = String(patched.kind || kind)
  if (version === apiVersion && named === kind) return
  throw new Error(
    `no kind ${goQuote(named)} is registered for version ${goQuote(version)} in scheme "pkg/runtime/scheme.go:100"`,
  )
}

/** What does not fit is read once more from its text, as the original reads it. */
function conformed(kind: Kind, patched: Loose, operations: Json): { object: KubeObject } {
  try {
    return kind.conform(patched)
  } catch (error) {
    if (!kind.protobuf) throw error
    const text = JSON.stringify(loadOrder().operatedOrder(patched as Json, operations))
    const read = loadGoJson().readGoJson(Buffer.from(text), kind.type)
    if ('fault' in read) throw new Error(read.fault)
    return kind.conform(read.value as Loose)
  }
}

/** Puts what webhooks made of the object into the request, in place: whoever holds the object sees it. */
export async function intoRequest(request: AdmissionRequest, versioned: Versioned): Promise<void> {
  const target = request.object
  const changed = versioned.object
  if (!versioned.dirty || target === undefined || changed === undefined) return
  const hub = hubOf(request.kind)
  const convert = !isOwnKind(changed, request.kind) && versioned.kind !== hub
  const [result] = convert
    ? await request.kind.resource.convert([structuredClone(changed)], versioned.kind, hub)
    : [changed]
  if (result === target) return
  for (const key of Object.keys(target)) delete target[key]
  Object.assign(target, result)
}
