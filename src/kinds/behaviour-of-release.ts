/** The behaviour of a kind in the emulated release: its own rules, those that every kind has, and its columns. */
import { loadLater } from '#base/load-later.ts'
import { checkFinalizerNames } from './all-kinds/metadata.ts'
import { columnsOfRelease } from './columns-of-release.ts'
import type { Behaviour } from './kind.ts'
import type { KindRules } from './kind-rules.ts'

/** The last release with a gate for SCTP. */
const sctpGateUntil = 19
const loadSctp = loadLater<typeof import('./all-kinds/sctp.ts')>(
  import.meta.url,
  './all-kinds/sctp',
)

export function behaviourOfRelease(rules: KindRules, folder: string, release: number): Behaviour {
  const checked =
    rules.finalizerNames === undefined ? withFinalizerNames(rules.behaviour) : rules.behaviour
  const behaviour = release > sctpGateUntil ? checked : loadSctp().withSctpRules(checked, folder)
  const columns = columnsOfRelease(rules, release)
  return columns === undefined ? behaviour : { ...behaviour, columns }
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
