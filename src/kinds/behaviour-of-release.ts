/**
 * The behaviour of a kind in the emulated release: its own rules, the common rules, and its
 * columns.
 */
import { change, releaseOf } from '#api/releases/change.ts'
import { loadLater } from '#base/load-later.ts'
import { checkFinalizerNames } from './all-kinds/metadata.ts'
import { columnsOfRelease } from './columns-of-release.ts'
import type { Behaviour } from './kind.ts'
import type { KindRules } from './kind-rules.ts'

const gatesSctp = change('a feature gate decides whether SCTP can be used', { until: 19 })
const loadSctp = loadLater<typeof import('./all-kinds/sctp.ts')>(
  import.meta.url,
  './all-kinds/sctp',
)

export function behaviourOfRelease(rules: KindRules, folder: string, release: number): Behaviour {
  const { olderBehaviour: older } = rules
  const own =
    older !== undefined && !releaseOf(release).has(older.before) ? older.behaviour : rules.behaviour
  const checked = rules.finalizerNames === undefined ? withFinalizerNames(own) : own
  const withSctp = releaseOf(release).has(gatesSctp)
    ? loadSctp().withSctpRules(checked, folder)
    : checked
  const behaviour = withoutNewerFields(withSctp, rules, release)
  const columns = columnsOfRelease(rules, release)
  return columns === undefined ? behaviour : { ...behaviour, columns }
}

function withoutNewerFields(behaviour: Behaviour, rules: KindRules, release: number): Behaviour {
  const { has } = releaseOf(release)
  const newer = [...(rules.newerSelectableFields ?? [])].filter(([, since]) => !has(since))
  const { selectableFields } = behaviour
  if (newer.length === 0 || selectableFields === undefined) return behaviour
  return {
    ...behaviour,
    selectableFields(object) {
      const fields = selectableFields(object)
      for (const [field] of newer) delete fields[field]
      return fields
    },
  }
}

function withFinalizerNames(behaviour: Behaviour): Behaviour {
  const { validateCreate } = behaviour
  return {
    ...behaviour,
    validateCreate: (object, context) => [
      ...checkFinalizerNames(object),
      ...(validateCreate?.(object, context) ?? []),
    ],
  }
}
