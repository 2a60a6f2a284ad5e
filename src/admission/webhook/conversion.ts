/**
 * Calls the conversion webhook of a custom resource definition by HTTPS, at a URL or a service. The
 * definition's CA bundle verifies its certificate. Connections are reused until the definition
 * changes.
 */
import type { Loose } from '#api/object-meta.ts'
import { ApiError } from '#api/status-error.ts'
import { loadLater } from '#base/load-later.ts'
import type { ConvertElsewhere } from '#kinds/custom.ts'
import { conversionOf, conversionReview, readConversion } from '#kinds/custom/conversion-review.ts'
import type { ObjectReader } from '#kinds/reader.ts'
import type { Loopback } from './address.ts'
import { nobody } from './credentials.ts'
import { type Answered, HookClient } from './hook-client.ts'

/** Loaded for unusual responses, which are decoded by their type. */
const loadGoJson = loadLater<typeof import('#codec/go-json/decode.ts')>(
  import.meta.url,
  '#codec/go-json/decode',
)
const loadType = loadLater<typeof import('./conversion-type.ts')>(
  import.meta.url,
  './conversion-type',
)

/** kube-apiserver's timeout for webhooks that specify none. */
const timeoutMs = 30_000
/** The maximum size of a response: enough for a list of objects. */
const answerBytesMax = 128 << 20

/**
 * The returned review. Throws if its version is the requested one and a member has another type.
 */
function readable({ review, json }: Answered, requested: string): Loose {
  const { apiVersion = requested, kind = 'ConversionReview', response } = review
  if (apiVersion !== requested || kind !== 'ConversionReview' || fits(response)) return review
  const type = loadType().conversionType(requested.slice(requested.indexOf('/') + 1))
  const read = loadGoJson().readGoJson(Buffer.from(json), type)
  if ('fault' in read) throw new Error(read.fault)
  return review
}

function fits(response: unknown): boolean {
  if (response === undefined || response === null) return true
  const { uid, result, convertedObjects } = response as Loose
  return (
    isMap(response) &&
    isText(uid) &&
    (convertedObjects == null || Array.isArray(convertedObjects)) &&
    (result == null || (isMap(result) && isText(result.status) && isText(result.message)))
  )
}

const isMap = (value: unknown): boolean => typeof value === 'object' && !Array.isArray(value)
const isText = (value: unknown): boolean => value == null || typeof value === 'string'

export function conversionWebhooks(
  reader: () => ObjectReader,
  newUid: () => string,
  loopback: Loopback,
): ConvertElsewhere {
  const client = new HookClient(nobody, loopback, answerBytesMax)
  return async (definition, objects, desiredApiVersion) => {
    const { conversionReviewVersions = [], clientConfig } = definition.spec.conversion.webhook
    try {
      const review = conversionReview(
        conversionReviewVersions,
        newUid(),
        desiredApiVersion,
        objects,
      )
      const hook = { client: clientConfig, timeoutMs }
      const answer = await client
        .post(hook, JSON.stringify(review), reader())
        .then((answered) => readable(answered, review.apiVersion))
        .catch((error) => {
          throw new Error(`${conversionOf(objects)} failed: ${error.message}`)
        })
      return readConversion(answer, review, objects)
    } catch (error) {
      throw new ApiError(500, '', (error as Error).message)
    }
  }
}
