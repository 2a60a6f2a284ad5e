/** What requests of a deprecated version are told, from the release that deprecates it on (1.19: the first to say so). */
import type { ResourceFact } from './facts.ts'
import type { Deprecation } from './kind.ts'

/** Warnings exist from this release on. */
const firstReleaseWithWarnings = 19

const minorOf = (release: string) => Number(release.split('.')[1] ?? Number.NaN)

export function deprecationOf(fact: ResourceFact, release: number): Deprecation | undefined {
  const { lifecycle } = fact
  if (
    lifecycle === undefined ||
    lifecycle.deprecated === '' ||
    release < firstReleaseWithWarnings
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
