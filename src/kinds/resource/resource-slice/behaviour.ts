/** ResourceSlice: devices of one driver, and from which nodes they can be reached. */
import {
  covered,
  duplicate,
  type FieldError,
  invalid,
  required,
  tooMany,
} from '#api/field-error.ts'
import { FieldPath } from '#api/field-path.ts'
import { goQuote } from '#api/go-syntax.ts'
import { nameIsDnsSubdomain } from '#api/names.ts'
import type { KubeObject, Loose } from '#api/object-meta.ts'
import { immutableMessage } from '#api/object-meta-rules.ts'
import { each, repeats, sameJson } from '#kinds/all-kinds/checks.ts'
import { checkMetadataUpdate } from '#kinds/all-kinds/metadata.ts'
import { raiseGeneration } from '#kinds/all-kinds/strategy.ts'
import type { Behaviour } from '#kinds/kind.ts'
import { checkNodeSelector } from '#kinds/pod-template/node-affinity.ts'
import { checkDriverName, checkPoolName } from '#kinds/resource/device-names.ts'
import { checkCounters, checkDevice } from './device.ts'
import { dropDisabledFields } from './disabled-fields.ts'

const path = FieldPath.of('spec')
/** Devices with taints, counters or lists are larger. */
const devicesMax = { plain: 128, advanced: 64 }
const counterSetsMax = 8

function check(slice: KubeObject, old?: KubeObject): FieldError[] {
  const spec: Loose = slice.spec ?? {}
  const then: Loose | undefined = old && (old.spec ?? {})
  return [
    ...checkDriverName(spec.driver ?? '', path.child('driver')),
    ...checkPool(spec.pool ?? {}, path.child('pool')),
    ...(then === undefined ? [] : checkKept(spec, then)),
    ...checkNodes(spec),
    ...(spec.sharedCounters && spec.devices
      ? [invalid(path, '', 'only one of `sharedCounters` or `devices` is allowed')]
      : []),
    ...checkDevices(spec, then),
    ...checkCounterSets(spec.sharedCounters ?? []),
  ]
}

function checkPool(pool: Loose, at: FieldPath): FieldError[] {
  const { name = '', resourceSliceCount: count = 0, generation = 0 } = pool
  const negative = 'must be greater than or equal to zero'
  return [
    ...checkPoolName(name, at.child('name')),
    ...(count > 0
      ? []
      : [invalid(at.child('resourceSliceCount'), count, 'must be greater than zero')]),
    ...(generation >= 0 ? [] : [invalid(at.child('generation'), generation, negative)]),
  ]
}

function checkKept(spec: Loose, then: Loose): FieldError[] {
  const kept: [FieldPath, unknown, unknown][] = [
    [path.child('pool', 'name'), spec.pool?.name ?? '', then.pool?.name ?? ''],
    [path.child('driver'), spec.driver ?? '', then.driver ?? ''],
    [path.child('nodeName'), spec.nodeName, then.nodeName],
  ]
  return kept.flatMap(([at, now, before]) =>
    now === before ? [] : [invalid(at, now, immutableMessage)],
  )
}

function checkNodes(spec: Loose): FieldError[] {
  const { nodeName, nodeSelector } = spec
  const errors: FieldError[] = []
  if (nodeName === '') {
    const detail = 'must be either unset or set to a non-empty string'
    errors.push(invalid(path.child('nodeName'), '', detail))
  } else if (nodeName !== undefined) {
    errors.push(...each(path.child('nodeName'), nodeName, nameIsDnsSubdomain(nodeName, false)))
  }
  if (nodeSelector) {
    const at = path.child('nodeSelector')
    errors.push(...checkNodeSelector(nodeSelector, at))
    const terms: Loose[] = nodeSelector.nodeSelectorTerms ?? []
    const detail = 'must have exactly one node selector term'
    if (terms.length !== 1) errors.push(invalid(at.child('nodeSelectorTerms'), terms, detail))
  }
  for (const field of ['allNodes', 'perDeviceNodeSelection']) {
    if (spec[field] !== false) continue
    errors.push(invalid(path.child(field), false, 'must be either unset or set to true'))
  }
  const names = ['nodeName', 'nodeSelector', 'allNodes', 'perDeviceNodeSelection']
  const set = names.filter((field) => spec[field]).map((field) => `\`${field}\``)
  const choice = `exactly one of ${names.map((field) => `\`${field}\``).join(', ')} is required`
  if (set.length === 0) errors.push(required(path, choice))
  if (set.length < 2) return errors
  const shown = `{${set.join(', ')}}`
  return [...errors, invalid(path, shown, `${choice}, but multiple fields are set`)]
}

function checkDevices(spec: Loose, then: Loose | undefined): FieldError[] {
  const devices: Loose[] = spec.devices ?? []
  const at = path.child('devices')
  const isAdvanced = devices.some(
    ({ taints, consumesCounters, attributes = {} }) =>
      taints?.length > 0 ||
      consumesCounters?.length > 0 ||
      Object.values(attributes as Loose).some((one: Loose) =>
        Object.values(one).some(Array.isArray),
      ),
  )
  const max = isAdvanced ? devicesMax.advanced : devicesMax.plain
  if (devices.length > max) return [tooMany(at, devices.length, max)]
  const before = new Map(((then?.devices ?? []) as Loose[]).map((one) => [one.name, one]))
  const names = devices.map(({ name = '' }) => name as string)
  const isRepeated = repeats(names)
  return [
    ...devices.flatMap((device, i) =>
      checkDevice(
        device,
        at.index(i),
        spec.perDeviceNodeSelection === true,
        before.get(device.name),
      ),
    ),
    ...names.flatMap((name, i) => (isRepeated[i] ? [duplicate(at.index(i), name)] : [])),
  ]
}

function checkCounterSets(sets: readonly Loose[]): FieldError[] {
  const at = path.child('sharedCounters')
  if (sets.length > counterSetsMax) return [covered(tooMany(at, sets.length, counterSetsMax))]
  const isRepeated = repeats(sets.map(({ name = '' }) => name))
  return [
    ...sets.flatMap((set, i) => checkCounters(set, 'name', at.index(i))),
    ...sets.flatMap(({ name = '' }, i) =>
      isRepeated[i] ? [covered(duplicate(at.index(i), name))] : [],
    ),
  ]
}

export const resourceSliceBehaviour: Behaviour = {
  prepareForCreate(object, context) {
    object.metadata.generation = 1
    dropDisabledFields(object, undefined, context)
  },
  prepareForUpdate(next, old, context) {
    raiseGeneration(next, old, ['spec'], sameJson)
    dropDisabledFields(next, old, context)
  },
  validateCreate: (object) => check(object),
  validateUpdate: (next, old) => [...checkMetadataUpdate(next, old), ...check(next, old)],
  warningsOnCreate({ spec }) {
    const driver: string = spec?.driver ?? ''
    if (driver === driver.toLowerCase()) return []
    const detail = `${goQuote(driver)} contains uppercase characters`
    return [`spec.driver: driver names should be lowercase; ${detail}`]
  },
  selectableFields: ({ spec }) => ({
    'spec.nodeName': spec?.nodeName ?? '',
    'spec.driver': spec?.driver ?? '',
  }),
}
