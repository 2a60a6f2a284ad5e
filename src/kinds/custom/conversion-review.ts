/**
 * Creates the request to a conversion webhook and validates the response. The webhook may change
 * metadata only in labels and annotations. Every error names the kind of the objects.
 */
import { groupOf } from '#api/api-version.ts'
import { goQuote } from '#api/go-syntax.ts'
import { FieldPath } from '#api/field-path.ts'
import { validateLabels } from '#api/label-rules.ts'
import type { KubeObject, Loose } from '#api/object-meta.ts'
import { validateAnnotations } from '#api/object-meta-rules.ts'

const known = ['v1', 'v1beta1']

/** The conversion webhook failed, or its response is invalid. */
class ConversionError extends Error {
  override name = 'ConversionError'
}

/** The first of the definition's review versions that is known here decides. */
export function conversionReview(
  reviewVersions: readonly string[],
  uid: string,
  desiredAPIVersion: string,
  objects: readonly KubeObject[],
): Loose {
  const version = reviewVersions.find((one) => known.includes(one))
  if (version === undefined) throw new ConversionError('no supported conversion review versions')
  return {
    kind: 'ConversionReview',
    apiVersion: `apiextensions.k8s.io/${version}`,
    request: { uid, desiredAPIVersion, objects },
    response: { uid: '', convertedObjects: null, result: { metadata: {} } },
  }
}

const gvkOf = ({ apiVersion = '', kind = '' }: { apiVersion?: string; kind?: string }): string => {
  const version = apiVersion.slice(apiVersion.indexOf('/') + 1)
  return `${groupOf(apiVersion)}/${version}, Kind=${kind}`
}

/** The prefix of all errors. */
export const conversionOf = (objects: readonly KubeObject[]): string =>
  `conversion webhook for ${gvkOf(objects[0])}`

/** The converted objects, in the order of the request. */
export function readConversion(
  review: Loose,
  sent: Loose,
  objects: readonly KubeObject[],
): KubeObject[] {
  const of = conversionOf(objects)
  const converted = convertedOf(review, sent, of)
  if (converted.length !== objects.length) {
    throw new ConversionError(
      `${of} returned ${converted.length} objects, expected ${objects.length}`,
    )
  }
  const desired: string = sent.request.desiredAPIVersion
  return converted.map((object, i) => checked(object, objects[i], desired, of, i))
}

/** A response that is no review: kube-apiserver decodes it as its own type. */
function otherType({ apiVersion = '', kind = '' }: Loose, wanted: Loose): string | undefined {
  if (apiVersion === '' || kind === '') return undefined
  const name = (of: Loose) => `${of.apiVersion.slice(of.apiVersion.indexOf('/') + 1)}.${of.kind}`
  const reviews = known.map((version) => `apiextensions.k8s.io/${version}`)
  const isReview = kind === 'ConversionReview' && reviews.includes(apiVersion)
  if (!isReview && !(kind === 'Status' && apiVersion === 'v1')) {
    return `no kind ${goQuote(kind)} is registered for version ${goQuote(apiVersion)} in scheme "pkg/runtime/scheme.go:100"`
  }
  if (apiVersion === wanted.apiVersion) return undefined
  return `converting (${name({ apiVersion, kind })}) to (${name(wanted)}): unknown conversion`
}

function convertedOf(review: Loose, sent: Loose, of: string): Loose[] {
  const fail = (why: string) => new ConversionError(`${of} failed: ${why}`)
  const other = otherType(review, sent)
  if (other !== undefined) throw fail(other)
  const strict = sent.apiVersion.endsWith('/v1')
  if (strict && (review.kind !== 'ConversionReview' || review.apiVersion !== sent.apiVersion)) {
    throw fail(`expected webhook response of ${gvkOf(sent)}, got ${gvkOf(review)}`)
  }
  const { response } = review
  if (!isMap(response)) throw fail('no response provided')
  const { uid } = sent.request
  if (strict && response.uid !== uid) {
    throw fail(`expected response.uid=${goQuote(uid)}, got ${goQuote(textIn(response, 'uid'))}`)
  }
  const status = textIn(response.result, 'status')
  const message = textIn(response.result, 'message')
  if (status !== 'Success') {
    throw fail(message === '' ? `response.result.status was '${status}', not 'Success'` : message)
  }
  return Array.isArray(response.convertedObjects) ? response.convertedObjects : []
}

const isMap = (value: unknown): value is Loose =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** A text of a map; empty if it is not a text, or not in a map. */
const textIn = (map: unknown, name: string): string =>
  isMap(map) && typeof map[name] === 'string' ? map[name] : ''

const goTypes = { string: 'string', boolean: 'bool' } as const

/** The type Go has for a value of JSON. */
function goTypeOf(value: unknown): string {
  if (value === null) return '<nil>'
  if (typeof value === 'number') return Number.isInteger(value) ? 'int64' : 'float64'
  if (typeof value === 'object') return Array.isArray(value) ? '[]interface {}' : goMap
  return goTypes[typeof value as keyof typeof goTypes]
}
const goMap = 'map[string]interface {}'
const jsonTypes = { boolean: 'bool' } as const

/** Throws where the value cannot be read as an object at all. */
function requireObject(given: unknown): Loose {
  if (given === null || given === undefined) throw new ConversionError('EOF')
  if (!isMap(given)) {
    const type = Array.isArray(given)
      ? 'array'
      : (jsonTypes[typeof given as keyof typeof jsonTypes] ?? typeof given)
    throw new ConversionError(`json: cannot unmarshal ${type} into Go value of type ${goMap}`)
  }
  if (textIn(given, 'kind') === '') {
    throw new ConversionError(`Object 'Kind' is missing in '${JSON.stringify(given)}'`)
  }
  return given
}

function checked(
  given: Loose,
  original: KubeObject,
  desired: string,
  of: string,
  i: number,
): KubeObject {
  const received = { ...requireObject(given) } as KubeObject
  const wrongType = (what: string, expected: string | undefined, got: string) =>
    new ConversionError(
      `${of} returned invalid object at index ${i}: invalid ${what} (expected ${expected}, received ${got})`,
    )
  const apiVersion = textIn(received, 'apiVersion')
  if (apiVersion !== desired) throw wrongType('groupVersion', desired, apiVersion)
  const kind = textIn(received, 'kind')
  if (kind !== original.kind) throw wrongType('kind', original.kind, kind)
  const meta: Loose = received.metadata
  for (const [field, name] of [
    ['name', 'name'],
    ['namespace', 'namespace'],
    ['uid', 'UID'],
  ] as const) {
    const before = original.metadata[field] ?? ''
    const after = textIn(meta, field)
    if (before !== after) {
      throw new ConversionError(
        `${of} returned invalid object: must have the same ${name}: ${before} != ${after}`,
      )
    }
  }
  received.metadata = restoredMeta(meta, original, of)
  return received
}

function restoredMeta(received: Loose, original: KubeObject, of: string): KubeObject['metadata'] {
  const restored: Loose = structuredClone(original.metadata)
  const fail = (why: string) => new ConversionError(`${of} returned invalid metadata: ${why}`)
  if (received === undefined) throw fail('missing metadata in converted object')
  if (!isMap(received))
    throw fail(`invalid metadata of type ${goTypeOf(received)} in converted object`)
  for (const field of ['labels', 'annotations'] as const) {
    const value = received[field]
    if (value === undefined || value === null) {
      delete restored[field]
      continue
    }
    if (!isMap(value)) {
      throw fail(`invalid metadata.${field} of type ${goTypeOf(value)} in converted object`)
    }
    for (const [key, text] of Object.entries(value)) {
      if (typeof text !== 'string') {
        throw fail(
          `metadata.${field}[${key}] must be a string, but is ${goTypeOf(text)} in converted object`,
        )
      }
    }
    const errors =
      field === 'labels'
        ? validateLabels(value, FieldPath.of('metadata', 'labels'))
        : validateAnnotations(value, FieldPath.of('metadata', 'annotation'))
    if (errors.length > 0) {
      const texts = errors.map((error) => `${error.field}: ${error.message}`)
      throw fail(texts.length === 1 ? texts[0] : `[${texts.join(', ')}]`)
    }
    restored[field] = value
  }
  return restored
}
