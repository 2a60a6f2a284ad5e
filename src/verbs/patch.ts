/**
 * PATCH: a change described by its difference. The patch is applied to the version the request speaks; the result goes
 * through everything an update goes through. A lost race is tried again unless the patch names a resourceVersion.
 */
import { invalid } from '#api/field-error.ts'
import type { Json, KubeObject, Loose } from '#api/object-meta.ts'
import { ApiError, badRequest, invalidObject, notFound } from '#api/status-error.ts'
import { copyData } from '#base/copy-data.ts'
import { loadLater } from '#base/load-later.ts'
import { firstValue } from '#codec/first-value.ts'
import { decodeJson, JsonError } from '#codec/json.ts'
import { applyMergePatch } from '#patch/merge-patch.ts'
import type { Type } from '#schema/type.ts'
import type { Answer } from './answer.ts'
import { conformAs, conformRaw, fromHub, requireMatchingName, toHub } from './decode.ts'
import { claimFields } from './ownership.ts'
import type { PatchRequest, Server } from './server.ts'
import { raceTriesMax, writeOver } from './write-over.ts'

/** Each way to patch is loaded when it is first used. */
const later = <Module>(path: string) => loadLater<Module>(import.meta.url, path)
const load = {
  apply: later<typeof import('./apply.ts')>('./apply'),
  json: later<typeof import('#patch/json-patch.ts')>('#patch/json-patch'),
  nilBytes: later<typeof import('#patch/nil-bytes.ts')>('#patch/nil-bytes'),
  strategic: later<typeof import('#patch/strategic-merge.ts')>('#patch/strategic-merge'),
}

export async function patch(server: Server, request: PatchRequest): Promise<Answer> {
  if (request.patchType === 'apply') return load.apply().apply(server, request)
  const { kind, name } = request.target
  const { behaviour } = kind.resource
  return writeOver(server, request, {
    creates: false,
    unconditional: behaviour.unconditionalUpdate ?? true,
    retries: raceTriesMax,
    async make(live) {
      if (live === undefined) throw notFound(kind, name)
      const before = await fromHub(kind, copyData(live))
      before.kind = kind.kind
      before.apiVersion = kind.apiVersion
      const next = await toHub(kind, patched(request, before))
      requireMatchingName(next, request)
      await claimFields(server, request, next, live, asPatched(request))
      return next
    },
  })
}

/** After a strategic merge patch bytes that are empty are gone, as far as ownership can see. */
function asPatched({ patchType, target: { kind } }: PatchRequest) {
  if (patchType !== 'strategic') return undefined
  return (object: KubeObject) =>
    load.nilBytes().withNilBytes(kind.type, object as Json) as unknown as KubeObject
}

/** The patched object, canonical and defaulted. */
function patched(request: PatchRequest, before: KubeObject): KubeObject {
  const { kind } = request.target
  const raw = rawPatched(request, before, kind.type)
  const object = orInvalidPatch(raw, () =>
    conformRaw(kind, kind.protobuf ? requireSameType(kind, raw) : requireObject(raw), request),
  )
  kind.applyDefaults(object)
  return object
}

/** A patched value of another kind than the resource's own. */
export function patchedAs(
  server: Server,
  apiVersion: string,
  kind: string,
  request: PatchRequest,
  before: KubeObject,
): KubeObject {
  const raw = rawPatched(request, before, server.typeNamed(apiVersion, kind) as Type)
  return orInvalidPatch(raw, () =>
    conformAs(server, apiVersion, kind, request, requireSameType({ apiVersion, kind }, raw)),
  )
}

/** What cannot be read after the patch is the patch's fault: 422, with the result in the message. */
function orInvalidPatch(raw: Json, read: () => KubeObject): KubeObject {
  try {
    return read()
  } catch (error) {
    if (!(error instanceof ApiError) || error.code !== 400 || error.message.startsWith('strict'))
      throw error
    throw invalidObject({ group: '', kind: '' }, '', [
      invalid('patch', JSON.stringify(Array.isArray(raw) ? inKeyOrder(raw) : raw), error.message),
    ])
  }
}

/** A patch that replaces the whole object is shown with its keys sorted. */
function inKeyOrder(value: Json): Json {
  if (value === null || typeof value !== 'object') return value
  if (Array.isArray(value)) return value.map(inKeyOrder)
  const sorted = Object.keys(value).sort()
  return Object.fromEntries(sorted.map((key) => [key, inKeyOrder(value[key])]))
}

function rawPatched(request: PatchRequest, before: KubeObject, type: Type): Json {
  const document = before as unknown as { [key: string]: Json }
  const body =
    request.patchType === 'strategic'
      ? firstValueOf(request.patchBytes)
      : patchBody(request.patchBytes)
  switch (request.patchType) {
    case 'json':
      return load.json().applyJsonPatch(document, body)
    case 'merge':
      return applyMergePatch(document, body)
    default:
      return load.strategic().applyStrategicMerge(type, document, body)
  }
}

function patchBody(bytes: Buffer): Json {
  try {
    return decodeJson(bytes)
  } catch (error) {
    if (error instanceof JsonError) throw badRequest(error.message)
    throw error
  }
}

/** A strategic patch is read as a stream: the first value counts, and what follows it is nobody's. */
function firstValueOf(bytes: Buffer): Json {
  try {
    return decodeJson(bytes)
  } catch (error) {
    if (!(error instanceof JsonError)) throw error
    if (error.message.endsWith('after top-level value')) return patchBody(firstValue(bytes))
    const ends = error.message === 'unexpected end of JSON input'
    if (!ends) throw badRequest(error.message)
    throw badRequest(/\S/.test(bytes.toString('utf8')) ? 'unexpected EOF' : 'EOF')
  }
}

function requireObject(raw: Json): Loose {
  if (raw === null || typeof raw !== 'object' || Array.isArray(raw)) {
    throw badRequest(
      `couldn't get version/kind; json parse error: json: cannot unmarshal ${Array.isArray(raw) ? 'array' : typeof raw} into Go value of type struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }`,
    )
  }
  return raw
}

function requireSameType(
  { kind, apiVersion }: { kind: string; apiVersion: string },
  given: Json,
): Loose {
  const raw = requireObject(given)
  if (raw.kind === kind && raw.apiVersion === apiVersion) return raw
  throw badRequest(
    `${String(raw.kind ?? '')} in version "${String(raw.apiVersion ?? '')}" cannot be handled as a ${kind}`,
  )
}
