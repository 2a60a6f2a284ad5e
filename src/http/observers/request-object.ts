/**
 * The request body in the audit log. Creates and updates are recorded as decoded, with defaults;
 * patches as sent. An unreadable body is not recorded.
 */
import type { Json, KubeObject, Loose } from '#api/object-meta.ts'
import { unsetCreationTime } from '#api/unset-creation-time.ts'
import { change, type Release } from '#api/releases/change.ts'
import { loadLater } from '#base/load-later.ts'
import { decodeYaml } from '#codec/yaml.ts'
import { decodeBody } from '#http/request/body.ts'
import type { Exchange } from '#http/exchange.ts'
import { optionsTypeOf, bodyTypeOf } from '#http/request/write-request.ts'
import type { Kind } from '#kinds/kind.ts'
import { isKnownType } from '#kinds/known-type.ts'
import { conform } from '#schema/conform.ts'
import type { Type } from '#schema/type.ts'
import { fillInTokenRequest } from '#verbs/special/token.ts'

const loadCbor = loadLater<typeof import('#http/request/cbor-body.ts')>(
  import.meta.url,
  '#http/request/cbor-body',
)

type OtherBody = readonly [kind: string, apiVersion: string, fillIn?: (body: KubeObject) => void]

/** Subresources whose body has another kind than the object. */
const otherBodies: ReadonlyMap<string, OtherBody> = new Map<string, OtherBody>([
  ['binding', ['Binding', 'v1']],
  ['eviction', ['Eviction', 'policy/v1beta1']],
  ['scale', ['Scale', 'autoscaling/v1']],
  ['token', ['TokenRequest', 'authentication.k8s.io/v1', fillInTokenRequest]],
])

/** The object in a create or update; undefined for other requests. */
export function sentObject(exchange: Exchange): Loose | undefined {
  const { body, kind, target, types } = exchange
  if (body === undefined || body.length === 0 || kind === undefined) return undefined
  if (target.verb !== 'create' && target.verb !== 'update') return undefined
  try {
    const { subresource } = target
    const taken = types && bodyTypeOf({ kind, subresource }, types)
    const sent = decodeBody(exchange, kind, body, taken)
    return typeof sent === 'object' && sent !== null ? (sent as Loose) : undefined
  } catch {
    return undefined
  }
}

/** The request object as JSON. */
export function requestText(
  exchange: Exchange,
  sent: Loose | undefined,
  release: Release,
): string | undefined {
  const { body, kind, target } = exchange
  if (body === undefined || body.length === 0 || kind === undefined) return undefined
  try {
    if (sent !== undefined) return objectText(exchange, kind, sent, release)
    if (target.verb === 'patch') return patchText(exchange, body)
    return target.verb.startsWith('delete') ? optionsText(exchange, kind, body, release) : undefined
  } catch {
    return undefined
  }
}

function objectText(
  { target: { subresource }, types }: Exchange,
  kind: Kind,
  sent: Loose,
  release: Release,
): string | undefined {
  const other = otherBodies.get(subresource)
  const [name, apiVersion, fillIn] = other ?? [
    kind.kind,
    kind.apiVersion,
    (object: KubeObject) => kind.applyDefaults(object),
  ]
  if ((sent.kind ?? name) !== name) return undefined
  if (!other && (sent.apiVersion ?? apiVersion) !== apiVersion) return undefined
  const object = other
    ? otherObject(types?.typeNamed(sent.apiVersion ?? apiVersion, name), sent)
    : kind.conform(sent).object
  fillIn?.(object)
  const { kind: _, apiVersion: stated = apiVersion, metadata, ...rest } = object
  const { creationTimestamp, ...others } = metadata ?? {}
  const stamped = creationTimestamp ? metadata : { ...others, ...unsetCreationTime(release.minor) }
  return JSON.stringify({ kind: name, apiVersion: stated, metadata: stamped, ...rest })
}

const otherObject = (type: Type | undefined, sent: Loose): KubeObject => {
  const { kind, apiVersion, ...rest } = sent
  const read = type === undefined ? rest : (conform(type, rest as Json).value as Loose)
  return { ...read, kind, apiVersion } as KubeObject
}

function patchText(exchange: Exchange, body: Buffer): string {
  const type = String(exchange.wire.headers['content-type'] ?? '')
  if (type.includes('cbor')) return loadCbor().configurationText(body).toString()
  return JSON.stringify(type.includes('yaml') ? decodeYaml(body) : JSON.parse(body.toString()))
}

const optionsKind = 'DeleteOptions'
const internalVersion = 'meta.k8s.io/__internal'
const optionsAreInternal = change('the audit log has DeleteOptions in their internal version', {
  since: 25,
})

/**
 * Options are recorded in the version of the body, or else in that of the collection. If the
 * collection's group does not know the version, nothing is recorded.
 */
function optionsText(
  exchange: Exchange,
  kind: Kind,
  body: Buffer,
  release: Release,
): string | undefined {
  const { target, types } = exchange
  const taken = optionsTypeOf({ kind, name: target.name }, release.minor)
  const sent = (decodeBody(exchange, kind, body, taken) ?? {}) as Loose
  const { kind: name = optionsKind, apiVersion: stated, ...rest } = sent
  const apiVersion =
    stated ?? (target.name === '' && kind.origin === 'built-in' ? kind.apiVersion : '')
  const isKnown =
    kind.decoding === 'typed'
      ? types && isKnownType(types, kind.apiVersion, apiVersion, optionsKind)
      : apiVersion === kind.apiVersion
  const isInternal = release.has(optionsAreInternal)
  if (name !== optionsKind || !(isKnown || (isInternal && stated === undefined))) return undefined
  const type = taken.typeNamed(apiVersion, optionsKind)
  const options = type === undefined ? rest : conform(type, rest as Json).value
  const shown = isInternal ? internalVersion : apiVersion
  return JSON.stringify({ kind: optionsKind, apiVersion: shown, ...(options as Loose) })
}
