/**
 * The order of groups in /apis, and of versions in a group: by priority, then by name. Priorities
 * of built-in group versions come from facts, those of aggregated ones from their APIService. All
 * custom group versions have the same priority.
 */
import type { GroupVersion } from '#kinds/catalog.ts'
import type { Facts } from '#kinds/facts.ts'
import { compareVersions } from '#api/version-order.ts'

export interface Priority {
  readonly group: number
  readonly version: number
}

export type PriorityOf = (group: string, version: string) => Priority

/** The priority of custom resources. */
const customPriority: Priority = { group: 1000, version: 100 }

export function priorities(
  facts: Facts,
  release: number,
  aggregated: (group: string, version: string) => Priority | undefined = () => undefined,
): PriorityOf {
  const known = new Map(
    facts
      .groupVersionsOf(release)
      .map((one) => [
        `${one.group}/${one.version}`,
        { group: one.groupPriority, version: one.versionPriority },
      ]),
  )
  return (group, version) =>
    aggregated(group, version) ?? known.get(`${group}/${version}`) ?? customPriority
}

/** All groups except the core group, in order, each with its versions in order. */
export function orderedGroups(
  served: Iterable<GroupVersion>,
  priorityOf: PriorityOf,
): Map<string, string[]> {
  const versions = new Map<string, Set<string>>()
  for (const { group, version } of served) {
    if (group === '') continue
    const known = versions.get(group)
    if (known === undefined) versions.set(group, new Set([version]))
    else known.add(version)
  }
  const groups = [...versions].map(([group, names]) => {
    const ordered = [...names].sort(
      (a, b) =>
        priorityOf(group, b).version - priorityOf(group, a).version || compareVersions(a, b),
    )
    const priority = Math.max(...ordered.map((version) => priorityOf(group, version).group))
    return { group, ordered, priority }
  })
  groups.sort((a, b) => b.priority - a.priority || (a.group < b.group ? -1 : 1))
  return new Map(groups.map(({ group, ordered }) => [group, ordered]))
}
