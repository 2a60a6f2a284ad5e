/**
 * Calls the webhook a definition names to convert objects of its kind: HTTPS, to an address or to a service of the
 * cluster, checked against the definition's own authorities. Connections are kept while the definition stays the same.
 */
import { ApiError } from '#api/status-error.ts'
import type { ConvertElsewhere } from '#kinds/custom.ts'
import { conversionOf, conversionReview, readConversion } from '#kinds/custom/conversion-review.ts'
import type { ObjectReader } from '#kinds/reader.ts'
import { nobody } from './credentials.ts'
import { HookClient } from './hook-client.ts'

/** As the original waits for any webhook that names no time. */
const timeoutMs = 30_000
/** A list's worth of objects, and no more than memory can bear. */
const answerBytesMax = 128 << 20

export function conversionWebhooks(
  reader: () => ObjectReader,
  newUid: () => string,
): ConvertElsewhere {
  const client = new HookClient(nobody, answerBytesMax)
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
      const { review: answer } = await client
        .post(hook, JSON.stringify(review), reader())
        .catch((error) => {
          throw new Error(`${conversionOf(objects)} failed: ${error.message}`)
        })
      return readConversion(answer, review, objects)
    } catch (error) {
      throw new ApiError(500, '', (error as Error).message)
    }
  }
}
