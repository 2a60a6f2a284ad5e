/**
 * Validation of one device of a ResourceSlice: attributes, capacities, consumed counters and node
 * selection.
 */
import {
  covered,
  duplicate,
  type FieldError,
  forbidden,
  invalid,
  required,
  tooLong,
  tooMany,
} from '#api/field-error.ts'
import type { FieldPath } from '#api/field-path.ts'
import { nameIsDnsSubdomain } from '#api/names.ts'
import type { Loose } from '#api/object-meta.ts'
import { checkDns1123Label, each, repeats, sameJson, sortedKeys } from '#kinds/all-kinds/checks.ts'
import { checkNodeSelector } from '#kinds/pod-template/node-affinity.ts'
import { checkBinding } from '#kinds/resource/device-binding.ts'
import { checkAttributeName } from '#kinds/resource/device-names.ts'
import { checkTaint } from '#kinds/resource/device-taint.ts'

/** Attributes and capacities together, and the values of attributes. */
const entriesMax = 32
const valuesMax = 48
const valueLengthMax = 64
const taintsMax = 16
const countersMax = 32
const consumptionsMax = 2

export function checkDevice(
  device: Loose,
  path: FieldPath,
  choosesNodes: boolean,
  old: Loose | undefined,
): FieldError[] {
  const { attributes = {}, capacity = {}, taints = [] } = device
  const count = Object.keys(attributes).length + Object.keys(capacity).length
  const isKept = (field: string) => old !== undefined && sameJson(device[field], old[field])
  return [
    ...checkDns1123Label(device.name ?? '', path.child('name')),
    ...tooManyOf(count, entriesMax, 'attributes and capacities', path),
    ...tooManyOf(valuesOf(attributes), valuesMax, 'attribute values', path),
    ...checkMap(attributes, path.child('attributes'), checkAttribute),
    ...(isKept('capacity')
      ? []
      : checkMap(capacity, path.child('capacity'), (one, at) =>
          checkCapacity(one, at, device.allowMultipleAllocations === true),
        )),
    ...(isKept('taints') ? [] : checkTaints(taints, path.child('taints'))),
    ...checkConsumption(device.consumesCounters ?? [], path.child('consumesCounters')),
    ...(choosesNodes ? checkNodes(device, path) : checkNoNodes(device, path)),
    ...checkBinding(device, path),
  ]
}

function tooManyOf(count: number, max: number, what: string, path: FieldPath): FieldError[] {
  return count > max
    ? [invalid(path, count, `the total number of ${what} must not exceed ${max}`)]
    : []
}

const valuesOf = (attributes: Loose): number =>
  Object.values(attributes).reduce(
    (sum: number, one: Loose) =>
      sum + Object.values(one).reduce((n: number, v) => n + (Array.isArray(v) ? v.length : 1), 0),
    0,
  )

/** Longest key that paths of errors show: the longest domain and name with a slash. */
const keyLengthMax = 63 + 1 + 32

/** A key without its middle, if it is too long for a path. */
function shortened(key: string): string {
  if (key.length <= keyLengthMax) return key
  const kept = keyLengthMax - '...'.length
  return `${key.slice(0, Math.ceil(kept / 2))}...${key.slice(-Math.floor(kept / 2))}`
}

const checkMap = (
  map: Loose,
  path: FieldPath,
  check: (value: Loose, at: FieldPath) => FieldError[],
): FieldError[] =>
  sortedKeys(map).flatMap((key) => [
    ...checkAttributeName(key, path),
    ...check(map[key], path.key(shortened(key))),
  ])

const semver =
  /^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(?:-((?:0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*)(?:\.(?:0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*))*))?(?:\+([0-9a-zA-Z-]+(?:\.[0-9a-zA-Z-]+)*))?$/

const checkText = (text: string, path: FieldPath): FieldError[] =>
  Buffer.byteLength(text) > valueLengthMax ? [tooLong(path, text, valueLengthMax)] : []

const checkVersion = (text: string, path: FieldPath): FieldError[] => [
  ...(semver.test(text)
    ? []
    : [invalid(path, text, 'must be a string compatible with semver.org spec 2.0.0')]),
  ...checkText(text, path),
]

function checkAttribute(attribute: Loose, path: FieldPath): FieldError[] {
  const { string, version, strings = [], versions = [] } = attribute
  const errors = [
    ...(string === undefined ? [] : checkText(string, path.child('string'))),
    ...(version === undefined ? [] : checkVersion(version, path.child('version'))),
    ...(strings as string[]).flatMap((text, i) =>
      checkText(text, path.child('strings').index(i)).map(covered),
    ),
    ...(versions as string[]).flatMap((text, i) =>
      checkVersion(text, path.child('versions').index(i)),
    ),
  ]
  const kinds = ['bool', 'int', 'string', 'version', 'bools', 'ints', 'strings', 'versions']
  const set = kinds.filter((kind) => attribute[kind] !== undefined)
  if (set.length === 1) return errors
  const shown = set.length === 0 ? '' : attribute
  const unsettled = invalid(path, shown, 'exactly one value must be specified')
  return [...errors, { ...unsettled, origin: 'union' }]
}

function checkCapacity({ requestPolicy }: Loose, path: FieldPath, isShared: boolean): FieldError[] {
  if (!requestPolicy) return []
  const at = path.child('requestPolicy')
  if (!isShared) {
    const detail = 'allowMultipleAllocations must be true'
    return [forbidden(at, detail)]
  }
  if (!requestPolicy.validValues || !requestPolicy.validRange) return []
  const detail =
    'exactly one policy can be specified, cannot specify "validValues" and "validRange" at the same time'
  return [forbidden(at, detail)]
}

function checkTaints(taints: readonly Loose[], path: FieldPath): FieldError[] {
  if (taints.length > taintsMax) return [tooMany(path, taints.length, taintsMax)]
  return taints.flatMap((taint, i) => checkTaint(taint, path.index(i)))
}

/** Counters with the name of their set. Declared rules look at all of it. */
export function checkCounters(holder: Loose, nameField: string, path: FieldPath): FieldError[] {
  const name: string = holder[nameField] ?? ''
  const at = path.child(nameField)
  const names = sortedKeys(holder.counters)
  const counters = path.child('counters')
  const errors = name === '' ? [required(at)] : checkDns1123Label(name, at)
  if (names.length === 0) return [...errors, required(counters)].map(covered)
  if (names.length > countersMax) {
    return [...errors.map(covered), tooMany(counters, names.length, countersMax)]
  }
  return [...errors, ...names.flatMap((one) => checkDns1123Label(one, counters))].map(covered)
}

function checkConsumption(list: readonly Loose[], path: FieldPath): FieldError[] {
  if (list.length > consumptionsMax) return [covered(tooMany(path, list.length, consumptionsMax))]
  const isRepeated = repeats(list.map(({ counterSet = '' }) => counterSet))
  return [
    ...list.flatMap((one, i) => checkCounters(one, 'counterSet', path.index(i))),
    ...list.flatMap(({ counterSet = '' }, i) =>
      isRepeated[i] ? [covered(duplicate(path.index(i), counterSet))] : [],
    ),
  ]
}

const nodeFields = ['nodeName', 'nodeSelector', 'allNodes']

function checkNodes(device: Loose, path: FieldPath): FieldError[] {
  const { nodeName, nodeSelector, allNodes } = device
  const errors: FieldError[] = []
  const at = path.child('nodeName')
  if (nodeName === '') errors.push(invalid(at, '', 'must not be empty'))
  else if (nodeName !== undefined)
    errors.push(...each(at, nodeName, nameIsDnsSubdomain(nodeName, false)))
  if (nodeSelector) errors.push(...checkNodeSelector(nodeSelector, path.child('nodeSelector')))
  if (allNodes === false) {
    errors.push(invalid(path.child('allNodes'), false, 'must be either unset or set to true'))
  }
  const set = nodeFields.filter((field) => device[field]).map((field) => `\`${field}\``)
  const detail =
    'exactly one of `nodeName`, `nodeSelector`, or `allNodes` is required when `perDeviceNodeSelection` is set to true in the ResourceSlice spec'
  if (set.length === 0) errors.push(required(path, detail))
  return set.length < 2 ? errors : [...errors, invalid(path, `{${set.join(', ')}}`, detail)]
}

function checkNoNodes(device: Loose, path: FieldPath): FieldError[] {
  if (nodeFields.every((field) => device[field] === undefined)) return []
  const detail =
    '`nodeName`, `nodeSelector` and `allNodes` can only be set if `perDeviceNodeSelection` is set to true in the ResourceSlice spec'
  return [invalid(path, undefined, detail)]
}
