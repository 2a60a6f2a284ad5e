/**
 * The fields of an object for its replica count, and how a Scale reads and writes them. Most kinds
 * have the usual fields; a CustomResourceDefinition specifies its own.
 */
import { formatSelector, selectorOf, selectorOfMap } from '#api/label-selector.ts'
import type { KubeObject, Loose } from '#api/object-meta.ts'
import { change, releaseOf } from '#api/releases/change.ts'
import { ApiError, badRequest, internalError } from '#api/status-error.ts'
import { isWhole, missingReplicas, mistyped, valueAt } from '#kinds/custom/scale.ts'
import { markUnread } from '#kinds/custom/unread.ts'
import type { Kind, ScalePaths } from '#kinds/kind.ts'

export interface Replicas {
  /** Undefined if the object does not specify it. */
  wanted(object: KubeObject): number | undefined
  present(object: KubeObject): number
  /** The selector as text. */
  selector(object: KubeObject): string
  set(object: KubeObject, replicas: number): void
  /** Whether the kind's own schema validates the replica count. */
  readonly ownRules: boolean
  /** Rejects the scale of an object that lacks the field for its replicas. */
  requireThere(object: KubeObject): void
  /** The replica count that a patch sees if the object does not specify it. */
  unsaid(object: KubeObject): number | undefined
  /** Rejects a write without replicas while the object does not specify them. */
  requireReplicas(scale: KubeObject): void
}

export const replicasOf = ({ scale }: Kind): Replicas =>
  scale === undefined ? usual : elsewhere(scale)

const usual: Replicas = {
  wanted: ({ spec }) => spec?.replicas,
  present: ({ status }) => status?.replicas ?? 0,
  /** Replication controllers select by plain labels, all others by a selector. */
  selector({ kind, spec }) {
    const selector = spec?.selector
    if (selector === undefined || selector === null) return ''
    return formatSelector(
      kind === 'ReplicationController' ? selectorOfMap(selector) : selectorOf(selector),
    )
  },
  set(object, replicas) {
    object.spec = { ...object.spec, replicas }
  },
  ownRules: false,
  requireThere() {},
  unsaid: () => undefined,
  requireReplicas() {},
}

/** kube-apiserver's value for unspecified replicas: the smallest integer. */
const unsaid = -(2 ** 31)

function elsewhere({ specReplicas, statusReplicas, labelSelector }: ScalePaths): Replicas {
  const wanted = (object: KubeObject) => numberAt(object, specReplicas)
  return {
    wanted,
    present: (object) => numberAt(object, statusReplicas) ?? 0,
    selector: (object) =>
      labelSelector === undefined
        ? ''
        : ((typedAt(object, labelSelector, 'string') as string | undefined) ?? ''),
    set(object, replicas) {
      let place: Loose = object
      for (const name of specReplicas.slice(0, -1)) {
        place[name] = { ...place[name] }
        place = place[name]
      }
      place[specReplicas.at(-1) as string] = replicas
      markUnread(object, specReplicas)
    },
    ownRules: true,
    requireThere(object) {
      if (wanted(object) !== undefined) return
      throw internalError(`${missingReplicas(specReplicas)} does not exist`)
    },
    unsaid: (object) => (wanted(object) === undefined ? unsaid : undefined),
    requireReplicas(scale) {
      if (scale.spec?.replicas !== unsaid) return
      throw badRequest(`${missingReplicas(specReplicas)} cannot be empty`)
    },
  }
}

/** A Scale has 32-bit numbers, even if the object has larger ones. */
function numberAt(object: KubeObject, path: readonly string[]): number | undefined {
  const value = typedAt(object, path, 'int64') as number | bigint | undefined
  return value === undefined ? undefined : Number(BigInt.asIntN(32, BigInt(value)))
}

function typedAt(object: KubeObject, path: readonly string[], type: 'int64' | 'string'): unknown {
  const value = found(object, path)
  if (value === undefined) return undefined
  const fits = type === 'string' ? typeof value === 'string' : isWhole(value)
  if (!fits) throw new ApiError(500, '', mistyped(path, value, type))
  return value
}

function found(object: KubeObject, path: readonly string[]): unknown {
  try {
    return valueAt(object, path)
  } catch (error) {
    throw new ApiError(500, '', (error as Error).message)
  }
}

const customReplicasHaveOwners = change(
  'replicas of custom objects that are set by a scale have an owner',
  { since: 27 },
)

/** Whether a write to a Scale records a manager for the object's replicas. */
export const recordsOwners = ({ ownRules }: Pick<Replicas, 'ownRules'>, release: number): boolean =>
  !ownRules || releaseOf(release).has(customReplicasHaveOwners)
