/**
 * Fetches one document of an aggregated server with this server's identity. If the server is
 * unavailable, rejects the request, breaks the response off or sends too much, the result is a
 * reason, never an exception.
 */
import { placeOf } from '#http/connect/backend.ts'
import { callBackend } from '#http/connect/call-backend.ts'
import type { Aggregation, Remote } from './aggregation.ts'
import { remoteUserHeaders } from './remote-user.ts'

export interface FetchedDocument {
  readonly etag: string
  readonly contentType: string
  readonly bytes: Buffer
}

const fetchTimeoutMs = 30_000
/** Larger than the document of any known server; more would only fill memory. */
const documentBytesMax = 64 << 20

/** The user of the requests. */
const fetcher = { name: 'system:aggregator', uid: '', groups: ['system:masters'], extra: {} }

/** `unchanged`: the document still has the given ETag. */
export async function fetchDocument(
  aggregation: Aggregation,
  remote: Remote,
  path: string,
  etag = '',
  accept = 'application/json',
): Promise<FetchedDocument | 'unchanged' | 'missing' | 'away'> {
  try {
    const backend = await aggregation.backendOf(remote)
    const answer = await callBackend({
      backend,
      method: 'GET',
      path,
      headers: {
        ...remoteUserHeaders(fetcher),
        host: placeOf(backend),
        accept,
        ...(etag !== '' && { 'if-none-match': etag }),
      },
      signal: AbortSignal.timeout(fetchTimeoutMs),
    })
    if (answer.statusCode !== 200) {
      answer.resume()
      if (answer.statusCode === 304) return 'unchanged'
      return answer.statusCode === 404 ? 'missing' : 'away'
    }
    const chunks: Buffer[] = []
    let size = 0
    for await (const chunk of answer) {
      size += (chunk as Buffer).length
      if (size > documentBytesMax) return 'away'
      chunks.push(chunk as Buffer)
    }
    const { etag: newEtag = '', 'content-type': contentType = '' } = answer.headers
    return { etag: newEtag, contentType, bytes: Buffer.concat(chunks) }
  } catch {
    return 'away'
  }
}
