/**
 * The AlwaysPullImages plugin sets imagePullPolicy to Always. So a pod cannot use a cached image
 * that its credentials do not allow.
 */
import { notSupported } from '#api/field-error.ts'
import type { KubeObject, Loose } from '#api/object-meta.ts'
import { ApiError } from '#api/status-error.ts'
import type { AdmissionPlugin, AdmissionRequest } from './admission.ts'
import { containersOf } from './containers.ts'
import { isPod, isWrite } from './match.ts'
import { refusal, together } from './refusal.ts'

export const alwaysPullImages: AdmissionPlugin = {
  name: 'AlwaysPullImages',
  mutate(request) {
    if (!concerns(request)) return
    const { spec } = request.object as KubeObject
    for (const { container } of containersOf(spec)) container.imagePullPolicy = 'Always'
    for (const { image } of (spec?.volumes ?? []) as Loose[]) if (image) image.pullPolicy = 'Always'
  },
  validate(request) {
    if (!concerns(request)) return
    const problems: string[] = []
    for (const { container, path } of containersOf(request.object?.spec)) {
      if (container.imagePullPolicy === 'Always') continue
      const { field, message } = notSupported(
        `${path}.imagePullPolicy`,
        container.imagePullPolicy ?? '',
        ['Always'],
      )
      problems.push(refusal(request, `${field}: ${message}`).message)
    }
    const volumes: Loose[] = request.object?.spec?.volumes ?? []
    for (const [i, { image }] of volumes.entries()) {
      if (!image || image.pullPolicy === 'Always') continue
      const path = `spec.volumes[${i}].image.pullPolicy`
      const { field, message } = notSupported(path, image.pullPolicy ?? '', ['Always'])
      problems.push(refusal(request, `${field}: ${message}`).message)
    }
    if (problems.length > 0) throw new ApiError(500, '', together(problems))
  },
}

/** Updates without a new image are ignored, because imagePullPolicy is immutable. */
function concerns(request: AdmissionRequest): boolean {
  if (!isPod(request) || !isWrite(request)) return false
  if (request.operation === 'CREATE') return true
  const images = (pod: KubeObject | undefined) =>
    [...containersOf(pod?.spec)].map(({ container }) => container.image)
  const before = new Set(images(request.old))
  return images(request.object).some((image) => !before.has(image))
}
