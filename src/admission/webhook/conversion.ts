/**
 * Calls the webhook a definition names to convert objects of its kind: HTTPS, to an address or to a service of the
 * cluster, checked against the definition's own authorities. Connections are kept while the definition stays the same.
 */
import { type Caller, caller } from '#access/https-call.ts'
import type { KubeObject, Loose } from '#api/object-meta.ts'
import { internalError } from '#api/status-error.ts'
import type { ConvertElsewhere } from '#kinds/custom.ts'
import {
  ConversionError,
  conversionReview,
  readConversion,
} from '#kinds/custom/conversion-review.ts'
import type { ObjectReader } from '#kinds/reader.ts'
import { addressOf } from './address.ts'

/** As the original waits for any webhook that names no time. */
const timeoutMs = 30_000
/** A list's worth of objects, and no more than memory can bear. */
const answerBytesMax = 128 << 20
/** Definitions whose connections are kept: more than any cluster converts at once. */
const callersMax = 1000

interface Place {
  readonly url: URL
  /** The name a service is called by, wherever it is reached. */
  readonly host: string | undefined
  readonly call: Caller
}

export function conversionWebhooks(
  reader: () => ObjectReader,
  newUid: () => string,
): ConvertElsewhere {
  const callers = new Map<string, Caller>()

  function callerFor(ca: string | undefined, serverName: string | undefined): Caller {
    const key = `${serverName ?? ''} ${ca ?? ''}`
    let known = callers.get(key)
    if (known === undefined) {
      if (callers.size >= callersMax) callers.clear()
      known = caller({
        ...(ca !== undefined && { ca }),
        ...(serverName !== undefined && { serverName }),
      })
      callers.set(key, known)
    }
    return known
  }

  async function placeOf(client: Loose): Promise<Place> {
    const ca = client.caBundle ? Buffer.from(client.caBundle, 'base64').toString('utf8') : undefined
    const { url, host, serverName } = await addressOf(client, timeoutMs, reader())
    // Only admission webhooks are told how long they may take.
    url.search = ''
    return { url, host: serverName && host, call: callerFor(ca, serverName) }
  }

  return async (definition, objects, desiredApiVersion) => {
    const { webhook } = definition.spec.conversion
    try {
      const review = conversionReview(
        webhook.conversionReviewVersions ?? [],
        newUid(),
        desiredApiVersion,
        objects,
      )
      const answer = await ask(await placeOf(webhook.clientConfig), review, objects)
      return readConversion(answer, review, objects)
    } catch (error) {
      throw internalError((error as Error).message)
    }
  }
}

async function ask(
  { url, host, call }: Place,
  review: Loose,
  objects: readonly KubeObject[],
): Promise<Loose> {
  const { apiVersion = '', kind } = objects[0]
  const of = `conversion webhook for ${apiVersion}, Kind=${kind}`
  const answer = await call({
    method: 'POST',
    url,
    headers: {
      'content-type': 'application/json',
      accept: 'application/json',
      ...(host !== undefined && { host }),
    },
    body: JSON.stringify(review),
    timeoutMs,
    answerBytesMax,
  }).catch((error) => {
    throw new ConversionError(`${of} failed: ${(error as Error).message}`)
  })
  if (answer.status < 200 || answer.status > 299) {
    throw new ConversionError(`${of} failed: the server answered with status ${answer.status}`)
  }
  try {
    return JSON.parse(answer.body)
  } catch {
    throw new ConversionError(`${of} failed: the answer is not JSON`)
  }
}
