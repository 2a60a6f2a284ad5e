/**
 * The ImagePolicyWebhook plugin: a remote service decides whether a pod may use its images. Results
 * are cached for a limited time. If the service fails, the configuration decides.
 */
import { ExpiringCache } from '#access/expiring-cache.ts'
import { readKubeconfig } from '#access/kubeconfig.ts'
import type { KubeObject, Loose } from '#api/object-meta.ts'
import { formatDuration } from '#api/duration.ts'
import type { AdmissionPlugin, AdmissionRequest } from './admission.ts'
import { ImageReviewer } from './image-review.ts'
import { isPod, isWrite } from './match.ts'
import { refusal } from './refusal.ts'

/** Number of cached responses. */
const cacheSize = 1024
const audit = 'imagepolicywebhook.image-policy.k8s.io/'
const failedOpen = 'alpha.image-policy.k8s.io/failed-open'

interface Limit {
  readonly unitMs: number
  readonly min: number
  readonly max: number
  readonly usual: number
}
const minute = 60_000
const limits: Readonly<Record<'retryBackoff' | 'allowTTL' | 'denyTTL', Limit>> = {
  retryBackoff: { unitMs: 1, min: 1e-6, max: 5 * minute, usual: 500 },
  allowTTL: { unitMs: 1000, min: 1000, max: 30 * minute, usual: 5 * minute },
  denyTTL: { unitMs: 1000, min: 1000, max: 30 * minute, usual: 30_000 },
}

/** Converts a setting to milliseconds: -1 disables it, 0 selects the default. */
function timeOf(settings: Loose, name: keyof typeof limits): number {
  const { unitMs, min, max, usual } = limits[name]
  const value = settings[name] ?? 0
  if (!Number.isSafeInteger(value)) throw new Error(`${name} must be a whole number`)
  if (value === -1) return 0
  if (value === 0) return usual
  const ms = value * unitMs
  if (ms >= min && ms <= max) return ms
  const shown = [min, max, ms].map((each) => formatDuration(BigInt(Math.round(each * 1e6))))
  throw new Error(`valid value is between ${shown[0]} and ${shown[1]}, got ${shown[2]}`)
}

/** The spec of the ImageReview: images, and annotations for the service. */
function specOf({ object, namespace }: AdmissionRequest): Loose {
  const { spec, metadata } = object as KubeObject
  const containers: Loose[] = [...(spec.containers ?? []), ...(spec.initContainers ?? [])]
  const annotations = Object.entries(metadata.annotations ?? {}).filter(([key]) =>
    key.includes('.image-policy.k8s.io/'),
  )
  return {
    containers: containers.map(({ image }) => (image ? { image } : {})),
    ...(annotations.length > 0 && { annotations: Object.fromEntries(annotations.sort()) }),
    ...(namespace !== '' && { namespace }),
  }
}

function letThrough(request: AdmissionRequest): void {
  const { metadata } = request.object as KubeObject
  metadata.annotations = { ...metadata.annotations, [failedOpen]: 'true' }
  request.auditAnnotations.set(`${audit}failed-open`, 'true')
}

export async function imagePolicyWebhook(
  configuration: Loose | undefined,
  monotonicMs: () => number = () => performance.now(),
): Promise<AdmissionPlugin> {
  if (configuration === undefined) throw new Error('no config specified')
  const settings: Loose = configuration.imagePolicy ?? {}
  const firstDelayMs = timeOf(settings, 'retryBackoff')
  const ttlMs = { yes: timeOf(settings, 'allowTTL'), no: timeOf(settings, 'denyTTL') }
  const endpoint = await readKubeconfig(settings.kubeConfigFile ?? '')
  const service = new ImageReviewer(endpoint, firstDelayMs)
  const answers = new ExpiringCache<Loose>(cacheSize, { now: monotonicMs })
  const ask = async (spec: Loose): Promise<Loose> => {
    const key = JSON.stringify(spec)
    const known = answers.get(key)
    if (known !== undefined) return known
    const status = await service.review(spec)
    answers.set(key, status, status.allowed === true ? ttlMs.yes : ttlMs.no)
    return status
  }
  return {
    name: 'ImagePolicyWebhook',
    async validate(request) {
      if (!isPod(request) || !isWrite(request)) return
      let status: Loose
      try {
        status = await ask(specOf(request))
      } catch (error) {
        if (settings.defaultAllow !== true) throw refusal(request, (error as Error).message)
        letThrough(request)
        return
      }
      for (const [name, value] of Object.entries(status.auditAnnotations ?? {}))
        request.auditAnnotations.set(`${audit}${name}`, String(value))
      if (status.allowed === true) return
      throw refusal(
        request,
        status.reason
          ? `image policy webhook backend denied one or more images: ${status.reason}`
          : 'one or more images rejected by webhook backend',
      )
    },
  }
}
