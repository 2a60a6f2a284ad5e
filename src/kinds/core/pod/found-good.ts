/**
 * New pods that were found good. They come in replicas of one template: what is right of the first is right of the
 * next. Only what depends on nothing but annotations, specification and the server's settings is remembered; it never says
 * why something is wrong.
 */
import type { Json, KubeObject, Loose } from '#api/object-meta.ts'
import type { Context } from '#kinds/kind.ts'
import { MetValues } from '#patch/met-values.ts'

type Settings = Pick<Context, 'release' | 'feature' | 'allowPrivileged'>

const good = new MetValues<Settings>()

export function wasFoundGood(pod: KubeObject, context: Settings): boolean {
  const under = good.find(templateOf(pod))
  return (
    under !== undefined &&
    under.feature === context.feature &&
    under.release === context.release &&
    under.allowPrivileged === context.allowPrivileged
  )
}

export function rememberGood(pod: KubeObject, context: Settings): void {
  if (!isCheckedByName(pod)) good.keep(templateOf(pod), context)
}

const templateOf = ({ metadata, spec }: KubeObject): Json => [metadata.annotations ?? {}, spec]

/** The claims of ephemeral volumes are called after the pod. */
const isCheckedByName = ({ spec }: KubeObject): boolean =>
  ((spec.volumes ?? []) as Loose[]).some(({ ephemeral }) => ephemeral)
