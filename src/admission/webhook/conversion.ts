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

/** As the original waits for any webhook that names no time. */
const timeoutMs = 30_000
/** A list's worth of objects, and no more than memory can bear. */
const answerBytesMax = 128 << 20
/** Definitions whose connections are kept: more than any cluster converts at once. */
const callersMax = 1000

interface Address {
  readonly url: URL
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

  async function addressOf(client: Loose): Promise<Address> {
    const ca = client.caBundle ? Buffer.from(client.caBundle, 'base64').toString('utf8') : undefined
    if (client.url) return { url: new URL(client.url), call: callerFor(ca, undefined) }
    const { namespace, name, path = '/', port = 443 } = client.service
    const service = await reader().get('', 'services', namespace, name)
    if (service === undefined) throw new ConversionError(`service "${name}" not found`)
    const { clusterIP, type, externalName } = service.spec ?? {}
    const host = type === 'ExternalName' ? externalName : clusterIP
    if (!host || host === 'None')
      throw new ConversionError(`no service port ${port} found for service "${name}"`)
    const url = new URL(`https://${host.includes(':') ? `[${host}]` : host}:${port}`)
    url.pathname = path
    return { url, call: callerFor(ca, `${name}.${namespace}.svc`) }
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
      const answer = await ask(await addressOf(webhook.clientConfig), review, objects)
      return readConversion(answer, review, objects)
    } catch (error) {
      throw internalError((error as Error).message)
    }
  }
}

async function ask(
  { url, call }: Address,
  review: Loose,
  objects: readonly KubeObject[],
): Promise<Loose> {
  const { apiVersion = '', kind } = objects[0]
  const of = `conversion webhook for ${apiVersion}, Kind=${kind}`
  const answer = await call({
    method: 'POST',
    url,
    headers: { 'content-type': 'application/json', accept: 'application/json' },
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
