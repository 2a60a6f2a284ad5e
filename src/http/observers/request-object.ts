/**
 * What a request sent, as the audit log tells it: bodies of creations and updates as they were understood, defaults filled in,
 * patches as they are. A body that could not be read is not told.
 */
import type { Json, KubeObject, Loose } from '#api/object-meta.ts'
import { decodeYaml } from '#codec/yaml.ts'
import { decodeBody } from '#http/body.ts'
import type { Exchange } from '#http/exchange.ts'
import { takenBy } from '#http/write-request.ts'
import type { Kind } from '#kinds/kind.ts'
import { conform } from '#schema/conform.ts'
import type { Type } from '#schema/type.ts'
import { fillInTokenRequest } from '#verbs/special/token.ts'

type OtherBody = readonly [kind: string, apiVersion: string, fillIn?: (body: KubeObject) => void]

/** Bodies of subresources that are of another kind than the object. */
const otherBodies: ReadonlyMap<string, OtherBody> = new Map<string, OtherBody>([
  ['binding', ['Binding', 'v1']],
  ['eviction', ['Eviction', 'policy/v1beta1']],
  ['scale', ['Scale', 'autoscaling/v1']],
  ['token', ['TokenRequest', 'authentication.k8s.io/v1', fillInTokenRequest]],
])

/** The object a creation or an update sent; undefined for other requests. */
export function sentObject(exchange: Exchange): Loose | undefined {
  const { body, kind, target, typeNamed } = exchange
  if (body === undefined || body.length === 0 || kind === undefined) return undefined
  if (target.verb !== 'create' && target.verb !== 'update') return undefined
  try {
    const { subresource } = target
    const taken =
      typeNamed === undefined ? undefined : takenBy({ kind, subresource }, { typeNamed })
    const sent = decodeBody(exchange, kind, body, taken)
    return typeof sent === 'object' && sent !== null ? (sent as Loose) : undefined
  } catch {
    return undefined
  }
}

/** JSON of what was sent. */
export function requestText(exchange: Exchange, sent: Loose | undefined): string | undefined {
  const { body, kind, target } = exchange
  if (body === undefined || body.length === 0 || kind === undefined) return undefined
  try {
    if (sent !== undefined) return objectText(exchange, kind, sent)
    if (target.verb === 'patch') return patchText(exchange, body)
    return target.verb.startsWith('delete') ? optionsText(body) : undefined
  } catch {
    return undefined
  }
}

function objectText(
  { target: { subresource }, typeNamed }: Exchange,
  kind: Kind,
  sent: Loose,
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
    ? otherObject(typeNamed?.(sent.apiVersion ?? apiVersion, name), sent)
    : kind.conform(sent).object
  fillIn?.(object)
  const { kind: _, apiVersion: said = apiVersion, metadata, ...rest } = object
  const stamped = { ...metadata, creationTimestamp: metadata?.creationTimestamp ?? null }
  return JSON.stringify({ kind: name, apiVersion: said, metadata: stamped, ...rest })
}

const otherObject = (type: Type | undefined, sent: Loose): KubeObject => {
  const { kind, apiVersion, ...rest } = sent
  const read = type === undefined ? rest : (conform(type, rest as Json).value as Loose)
  return { ...read, kind, apiVersion } as KubeObject
}

function patchText(exchange: Exchange, body: Buffer): string {
  const type = String(exchange.wire.headers['content-type'] ?? '')
  return JSON.stringify(type.includes('yaml') ? decodeYaml(body) : JSON.parse(body.toString()))
}

/** Options are told where they say what they are. */
function optionsText(body: Buffer): string | undefined {
  const options = JSON.parse(body.toString())
  const isNamed = options.kind === 'DeleteOptions' && options.apiVersion === 'v1'
  return isNamed ? JSON.stringify(options) : undefined
}
