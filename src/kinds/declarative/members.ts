/**
 * Rules that look at several members of one object: unions, discriminators, and members that need
 * each other.
 */
import { type FieldError, forbidden, invalid, required } from '#api/field-error.ts'
import { ownValue } from '#kinds/own-key.ts'
import { type DeclaredCheck, from, isZero, type Spot, type CheckedValue } from './check.ts'

/**
 * How the tables name a member. `name` is a pointer or a list and is set if present. `=name` is a
 * plain value and is set if not zero. [key, value] is set if the list has an item with this value.
 */
export type Member = string | readonly [key: string, value: string]

export function isSet(holder: CheckedValue, member: Member): boolean {
  if (holder === undefined || holder === null) return false
  if (typeof member !== 'string') {
    const [key, value] = member
    return (holder as CheckedValue[]).some((item) => ownValue(item, key) === value)
  }
  if (member.startsWith('=')) return !isZero(ownValue(holder, member.slice(1)))
  const value = ownValue(holder, member)
  return Array.isArray(value) ? value.length > 0 : value !== undefined && value !== null
}

const changed = ({ value, old }: Spot, members: readonly Member[]): boolean =>
  members.some((member) => isSet(value, member) !== isSet(old, member))

const isKnown = (spot: Spot): boolean => spot.isUpdate && spot.old !== undefined

interface UnionWords {
  readonly origin: string
  readonly several: string
  /** Absent: none of the members may be set. */
  readonly none?: string
}

const unionWords: UnionWords = {
  origin: 'union',
  several: 'must specify exactly one of',
  none: 'must specify one of',
}
const zeroOrOneOfWords: UnionWords = {
  origin: 'zeroOrOneOf',
  several: 'must specify at most one of',
}

const unionCheck =
  (words: UnionWords) =>
  (names: readonly string[], members: readonly Member[]): DeclaredCheck =>
  (spot) => {
    if (isKnown(spot) && !changed(spot, members)) return []
    const set = names.filter((_, i) => isSet(spot.value, members[i] as Member))
    const all = names.map((name) => `\`${name}\``).join(', ')
    const wrong = (shown: string, detail: string) => [
      from(words.origin, invalid(spot.path, shown, `${detail}: ${all}`)),
    ]
    if (set.length > 1) return wrong(`{${set.join(', ')}}`, words.several)
    return set.length === 0 && words.none !== undefined ? wrong('', words.none) : []
  }

export const union = unionCheck(unionWords)
export const zeroOrOneOf = unionCheck(zeroOrOneOfWords)

/** One member requires another, or excludes it. */
export function dependent(
  isRequired: boolean,
  [triggerName, trigger, name, member]: readonly [string, Member, string, Member],
): DeclaredCheck {
  return (spot): FieldError[] => {
    if (spot.isUpdate && spot.old !== undefined && !changed(spot, [trigger, member])) return []
    if (!isSet(spot.value, trigger) || isSet(spot.value, member) === isRequired) return []
    const path = spot.path.child(name)
    return isRequired
      ? [from('dependentRequired', required(path, `must be set when ${triggerName} is set`))]
      : [from('dependentForbidden', forbidden(path, `may not be set when ${triggerName} is set`))]
  }
}

const reserved = ['.k8s.io', '.kubernetes.io']

function reservedDomain({ path, value }: Spot): FieldError[] {
  const domain = String(value ?? '')
    .split('/', 1)[0]
    ?.toLowerCase()
    .trim()
    .replace(/\.+$/, '')
  const isReserved = reserved.some(
    (suffix) => domain?.endsWith(suffix) || domain === suffix.slice(1),
  )
  return isReserved ? [invalid(path, value, `domain names ${reservedWords} are reserved`)] : []
}
const reservedWords = reserved.map((suffix) => `*${suffix}`).join(', ')

const reservedPriorities = 1000

/** Custom validation functions, by the name in their tag. */
export const customChecks: ReadonlyMap<string, DeclaredCheck> = new Map([
  ['EvictionResponder_Name', reservedDomain],
  ['EvictionRequestSpec_Requester', reservedDomain],
  [
    'EvictionResponder_Priority',
    ({ path, value }) =>
      value !== undefined && value >= 0 && value < reservedPriorities
        ? [
            invalid(
              path,
              value,
              'priorities 0-999 are reserved for responders with *.k8s.io suffix',
            ),
          ]
        : [],
  ],
])
