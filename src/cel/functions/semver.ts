/** Semantic versions: `semver('1.2.3').isLessThan(semver('1.3.0-rc.1'))`. */
import { goQuote } from '#api/go-syntax.ts'
import type { Implementation } from '#cel/plan-call.ts'
import { CelError, OpaqueValue, overloadError, type Value } from '#cel/values.ts'

export class SemverValue extends OpaqueValue {
  readonly typeName = 'kubernetes.Semver'
  readonly numbers: readonly bigint[]
  readonly prerelease: readonly (string | bigint)[]
  constructor(numbers: readonly bigint[], prerelease: readonly (string | bigint)[]) {
    super()
    this.numbers = numbers
    this.prerelease = prerelease
  }
  equals(other: Value): boolean | CelError {
    return other instanceof SemverValue ? compareVersions(this, other) === 0 : overloadError(other)
  }
}

const order = <T>(a: T, b: T): number => (a < b ? -1 : a > b ? 1 : 0)

export function compareVersions(a: SemverValue, b: SemverValue): number {
  for (const [at, number] of a.numbers.entries()) {
    const compared = order(number, b.numbers[at] as bigint)
    if (compared !== 0) return compared
  }
  // A release is greater than its prereleases.
  const [isRelease, otherIsRelease] = [a.prerelease.length === 0, b.prerelease.length === 0]
  if (isRelease || otherIsRelease) return Number(isRelease) - Number(otherIsRelease)
  return comparePrereleases(a.prerelease, b.prerelease)
}

function comparePrereleases(
  a: readonly (string | bigint)[],
  b: readonly (string | bigint)[],
): number {
  for (let at = 0; at < Math.min(a.length, b.length); at += 1) {
    const [left, right] = [a[at] as string | bigint, b[at] as string | bigint]
    if (typeof left !== typeof right) return typeof left === 'bigint' ? -1 : 1
    const compared = order(left, right)
    if (compared !== 0) return compared
  }
  return order(a.length, b.length)
}

const uint64Max = 2n ** 64n - 1n

function readNumber(text: string, name: string): bigint | CelError {
  const lower = name.toLowerCase()
  if (!/^[0-9]*$/.test(text))
    return new CelError(`Invalid character(s) found in ${lower} number ${goQuote(text)}`)
  if (text.length > 1 && text.startsWith('0'))
    return new CelError(`${name} number must not contain leading zeroes ${goQuote(text)}`)
  const quoted = goQuote(text)
  if (text === '') return new CelError(`strconv.ParseUint: parsing ${quoted}: invalid syntax`)
  const value = text.length > 20 ? uint64Max + 1n : BigInt(text)
  if (value > uint64Max)
    return new CelError(`strconv.ParseUint: parsing ${quoted}: value out of range`)
  return value
}

function readPrerelease(text: string): string | bigint | CelError {
  if (text === '') return new CelError('Prerelease is empty')
  if (/^[0-9]+$/.test(text)) {
    if (text.length > 1 && text.startsWith('0'))
      return new CelError(
        `Numeric PreRelease version must not contain leading zeroes ${goQuote(text)}`,
      )
    return BigInt(text.slice(0, 400))
  }
  if (/^[0-9A-Za-z-]+$/.test(text)) return text
  return new CelError(`Invalid character(s) found in prerelease ${goQuote(text)}`)
}

export function parseVersion(text: string): SemverValue | CelError {
  if (text === '') return new CelError('Version string empty')
  const [majorText, minorText, ...rest] = text.split('.') as [string, string, ...string[]]
  if (rest.length === 0) return new CelError('No Major.Minor.Patch elements found')
  const major = readNumber(majorText, 'Major')
  if (major instanceof CelError) return major
  const minor = readNumber(minorText, 'Minor')
  if (minor instanceof CelError) return minor
  let patchText = rest.join('.')
  const plus = patchText.indexOf('+')
  const build = plus < 0 ? undefined : patchText.slice(plus + 1).split('.')
  if (plus >= 0) patchText = patchText.slice(0, plus)
  const dash = patchText.indexOf('-')
  const labels = dash < 0 ? [] : patchText.slice(dash + 1).split('.')
  if (dash >= 0) patchText = patchText.slice(0, dash)
  const patch = readNumber(patchText, 'Patch')
  if (patch instanceof CelError) return patch
  const prerelease: (string | bigint)[] = []
  for (const label of labels) {
    const part = readPrerelease(label)
    if (part instanceof CelError) return part
    prerelease.push(part)
  }
  for (const part of build ?? []) {
    if (part === '') return new CelError('Build meta data is empty')
    if (!/^[0-9A-Za-z-]+$/.test(part))
      return new CelError(`Invalid character(s) found in build meta data ${goQuote(part)}`)
  }
  return new SemverValue([major, minor, patch], prerelease)
}

/** `v1.2` → `1.2.0`: removes the prefix `v` and leading zeros, and adds missing numbers. */
function normalize(text: string): string | CelError {
  const bare = text.startsWith('v') ? text.slice(1) : text
  const all = bare.split('.')
  const parts = (all.length > 3 ? [...all.slice(0, 2), all.slice(2).join('.')] : all).map(
    (part) => {
      if (part.length < 2) return part
      const trimmed = part.replace(/^0+/, '')
      return /^[0-9]/.test(trimmed) ? trimmed : `0${trimmed}`
    },
  )
  if (parts.length < 3 && /[+-]/.test(parts.at(-1) as string))
    return new CelError('short version cannot contain PreRelease/Build meta data')
  while (parts.length < 3) parts.push('0')
  return parts.join('.')
}

function parseNormalized(text: string, normalizes: boolean): SemverValue | CelError {
  if (!normalizes) return parseVersion(text)
  const normal = normalize(text)
  return typeof normal === 'string' ? parseVersion(normal) : normal
}

const binary =
  (call: (order: number) => Value): Implementation =>
  (a, b) =>
    a instanceof SemverValue && b instanceof SemverValue
      ? call(compareVersions(a, b))
      : overloadError(a)

const number =
  (at: number): Implementation =>
  (version) =>
    version instanceof SemverValue
      ? BigInt.asIntN(64, version.numbers[at] as bigint)
      : overloadError(version)

export const semverImplementations: readonly (readonly [string, Implementation])[] = [
  ['string_to_semver', (text) => parseVersion(text as string)],
  [
    'string_bool_to_semver',
    (text, normalizes) => parseNormalized(text as string, normalizes as boolean),
  ],
  ['is_semver_string', (text) => parseVersion(text as string) instanceof SemverValue],
  [
    'is_semver_string_bool',
    (text, normalizes) =>
      parseNormalized(text as string, normalizes as boolean) instanceof SemverValue,
  ],
  ['semver_is_greater_than', binary((compared) => compared > 0)],
  ['semver_is_less_than', binary((compared) => compared < 0)],
  ['semver_compare_to', binary((compared) => BigInt(compared))],
  ['semver_major', number(0)],
  ['semver_minor', number(1)],
  ['semver_patch', number(2)],
]
