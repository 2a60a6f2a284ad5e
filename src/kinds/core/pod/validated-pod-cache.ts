/**
 * Templates of new pods that passed validation. Replicas of one template are validated once. The
 * result is cached only if it depends on nothing but annotations, specification and the server's
 * settings. Errors are never cached.
 */
import type { Json, KubeObject, Loose } from '#api/object-meta.ts'
import { hasWrittenEmpty } from '#api/written-empty.ts'
import type { Context } from '#kinds/kind.ts'
import { RecentValuesCache } from '#patch/recent-values-cache.ts'

type Settings = Pick<Context, 'release' | 'feature' | 'allowPrivileged'>

const good = new RecentValuesCache<Settings>()

export function isKnownValid(pod: KubeObject, context: Settings): boolean {
  if (hasWrittenEmpty(pod.spec)) return false
  const under = good.find(templateOf(pod))
  return (
    under !== undefined &&
    under.feature === context.feature &&
    under.release === context.release &&
    under.allowPrivileged === context.allowPrivileged
  )
}

export function rememberValid(pod: KubeObject, context: Settings): void {
  if (!isCheckedByName(pod) && !hasWrittenEmpty(pod.spec)) good.keep(templateOf(pod), context)
}

const templateOf = ({ metadata, spec }: KubeObject): Json => [metadata.annotations ?? {}, spec]

/** The claims of ephemeral volumes are called after the pod. */
const isCheckedByName = ({ spec }: KubeObject): boolean =>
  ((spec.volumes ?? []) as Loose[]).some(({ ephemeral }) => ephemeral)
