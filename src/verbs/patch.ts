/**
 * PATCH: the patch is applied to the object in the version of the request. The result is processed
 * like an update. A lost race is retried unless the patch names a resourceVersion.
 */
import { invalid } from '#api/field-error.ts'
import type { Json, KubeObject, Loose } from '#api/object-meta.ts'
import { change, releaseOf } from '#api/releases/change.ts'
import { ApiError, badRequest, invalidObject, notFound } from '#api/status-error.ts'
import { copyData } from '#base/copy-data.ts'
import { loadLater } from '#base/load-later.ts'
import { firstValue } from '#codec/first-value.ts'
import { decodeWritten, isOdd, isTooLarge, JsonError, markOdd } from '#codec/json.ts'
import type { Kind } from '#kinds/kind.ts'
import { blamesPatches } from '#api/release-words.ts'
import { applyMergePatch } from '#patch/merge-patch.ts'
import type { Type } from '#schema/type.ts'
import type { Answer } from './answer.ts'
import {
  conformAs,
  conformRaw,
  fromHub,
  reportUnknown,
  requireMatchingName,
  toHub,
} from './decode.ts'
import { claimFields } from './ownership.ts'
import type { PatchRequest, Server, Target } from './server.ts'
import { Unconvertible } from './unconvertible.ts'
import { raceTriesMax, writeOver } from './write-over.ts'

/** Each patch format is loaded on first use. */
const later = <Module>(path: string) => loadLater<Module>(import.meta.url, path)
const load = {
  apply: later<typeof import('./apply.ts')>('./apply'),
  goValue: later<typeof import('#patch/go-value.ts')>('#patch/go-value'),
  json: later<typeof import('#patch/json-patch.ts')>('#patch/json-patch'),
  numbers: later<typeof import('#codec/go-json/written-number.ts')>(
    '#codec/go-json/written-number',
  ),
  order: later<typeof import('#patch/patched-order.ts')>('#patch/patched-order'),
  nilBytes: later<typeof import('#patch/nil-bytes.ts')>('#patch/nil-bytes'),
  type: later<typeof import('./patch-type.ts')>('./patch-type'),
  undeclared: later<typeof import('#schema/undeclared.ts')>('#schema/undeclared'),
  strategic: later<typeof import('#patch/strategic-merge.ts')>('#patch/strategic-merge'),
  text: later<typeof import('./patch-text.ts')>('./patch-text'),
}

export async function patch(server: Server, request: PatchRequest): Promise<Answer> {
  load.text().requirePatchText(request, server.release)
  if (request.patchType === 'apply') return load.apply().apply(server, request)
  const { kind, name } = request.target
  const { behaviour } = kind.resource
  return writeOver(server, request, {
    creates: false,
    unconditional: behaviour.unconditionalUpdate ?? true,
    versionCheckedWithMetadata:
      request.target.subresource === '' && behaviour.versionCheckedWithMetadata,
    retries: raceTriesMax,
    async make(live) {
      if (live === undefined) throw notFound(kind, name)
      const before = await fromHub(kind, copyData(live))
      before.kind = kind.kind
      before.apiVersion = kind.apiVersion
      const next = await patched(server, request, before)
      requireMatchingName(next, request, server.release)
      await claimFields(server, request, next, live, asPatched(request, server))
      return next
    },
  })
}

const patchesForgetEmptyBytes = change('a strategic merge patch takes over empty bytes', {
  until: 23,
})

/** Until 1.23, a strategic merge patch hides empty byte arrays from field ownership. */
function asPatched({ patchType, target: { kind } }: PatchRequest, { release }: Server) {
  if (patchType !== 'strategic') return undefined
  if (!releaseOf(release).has(patchesForgetEmptyBytes)) return undefined
  return (object: KubeObject) =>
    load.nilBytes().withNilBytes(kind.type, object as Json) as unknown as KubeObject
}

/** The patched object in the hub version, canonical and with defaults. */
async function patched(
  server: Server,
  request: PatchRequest,
  before: KubeObject,
): Promise<KubeObject> {
  const { kind } = request.target
  const lost: string[] = []
  const { release } = server
  const as = { type: kind.type, typed: kind.decoding === 'typed', lost, release }
  const way: PatchWay = {
    apply: (to) => rawPatched(request, to, as),
    // Defaulted fields are last in the object; decoding it again puts them in the order of the
    // type.
    inOrder: (object) =>
      kind.decoding === 'typed' ? kind.conform(copyData(object)).object : object,
  }
  const read = orInvalidPatch(release, request, before, way, (given) => {
    const as = kind.decoding === 'typed' ? versionOf(server, kind, given) : kind
    if (as === undefined) {
      reportAsInternal(requireObject(given), request, kind)
      return undefined
    }
    const object = conformRaw(as, requireObject(given), request, server, textOf(given), lost)
    return { object, as }
  })
  if (read === undefined) throw nameless(request.target)
  read.as.applyDefaults(read.object)
  return toHub(read.as, read.object)
}

/** The version of a patched object, which the patch may have changed. */
function versionOf(server: Server, kind: Kind, raw: Json): Kind | undefined {
  const given = requireObject(raw)
  if (given.apiVersion === kind.apiVersion && given.kind === kind.kind) return kind
  const { resource } = kind
  const isOneOf = (apiVersion: string) => resource.kindOf(apiVersion) !== undefined
  const { patchedVersion, readAsAny } = load.type()
  const readAs = readAsAny(server, kind.apiVersion, textOf(raw))
  const version = patchedVersion(kind, raw, isOneOf, readAs, server.release)
  return version === undefined ? undefined : resource.kindOf(version)
}

/**
 * kube-apiserver decodes an object without a version as its internal type, whose fields have no
 * JSON names: everything but the kind is an unknown field.
 */
function reportAsInternal(
  raw: Loose,
  request: PatchRequest,
  named: { kind: string; version: string },
): void {
  const unknown = Object.keys(raw).filter((key) => key !== 'apiVersion' && key !== 'kind')
  reportUnknown({ unknown: unknown.sort() }, request, named)
}

/** Such an object therefore has no name either. */
const nameless = ({ name }: Target): ApiError =>
  badRequest(
    `the name of the object (${name} based on URL) was undeterminable: name must be provided`,
  )

/** Applies a patch to a value whose kind differs from that of the resource, such as a Scale. */
export function patchedAs(
  server: Server,
  apiVersion: string,
  kind: string,
  request: PatchRequest,
  before: KubeObject,
): KubeObject {
  const lost: string[] = []
  const { release } = server
  const type = server.typeNamed(apiVersion, kind) as Type
  const as = { type, typed: true, lost, release }
  const way: PatchWay = { apply: (to) => rawPatched(request, to, as), inOrder: (object) => object }
  const isIt = (stated: string) => stated === apiVersion
  const read = orInvalidPatch(release, request, before, way, (made) => {
    const given = requireObject(made)
    const { patchedVersion, readAsAny } = load.type()
    const readAs = readAsAny(server, apiVersion, textOf(made))
    const stated = patchedVersion({ apiVersion, kind }, made, isIt, readAs, server.release)
    if (stated !== undefined)
      return conformAs(server, apiVersion, kind, request, given, textOf(made), lost)
    reportAsInternal(given, request, { kind, version: '' })
    return undefined
  })
  if (read === undefined) throw nameless(request.target)
  return read
}

/** Encodes a patched object, because it is decoded again from its text. */
const textOf = (raw: Json) => () => Buffer.from(load.numbers().textWithNumbers(raw))

/** Applies the patch to an object; `inOrder` sorts an object's members in the order of its type. */
interface PatchWay {
  readonly apply: (to: KubeObject) => Json
  readonly inOrder: (object: KubeObject) => KubeObject
}

/**
 * If the result cannot be decoded, the patch is invalid: 422 with the result in the message, as in
 * kube-apiserver.
 */
function orInvalidPatch<Read>(
  release: number,
  request: PatchRequest,
  before: KubeObject,
  { apply, inOrder }: PatchWay,
  read: (raw: Json) => Read,
): Read {
  const raw = apply(before)
  const unreadable = faultOf(() => read(raw))
  if (!('fault' in unreadable)) return unreadable.read
  const { fault } = unreadable
  if (request.patchType === 'strategic' && fault instanceof Unconvertible) throw fault.asFailure()
  const ordered = inOrder(before)
  const shown = patchedInOrder(request, ordered, apply(ordered))
  if (fault.message.startsWith('strict')) throw strictFault(release, request, fault, shown)
  const again = faultOf(() => read(shown))
  const { message } = 'fault' in again ? again.fault : fault
  const why = message.replace(asWhat, '')
  if (!releaseOf(release).has(blamesPatches)) throw new ApiError(500, '', why)
  throw invalidObject({ group: '', kind: '' }, '', [invalid('patch', shownPatched(shown), why)])
}

const showsStrictPatches = change('a patch with unknown fields is invalid and is shown', {
  since: 23,
})

/** The error contains the patched object, or for a strategic merge patch the patch itself. */
function strictFault(release: number, request: PatchRequest, fault: ApiError, raw: Json): ApiError {
  if (!releaseOf(release).has(showsStrictPatches)) return fault
  const shown =
    request.patchType === 'strategic'
      ? load.goValue().goValue(patchBody(request.patchBytes))
      : shownPatched(raw)
  return invalidObject({ group: '', kind: '' }, '', [invalid('patch', shown, fault.message)])
}

function faultOf<Read>(read: () => Read): { readonly read: Read } | { readonly fault: ApiError } {
  try {
    return { read: read() }
  } catch (error) {
    if (!(error instanceof ApiError) || error.code !== 400) throw error
    return { fault: error }
  }
}

/** The patched object with its members in kube-apiserver's order. */
function patchedInOrder(request: PatchRequest, before: KubeObject, raw: Json): Json {
  const { patchType, patchBytes } = request
  if (patchType === 'strategic' || !isObject(raw)) return raw
  const document = before as unknown as { [key: string]: Json }
  const patch = patchBody(patchBytes)
  const { allSorted, mergedOrder, operatedOrder } = load.order()
  const ordered = () =>
    patchType === 'json' ? operatedOrder(raw, patch) : mergedOrder(raw, document, patch)
  // In kube-apiserver custom objects are maps, whose keys are sorted; their scales are structs.
  const { kind, subresource } = request.target
  const isMaps = kind.decoding === 'free' && subresource !== 'scale'
  const shown = isMaps ? allSorted(raw) : withVersionEarly(ordered(), before)
  if (isOdd(raw)) markOdd(shown)
  return shown
}

/** Moves resourceVersion behind the uid, unless the keys are sorted. */
function withVersionEarly(shown: Json, { metadata: { resourceVersion, uid } }: KubeObject): Json {
  const { metadata } = shown as Loose
  if (!isObject(metadata) || Object.keys(metadata).at(-1) !== 'resourceVersion') return shown
  if (metadata.uid !== uid || metadata.resourceVersion !== resourceVersion) return shown
  const members = Object.entries(metadata).slice(0, -1)
  const at = members.findIndex(([name]) => name === 'uid') + 1
  members.splice(at, 0, ['resourceVersion', resourceVersion])
  return { ...(shown as Loose), metadata: Object.fromEntries(members) }
}

/** The error of a patch omits the prefix about the type. */
const asWhat = /^\S+ in version "[^"]*" cannot be handled as a \S+: /

const shownPatched = (raw: Json): string =>
  Array.isArray(raw) ? JSON.stringify(inKeyOrder(raw)) : load.numbers().textWithNumbers(raw)

/** If a patch replaces the whole object, the error shows it with sorted keys. */
function inKeyOrder(value: Json): Json {
  if (value === null || typeof value !== 'object') return value
  if (Array.isArray(value)) return value.map(inKeyOrder)
  const sorted = Object.keys(value).sort()
  return Object.fromEntries(sorted.map((key) => [key, inKeyOrder(value[key])]))
}

/**
 * `typed`: the result is decoded with a Go type, which depends on the digits of numbers. `lost`
 * collects the fields that a strategic merge patch drops.
 */
interface PatchedAs {
  readonly type: Type
  readonly typed: boolean
  readonly lost: string[]
  readonly release: number
}

function rawPatched(
  request: PatchRequest,
  before: KubeObject,
  { type, typed, lost, release }: PatchedAs,
): Json {
  const document = before as unknown as { [key: string]: Json }
  const { patchType, patchBytes } = request
  if (patchType === 'strategic') {
    const onDropped =
      request.options.fieldValidation === 'Ignore'
        ? undefined
        : (whole: Json, kept: Json) => {
            for (const path of load.undeclared().undeclared(type, whole, kept)) lost.push(path)
          }
    const body = releaseOf(release).has(readsWholeText)
      ? patchBody(patchBytes)
      : firstValueOf(patchBytes)
    return load.strategic().applyStrategicMerge(type, document, body, release, onDropped)
  }
  const body = patchBody(patchBytes)
  load.text().requirePatchShape(request, body, release)
  const applied = patchType === 'json' ? load.json().applyJsonPatch : applyMergePatch
  const apply = (to: typeof document, patch: Json) => applied(to, patch, release)
  const plain = apply(document, body)
  if (!isOdd(body) || tests(body) || !isObject(plain)) return plain
  if (!typed && !isTooLarge(body)) return plain
  const raw = apply(document, load.numbers().withWrittenNumbers(patchBytes)) as Loose
  markOdd(raw)
  // A number as apiVersion or kind is wrong whatever its digits.
  const { apiVersion, kind } = plain as Loose
  if (typeof apiVersion === 'number') raw.apiVersion = apiVersion
  if (typeof kind === 'number') raw.kind = kind
  return raw
}

const isObject = (raw: Json): raw is Loose =>
  raw !== null && typeof raw === 'object' && !Array.isArray(raw)

/** A `test` operation compares numbers by value, whatever their digits. */
const tests = (body: Json): boolean =>
  Array.isArray(body) && body.some((operation) => (operation as Loose | null)?.op === 'test')

function patchBody(bytes: Buffer): Json {
  try {
    return decodeWritten(bytes)
  } catch (error) {
    if (error instanceof JsonError) throw badRequest(error.message)
    throw error
  }
}

const readsWholeText = change('a strategic merge patch is one JSON value and nothing else', {
  since: 23,
})

/**
 * Until 1.23, kube-apiserver read a strategic merge patch as a stream: it used the first value and
 * ignored the rest.
 */
function firstValueOf(bytes: Buffer): Json {
  try {
    return decodeWritten(bytes)
  } catch (error) {
    if (!(error instanceof JsonError)) throw error
    if (error.message.endsWith('after top-level value')) return patchBody(firstValue(bytes))
    const ends = error.message === 'unexpected end of JSON input'
    if (!ends) throw badRequest(error.message)
    throw badRequest(/\S/.test(bytes.toString('utf8')) ? 'unexpected EOF' : 'EOF')
  }
}

function requireObject(raw: Json): Loose {
  if (isObject(raw)) return raw
  throw badRequest(
    `couldn't get version/kind; json parse error: json: cannot unmarshal ${Array.isArray(raw) ? 'array' : typeof raw} into Go value of type struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }`,
  )
}
