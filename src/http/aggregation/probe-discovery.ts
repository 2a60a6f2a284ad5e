/**
 * Reads the discovery of an aggregated server with this server's identity. Sends five requests in
 * parallel; one successful response is enough.
 */
import type { Identity } from '#access/identity.ts'
import type { KubeObject } from '#api/object-meta.ts'
import type { Backend, Trust } from '#http/connect/backend.ts'
import { placeOf } from '#http/connect/backend.ts'
import { BackendUnreachable, callBackend } from '#http/connect/call-backend.ts'
import { clientWords } from '#http/connect/network-words.ts'
import { discoveryPath, type ServiceReference } from './api-service.ts'
import type { LookAtDiscovery } from './availability.ts'
import { remoteUserHeaders } from './remote-user.ts'
import { NoSuchPlace, type Place, type ResolveService, urlOf } from './service-address.ts'

const attempts = 5
const timeoutMs = 5000

/** The user of the requests, who may read the discovery of any server. */
const prober = { name: 'system:kube-aggregator', uid: '', groups: ['system:masters'], extra: {} }

export function discoveryProbe(resolve: ResolveService, proxyClient: Identity): LookAtDiscovery {
  // The server's identity is not verified here: this only checks whether requests would be answered
  // at all.
  const trust: Trust = { insecure: true, ...proxyClient }
  return async (apiService, service) => {
    const looks = Array.from({ length: attempts }, async () => {
      const problem = await lookOnce(apiService, service, resolve, trust)
      if (problem !== undefined) throw new Error(problem)
    })
    try {
      await Promise.any(looks)
      return undefined
    } catch (error) {
      return (error as AggregateError).errors.at(-1).message
    }
  }
}

async function lookOnce(
  apiService: KubeObject,
  service: ServiceReference,
  resolve: ResolveService,
  trust: Trust,
): Promise<string | undefined> {
  let place: Place
  try {
    place = await resolve(service)
  } catch (error) {
    if (error instanceof NoSuchPlace) return error.message
    throw error
  }
  const backend: Backend = { secure: true, ...place, trust }
  const path = discoveryPath(apiService)
  const url = `${urlOf(place)}${path}`
  const failing = (why: string) => `failing or missing response from ${url}: ${why}`
  const signal = AbortSignal.timeout(timeoutMs)
  try {
    const answer = await callBackend({
      backend,
      method: 'GET',
      path,
      headers: { ...remoteUserHeaders(prober), host: placeOf(backend) },
      signal,
    })
    const status = answer.statusCode ?? 0
    answer.resume()
    return status >= 200 && status < 300 ? undefined : failing(`bad status from ${url}: ${status}`)
  } catch (error) {
    if (!(error instanceof BackendUnreachable)) throw error
    const late = signal.aborted ? ' (Client.Timeout exceeded while awaiting headers)' : ''
    return failing(`Get ${JSON.stringify(url)}: ${clientWords(error.message)}${late}`)
  }
}
