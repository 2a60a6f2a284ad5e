/** Where an object has its replicas, and how a Scale reads and writes them: at the usual places, or where its kind says. */
import { formatSelector, selectorOf, selectorOfMap } from '#api/label-selector.ts'
import type { KubeObject, Loose } from '#api/object-meta.ts'
import { badRequest, internalError } from '#api/status-error.ts'
import { missingReplicas, valueAt } from '#kinds/custom/scale.ts'
import type { Kind, ScalePaths } from '#kinds/kind.ts'

export interface Replicas {
  /** Undefined where nobody has said. */
  wanted(object: KubeObject): number | undefined
  present(object: KubeObject): number
  /** The selector as text. */
  selector(object: KubeObject): string
  set(object: KubeObject, replicas: number): void
  /** Whether the kind's own rules say how many there may be. */
  readonly ownRules: boolean
  /** Refuses a scale of what has no replicas to show. */
  requireThere(object: KubeObject): void
  /** Refuses a write that says nothing of replicas where nobody has yet. */
  requireSaid(object: KubeObject, scale: KubeObject): void
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
  requireSaid() {},
}

function elsewhere({ specReplicas, statusReplicas, labelSelector }: ScalePaths): Replicas {
  const read = (object: KubeObject, path: readonly string[]): unknown => {
    try {
      return valueAt(object, path)
    } catch (error) {
      throw internalError((error as Error).message)
    }
  }
  const wanted = (object: KubeObject) => read(object, specReplicas) as number | undefined
  return {
    wanted,
    present: (object) => (read(object, statusReplicas) as number | undefined) ?? 0,
    selector: (object) =>
      labelSelector === undefined
        ? ''
        : ((read(object, labelSelector) as string | undefined) ?? ''),
    set(object, replicas) {
      let place: Loose = object
      for (const name of specReplicas.slice(0, -1)) {
        place[name] = { ...place[name] }
        place = place[name]
      }
      place[specReplicas.at(-1) as string] = replicas
    },
    ownRules: true,
    requireThere(object) {
      if (wanted(object) !== undefined) return
      throw internalError(`${missingReplicas(specReplicas)} does not exist`)
    },
    requireSaid(object, scale) {
      if (wanted(object) !== undefined || scale.spec?.replicas !== undefined) return
      throw badRequest(`${missingReplicas(specReplicas)} cannot be empty`)
    },
  }
}
