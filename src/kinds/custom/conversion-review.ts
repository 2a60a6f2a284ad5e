/**
 * What is asked of a conversion webhook and what its answer must be. Metadata stays what it was, but for labels and
 * annotations. Every refusal says which kind was to be converted.
 */
import { goQuote } from '#api/go-syntax.ts'
import { FieldPath } from '#api/field-path.ts'
import { validateLabels } from '#api/label-rules.ts'
import type { KubeObject, Loose } from '#api/object-meta.ts'
import { validateAnnotations } from '#api/object-meta-rules.ts'

const known = ['v1', 'v1beta1']

/** A webhook that failed, or whose answer cannot be used. */
export class ConversionError extends Error {
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
  }
}

const gvkOf = ({ apiVersion = '', kind = '' }: { apiVersion?: string; kind?: string }): string => {
  const slash = apiVersion.indexOf('/')
  const group = slash === -1 ? '' : apiVersion.slice(0, slash)
  return `${group}/${apiVersion.slice(slash + 1)}, Kind=${kind}`
}

/** The converted objects, in the order of those that were sent. */
export function readConversion(
  review: Loose,
  sent: Loose,
  objects: readonly KubeObject[],
): KubeObject[] {
  const of = `conversion webhook for ${gvkOf(objects[0])}`
  const converted = convertedOf(review, sent, of)
  if (converted.length !== objects.length) {
    throw new ConversionError(
      `${of} returned ${converted.length} objects, expected ${objects.length}`,
    )
  }
  const desired: string = sent.request.desiredAPIVersion
  return converted.map((object, i) => checked(object, objects[i], desired, of, i))
}

function convertedOf(review: Loose, sent: Loose, of: string): Loose[] {
  const fail = (why: string) => new ConversionError(`${of} failed: ${why}`)
  const strict = sent.apiVersion.endsWith('/v1')
  if (strict && (review.kind !== 'ConversionReview' || review.apiVersion !== sent.apiVersion)) {
    throw fail(`expected webhook response of ${gvkOf(sent)}, got ${gvkOf(review)}`)
  }
  const { response } = review
  if (response === undefined || response === null) throw fail('no response provided')
  const { uid } = sent.request
  if (strict && response.uid !== uid) {
    throw fail(`expected response.uid=${goQuote(uid)}, got ${goQuote(response.uid ?? '')}`)
  }
  const { status = '', message = '' } = response.result ?? {}
  if (status !== 'Success') {
    throw fail(message === '' ? `response.result.status was '${status}', not 'Success'` : message)
  }
  return response.convertedObjects ?? []
}

function checked(
  given: Loose,
  original: KubeObject,
  desired: string,
  of: string,
  i: number,
): KubeObject {
  const invalid = (why: string) =>
    new ConversionError(`${of} returned invalid converted object at index ${i}: ${why}`)
  if (given === null || typeof given !== 'object' || Array.isArray(given))
    throw invalid('it is no object')
  const received = { ...given } as KubeObject
  if (received.apiVersion !== desired) {
    throw invalid(
      `invalid groupVersion (expected ${desired}, received ${received.apiVersion ?? ''})`,
    )
  }
  if (received.kind !== original.kind) {
    throw invalid(`invalid kind (expected ${original.kind}, received ${received.kind ?? ''})`)
  }
  const meta: Loose = received.metadata
  if (meta === undefined || meta === null) {
    throw new ConversionError(
      `${of} returned invalid metadata in object at index ${i}: missing metadata in converted object`,
    )
  }
  for (const [field, name] of [
    ['name', 'name'],
    ['namespace', 'namespace'],
    ['uid', 'UID'],
  ] as const) {
    const before = original.metadata[field] ?? ''
    const after = meta[field] ?? ''
    if (before !== after) throw invalid(`must have the same ${name}: ${before} != ${after}`)
  }
  received.metadata = restoredMeta(meta, original, of, i)
  return received
}

function restoredMeta(
  received: Loose,
  original: KubeObject,
  of: string,
  i: number,
): KubeObject['metadata'] {
  const restored: Loose = structuredClone(original.metadata)
  const fail = (why: string) =>
    new ConversionError(`${of} returned invalid metadata in object at index ${i}: ${why}`)
  for (const field of ['labels', 'annotations'] as const) {
    const value = received[field]
    if (value === undefined || value === null) {
      delete restored[field]
      continue
    }
    if (typeof value !== 'object' || Array.isArray(value)) {
      throw fail(`invalid metadata.${field} of type ${typeof value} in converted object`)
    }
    for (const [key, text] of Object.entries(value)) {
      if (typeof text !== 'string') {
        throw fail(
          `metadata.${field}[${key}] must be a string, but is ${typeof text} in converted object`,
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
