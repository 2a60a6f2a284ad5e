/** LeaseCandidate: a program that wants a lease, and the versions that an election compares. */
import { type FieldError, invalid, required } from '#api/field-error.ts'
import { FieldPath } from '#api/field-path.ts'
import { configMapKey } from '#api/names.ts'
import type { KubeObject, Loose } from '#api/object-meta.ts'
import { immutableMessage } from '#api/object-meta-rules.ts'
import { change, type Release, releaseOf } from '#api/releases/change.ts'
import { compareVersions, parseVersion, SemverValue } from '#cel/functions/semver.ts'
import { checkPlainMetadataUpdate } from '#kinds/all-kinds/metadata.ts'
import { checkLeaseStrategy, oldestEmulationVersion } from '#kinds/coordination/lease-strategy.ts'
import type { Behaviour } from '#kinds/kind.ts'

const hasOneStrategy = change('a lease candidate has one strategy and needs a binary version', {
  since: 32,
})

const path = FieldPath.of('spec')
const neededBy = "must be specified when `strategy` is 'OldestEmulationVersion'"

const zeroVersion = new SemverValue([0n, 0n, 0n], [])

/** A version of the spec. An unset or wrong one counts as 0.0.0. */
function versionOf(spec: Loose, field: string): { version: SemverValue; errors: FieldError[] } {
  const text: string = spec[field] ?? ''
  const version = text === '' ? zeroVersion : parseVersion(text)
  if (version instanceof SemverValue) return { version, errors: [] }
  const errors = [invalid(path.child(field), text, 'must be a valid semantic version')]
  return { version: zeroVersion, errors }
}

const isZero = (version: SemverValue): boolean => compareVersions(version, zeroVersion) === 0

function check({ spec = {} }: KubeObject, release: Release): FieldError[] {
  const [emulation, binary] = [
    versionOf(spec, 'emulationVersion'),
    versionOf(spec, 'binaryVersion'),
  ]
  const binaryPath = path.child('binaryVersion')
  const errors = spec.leaseName ? [] : [required(path.child('leaseName'))]
  errors.push(...emulation.errors, ...binary.errors)
  const isOne = release.has(hasOneStrategy)
  if (isOne && !spec.binaryVersion) errors.push(required(binaryPath))
  const isBelow = compareVersions(binary.version, emulation.version) < 0
  if (spec.binaryVersion && spec.emulationVersion && isBelow) {
    const detail = 'must be greater than or equal to `emulationVersion`'
    errors.push(invalid(binaryPath, spec.binaryVersion, detail))
  }
  const missing = (needsBinary: boolean): FieldError[] => [
    ...(needsBinary && isZero(binary.version) ? [required(binaryPath, neededBy)] : []),
    ...(isZero(emulation.version) ? [required(path.child('emulationVersion'), neededBy)] : []),
  ]
  const strategyErrors = (strategy: string, at: FieldPath): FieldError[] => [
    ...(strategy === oldestEmulationVersion ? missing(!isOne) : []),
    ...checkLeaseStrategy(strategy, at),
  ]
  if (!isOne) {
    const list: string[] = spec.preferredStrategies ?? []
    const listPath = path.child('preferredStrategies')
    return [...errors, ...list.flatMap((one, i) => strategyErrors(one, listPath.index(i)))]
  }
  const at = path.child('strategy')
  return [...errors, ...(spec.strategy ? strategyErrors(spec.strategy, at) : [required(at)])]
}

export const leaseCandidateBehaviour: Behaviour = {
  createOnUpdate: true,
  unconditionalUpdate: false,
  nameRule: (name) => configMapKey(name),
  validateCreate: (object, { release }) => check(object, releaseOf(release)),
  validateUpdate(next, old, { release }) {
    const [name = '', before = ''] = [next.spec?.leaseName, old.spec?.leaseName]
    return [
      ...checkPlainMetadataUpdate(next, old),
      ...check(next, releaseOf(release)),
      ...(name === before ? [] : [invalid(path.child('leaseName'), name, immutableMessage)]),
    ]
  },
}
