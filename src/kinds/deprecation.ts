/**
 * The warning that answers requests of a deprecated API version, from the release that deprecates
 * it.
 */
import { change, releaseOf } from '#api/releases/change.ts'
import type { ResourceFact } from './facts.ts'
import type { Deprecation } from './kind.ts'

export const warnsOfDeprecation = change('deprecated API versions answer with a warning', {
  since: 19,
})

const minorOf = (release: string) => Number(release.split('.')[1] ?? Number.NaN)

export function deprecationOf(fact: ResourceFact, release: number): Deprecation | undefined {
  const { lifecycle } = fact
  if (
    lifecycle === undefined ||
    lifecycle.deprecated === '' ||
    !releaseOf(release).has(warnsOfDeprecation)
  ) {
    return undefined
  }
  if (minorOf(lifecycle.deprecated) > release) return undefined
  const name = `${fact.group === '' ? '' : `${fact.group}/`}${fact.version} ${fact.kind}`
  let warning = `${name} is deprecated in v${lifecycle.deprecated}+`
  if (lifecycle.removed !== '') warning += `, unavailable in v${lifecycle.removed}+`
  const { replacement } = lifecycle
  if (replacement !== undefined) {
    const group = replacement.group === '' ? '' : `${replacement.group}/`
    warning += `; use ${group}${replacement.version} ${replacement.kind}`
  }
  return { warning, removedRelease: lifecycle.removed }
}
