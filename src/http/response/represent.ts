/**
 * Converts cached objects to the version of a request. Usually the stored bytes are sent unchanged,
 * with the type header and the revision inserted. A conversion to a version with a different schema
 * is done once and cached.
 */
import { after } from '#base/awaitable.ts'
import type { KubeObject } from '#api/object-meta.ts'
import { type CutObject, encodeCut, joinCut, revisionText, typeHeader } from '#codec/cut-object.ts'
import type { Kind } from '#kinds/kind.ts'
import type { ObjectView } from '#verbs/answer.ts'
import { convertOne } from '#verbs/current.ts'
import type { Server } from '#verbs/server.ts'
import type { ParseStored } from '#watchcache/entry.ts'

/** What the encoders of other representations need. */
export interface ShapeParts {
  readonly server: Pick<Server, 'clock' | 'parseStored' | 'release'>
}

const headers = new WeakMap<Kind, string>()

/** `{"kind":"Pod","apiVersion":"v1",` */
export function headerOf(kind: Kind): string {
  let header = headers.get(kind)
  if (header === undefined) {
    header = typeHeader(kind.kind, kind.apiVersion)
    headers.set(kind, header)
  }
  return header
}

interface Converted {
  readonly kind: Kind
  readonly cut: CutObject
}
/**
 * Cached conversions by apiVersion. After a definition has changed, new conversions replace the old
 * ones.
 */
const converted = new WeakMap<CutObject, Map<string, Converted>>()

function knownCut(kind: Kind, { cut }: ObjectView): CutObject | undefined {
  const known = converted.get(cut)?.get(kind.apiVersion)
  return known?.kind === kind ? known.cut : undefined
}

/** The bytes of an object in the requested version, without its type header. */
export function cutFor(
  kind: Kind,
  view: ObjectView,
  parse: ParseStored,
): CutObject | Promise<CutObject> {
  if (view.apiVersion === kind.apiVersion) return view.cut
  const from = kind.resource.kindOf(view.apiVersion)
  if (from === undefined || kind.resource.sameShape(from, kind)) return view.cut
  const known = knownCut(kind, view)
  if (known !== undefined) return known
  return after(convertOne(parse(view.cut.bytes), from, kind), (object) =>
    remember(kind, view, object),
  )
}

function remember(kind: Kind, view: ObjectView, object: KubeObject): CutObject {
  const cut = encodeCut(object)
  const versions = converted.get(view.cut) ?? new Map<string, Converted>()
  versions.set(kind.apiVersion, { kind, cut })
  converted.set(view.cut, versions)
  return cut
}

/**
 * Converts the objects of a list with one conversion per stored version, so that a webhook is
 * called once for each.
 */
export async function convertTogether(
  kind: Kind,
  views: readonly ObjectView[],
  parse: ParseStored,
): Promise<void> {
  const missing = views.filter((view) => knownCut(kind, view) === undefined)
  await convertAll(kind, missing, parse)
}

/** Converts those objects that need it. Concurrent requests may convert the same objects. */
async function convertAll<View extends ObjectView>(
  kind: Kind,
  views: readonly View[],
  parse: ParseStored,
): Promise<Map<View, CutObject>> {
  const byVersion = new Map<Kind, View[]>()
  for (const view of views) {
    if (view.apiVersion === kind.apiVersion) continue
    const from = kind.resource.kindOf(view.apiVersion)
    if (from === undefined || kind.resource.sameShape(from, kind)) continue
    const same = byVersion.get(from)
    if (same === undefined) byVersion.set(from, [view])
    else same.push(view)
  }
  const made = new Map<View, CutObject>()
  for (const [from, same] of byVersion) {
    const objects = await kind.resource.convert(
      same.map((view) => parse(view.cut.bytes)),
      from,
      kind,
    )
    for (const [i, view] of same.entries())
      made.set(view, remember(kind, view, objects[i] as KubeObject))
  }
  return made
}

/** Converts views without the cache, because reads must return the webhook's current result. */
export async function convertedUncached<View extends ObjectView>(
  kind: Kind,
  views: readonly View[],
  parse: ParseStored,
): Promise<View[]> {
  const made = await convertAll(kind, views, parse)
  const { apiVersion } = kind
  return views.map((view) => ({ ...view, cut: made.get(view) ?? view.cut, apiVersion }))
}

/** The path of an object, or of a collection if `name` is empty. */
export function pathOf(
  { group, apiVersion, plural, namespaced }: Kind,
  namespace: string,
  name: string,
  subresource = '',
): string {
  const root = group === '' ? `/api/${apiVersion}` : `/apis/${apiVersion}`
  const place = namespaced && namespace !== '' ? `/namespaces/${namespace}/${plural}` : `/${plural}`
  if (name === '') return root + place
  // kube-apiserver escapes the names of cluster-scoped objects like query values.
  const below = subresource === '' ? '' : `/${subresource}`
  return `${root}${place}/${namespaced ? escapePath(name) : escapeQuery(name)}${below}`
}

/** The selfLink of an object, in the releases that have it. */
export const selfLinkOf = (kind: Kind, { namespace, name }: ObjectView) =>
  kind.selfLinks && { selfLink: pathOf(kind, namespace, name) }

const simpleName = /^[-.\w]*$/
const escaped = (character: string): string =>
  `%${character.charCodeAt(0).toString(16).toUpperCase()}`

/** Escapes like Go's url.PathEscape. */
const escapePath = (name: string): string =>
  simpleName.test(name) ? name : encodeURI(name.toWellFormed()).replace(/[?#!*'()]/g, escaped)

/** Escapes like Go's url.QueryEscape. */
const escapeQuery = (name: string): string =>
  simpleName.test(name)
    ? name
    : encodeURIComponent(name.toWellFormed())
        .replaceAll('%20', '+')
        .replace(/[!*'()]/g, escaped)

/**
 * The text inserted into the bytes: the revision unless it is 0, and the selfLink in the releases
 * that have it.
 */
export function insertedText(
  kind: Kind,
  { namespace, name, revision, subresource }: Omit<ObjectView, 'cut' | 'apiVersion'>,
): string {
  const version = revision ? revisionText(revision) : ''
  if (kind.selfLinks !== true) return version
  return `,"selfLink":${JSON.stringify(pathOf(kind, namespace, name, subresource))}${version}`
}

/** JSON of one object with its type header and revision. */
export const jsonOf = (kind: Kind, cut: CutObject, view: ObjectView, end = ''): Buffer =>
  joinCut(cut, headerOf(kind), insertedText(kind, view), end)

/** The items of lists of built-in kinds have no kind and apiVersion. */
export const withoutType = ({ kind: _kind, apiVersion: _apiVersion, ...rest }: KubeObject) => rest

/** The decoded object, for representations other than JSON. */
export async function objectFor(
  kind: Kind,
  view: ObjectView,
  parse: ParseStored,
): Promise<KubeObject> {
  const known = knownCut(kind, view)
  const from = known === undefined ? (kind.resource.kindOf(view.apiVersion) ?? kind) : kind
  const requested = await convertOne(parse((known ?? view.cut).bytes), from, kind)
  requested.kind = kind.kind
  requested.apiVersion = kind.apiVersion
  if (kind.selfLinks) {
    requested.metadata.selfLink = pathOf(kind, view.namespace, view.name, view.subresource)
  }
  if (view.revision) requested.metadata.resourceVersion = String(view.revision)
  return requested
}
