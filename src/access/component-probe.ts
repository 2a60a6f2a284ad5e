/**
 * Probes the health of other control plane components at their default ports. Each request probes
 * again; results are not cached.
 */
import { change, releaseOf } from '#api/releases/change.ts'
import { caller } from './https-call.ts'

export interface ComponentHealth {
  readonly name: string
  readonly healthy: boolean
  readonly message: string
}

/** kube-apiserver uses the same timeout. */
const timeoutMs = 20_000
/** Limit of a health response, which is only a few words. */
const answerBytesMax = 10_240
const probesSecurePort = change(
  'the status of the controller manager is probed at its secure port',
  { since: 22 },
)

const placesOf = (release: number): readonly [name: string, url: string][] => [
  [
    'controller-manager',
    releaseOf(release).has(probesSecurePort)
      ? 'https://127.0.0.1:10257/healthz'
      : 'http://127.0.0.1:10252/healthz',
  ],
  ['scheduler', 'http://127.0.0.1:10251/healthz'],
]

/** All components by name. */
export function probeComponents(release: number): Promise<ComponentHealth[]> {
  const call = caller({ insecure: true })
  return Promise.all(
    placesOf(release).map(async ([name, place]) => {
      const url = new URL(place)
      try {
        const { status, body } = await call({ method: 'GET', url, timeoutMs, answerBytesMax })
        const healthy = status >= 200 && status < 400
        const message = healthy ? body : `HTTP probe failed with statuscode: ${status}`
        return { name, healthy, message }
      } catch (error) {
        return { name, healthy: false, message: `Get "${place}": ${why(error as Error, url)}` }
      }
    }),
  )
}

const why = (error: Error & { code?: string }, { host }: URL): string =>
  error.code === 'ECONNREFUSED' ? `dial tcp ${host}: connect: connection refused` : error.message
