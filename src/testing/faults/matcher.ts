/**
 * Decides whether a rule matches a request. Counters and random numbers advance only for requests
 * that match all other conditions.
 */
import { seededShares } from '#base/seeded.ts'
import type { FaultMatch } from './fault-rule.ts'
import type { RequestFacts } from './request-facts.ts'

export type Matcher = (facts: RequestFacts) => boolean

const isAmong = (wanted: string | readonly string[] | undefined, found: string) =>
  wanted === undefined || [wanted].flat().includes(found)

export function matcherOf(match: FaultMatch, nowMs: () => number): Matcher {
  const { nth, times, probability, forMs } = match
  const share = seededShares(match.seed ?? 0)
  const endsAt = forMs === undefined ? undefined : nowMs() + forMs
  let seen = 0
  let taken = 0
  return (facts) => {
    if (!describes(match, facts)) return false
    if (endsAt !== undefined && nowMs() >= endsAt) return false
    seen++
    if (nth !== undefined && seen !== nth) return false
    if (times !== undefined && taken >= times) return false
    if (probability !== undefined && share() >= probability) return false
    taken++
    return true
  }
}

function describes(match: FaultMatch, facts: RequestFacts): boolean {
  const { verb, resource, userAgent } = match
  if (!isAmong(verb, facts.verb) || !isAmong(resource, facts.resource)) return false
  if (userAgent !== undefined && !facts.userAgent.startsWith(userAgent)) return false
  const exact = ['group', 'namespace', 'name', 'user'] as const
  return exact.every((member) => isAmong(match[member], facts[member]))
}
