/**
 * Matches label selectors with many terms. All terms for one label are combined, so the cost
 * depends on the object's labels, not on the number of terms. Any client may send such a selector,
 * and it is matched against every object of a list.
 */
import { type LabelRequirement, type Labels, matchesRequirement } from './label-requirement.ts'

export function longMatcher(
  requirements: readonly LabelRequirement[],
): (labels: Labels | null | undefined) => boolean {
  const rules = new Map<string, LabelRule>()
  for (const requirement of requirements) {
    const rule = rules.get(requirement.key) ?? new LabelRule()
    rules.set(requirement.key, rule)
    rule.add(requirement)
  }
  let neededCount = 0
  for (const { isNeeded } of rules.values()) if (isNeeded) neededCount++
  return (labels) => {
    let foundCount = 0
    for (const key in labels) {
      const rule = rules.get(key)
      if (rule === undefined) continue
      if (!rule.allows(labels[key])) return false
      if (rule.isNeeded) foundCount++
    }
    return foundCount === neededCount
  }
}

/** All terms about one label, combined. */
class LabelRule {
  /** Whether the label must exist. */
  isNeeded = false
  #isUnwanted = false
  #oneOf: ReadonlySet<string> | undefined
  readonly #noneOf = new Set<string>()
  /** The strictest bounds: the value must be above one and below the other. */
  #above: LabelRequirement | undefined
  #below: LabelRequirement | undefined

  add(requirement: LabelRequirement): void {
    const { operator, values } = requirement
    this.isNeeded ||= operator !== '!' && operator !== '!=' && operator !== 'notin'
    switch (operator) {
      case 'in':
      case '=':
      case '==':
        this.#oneOf = this.#oneOf?.intersection(new Set(values)) ?? new Set(values)
        break
      case 'notin':
      case '!=':
        for (const value of values) this.#noneOf.add(value)
        break
      case '!':
        this.#isUnwanted = true
        break
      case 'gt':
        this.#above = stricter(this.#above, requirement)
        break
      case 'lt':
        this.#below = stricter(this.#below, requirement)
        break
    }
  }

  allows(value: string): boolean {
    if (this.#isUnwanted || this.#oneOf?.has(value) === false || this.#noneOf.has(value))
      return false
    return isWithin(this.#above, value) && isWithin(this.#below, value)
  }
}

/** The stricter of two bounds: a value within it is within both. */
const stricter = (before: LabelRequirement | undefined, bound: LabelRequirement) =>
  before === undefined || isWithin(before, bound.values[0] ?? '') ? bound : before

const isWithin = (bound: LabelRequirement | undefined, value: string): boolean =>
  bound === undefined || matchesRequirement(bound, { [bound.key]: value })
