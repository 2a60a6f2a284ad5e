/**
 * What a server says of one changed field: the row that is kept of it, the request it stands for,
 * and what counts of the answer. Of a refusal that is every problem with its field, in any order;
 * of an object that was taken, a digest of all but its metadata.
 */
import { createHash } from 'node:crypto'
import type { Json } from '#api/object-meta.ts'
import { changed, type FieldChange } from './field-changes.ts'
import type { DeclaredValues } from './random-value.ts'
import type { Step } from './two-servers.ts'
import type { WalkedObject } from './walked-objects.ts'
import type { Body, Place } from './walked-place.ts'

export const ways = ['create', 'update', 'status'] as const
export type Way = (typeof ways)[number]

/** Problems, or `#` and a digest. `value`: nothing where the field is taken out. */
export type RuleRow = readonly [
  place: string,
  way: Way,
  path: FieldChange['path'],
  value: readonly [] | readonly [Json],
  told: readonly string[] | string,
]

export const changeOf = ([, , path, value]: RuleRow, id: string): FieldChange => ({
  path,
  value:
    value.length === 0 ? undefined : JSON.parse(JSON.stringify(value[0]).replaceAll('{id}', id)),
})

/** A row in the list of those that differ: the same name in every recording of the row. */
export const titleOf = ([place, way, path, value]: RuleRow): string =>
  `${place} ${way} ${path.join('.')} ${digestOf(JSON.stringify(value)).slice(1)}`

/** Shapes of several versions are called alike. */
export const nameOf = ({ at, plural, shape }: WalkedObject): string => `${at} ${plural}/${shape}`

/** Kinds whose objects show who made them, or whose status the server itself keeps up to date. */
const ofTheMoment =
  /^\S+ (flowschemas|prioritylevel|servicecidrs|apiservices|customresourced|certificatesigning)/

/** Whether two servers make the same of what they take, every time. */
export const isLasting = (name: string, way: Way): boolean =>
  !ofTheMoment.test(name) && (way === 'create' || !name.includes(' horizontal'))

/** `version`: that of the object which is replaced. */
export function stepOf(
  place: Place,
  way: Way,
  change: FieldChange,
  declared: DeclaredValues,
  version: string,
): Step {
  const body = changed(place.object, place.type, change, declared)
  if (way === 'create') return { method: 'POST', path: `${place.path}?dryRun=All`, body }
  const metadata = { resourceVersion: version, ...(body.metadata as Body) }
  const path = `${place.itemPath}${way === 'status' ? '/status' : ''}?dryRun=All`
  return { method: 'PUT', path, body: { ...body, metadata } }
}

interface Told {
  readonly details?: { readonly causes?: readonly { field?: string; message?: string }[] }
  readonly metadata?: unknown
}

/** Undefined: an answer of another kind, or one in which two servers never agree. */
export function problemsIn(status: number, text: string, id: string): RuleRow[4] | undefined {
  if (status === 0) return undefined
  const body = JSON.parse(text.replaceAll(id, '{id}')) as Told
  if (status === 422) {
    const told = (body.details?.causes ?? []).map(({ field, message }) =>
      // After the first line kube-apiserver shows the difference, in a form of its own.
      `${field}: ${message?.split('\n', 1)[0]}`.replace(chosen, '$1'),
    )
    return told.some((one) => ofOneServer.test(one)) ? undefined : told.sort().map(shortened)
  }
  if (status >= 300) return undefined
  const { metadata: _, ...rest } = body
  const shown = JSON.stringify(sorted(rest as Json)).replace(chosen, '$1')
  return digestOf(shown)
}

const digestOf = (text: string): string =>
  `#${createHash('sha256').update(text).digest('hex').slice(0, 10)}`

/**
 * Characters kept of a problem that shows much of what is wrong, or all words that there are for
 * it.
 */
const shownMax = 160

const shortened = (told: string): string =>
  told.length <= shownMax + 40 ? told : `${told.slice(0, shownMax)}… ${digestOf(told)}`

/** Places in memory, and whole objects with their versions. */
const ofOneServer = /0x[0-9a-f]{6,}|"\{(?!id\})|core\.PodTemplateSpec\{|time\.Date\(20[3-9]/

/** What a server chooses: names of volumes for tokens, addresses, ids, and times that are now. */
const chosen =
  /(kube-api-access-)[a-z0-9]{5}|(?:"10\.0\.\d+\.\d+")|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|"20(?:2[4-9]|[3-9]\d)-\d\d-\d\dT[^"]*"|(?<=odePort":)\d+/g

function sorted(value: Json): Json {
  if (Array.isArray(value)) return value.map(sorted)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.keys(value)
      .sort()
      .map((key) => [key, sorted(value[key] as Json)]),
  )
}
