/**
 * Validation of the status of a ResourceClaim: the devices that it was given, who may use them, and
 * what drivers report about them. A claim that has its devices keeps them.
 */
import {
  covered,
  type FieldError,
  forbidden,
  invalid,
  required,
  tooMany,
} from '#api/field-error.ts'
import { FieldPath } from '#api/field-path.ts'
import { asGo, goQuote, goStruct, type GoText } from '#api/go-syntax.ts'
import type { KubeObject, Loose } from '#api/object-meta.ts'
import { releaseOf } from '#api/releases/change.ts'
import { checkDns1123Label, sameJson } from '#kinds/all-kinds/checks.ts'
import { checkConditions } from '#kinds/all-kinds/conditions.ts'
import { checkInterfaceAddress } from '#kinds/all-kinds/strict-addresses.ts'
import type { Context } from '#kinds/kind.ts'
import { checkNodeSelector } from '#kinds/pod-template/node-affinity.ts'
import { checkBinding } from '#kinds/resource/device-binding.ts'
import {
  checkReference,
  checkReferences,
  checkToleration,
  namesOf,
  type Names,
} from '#kinds/resource/device-claim.ts'
import {
  checkConfiguration,
  checkEach,
  checkParameters,
} from '#kinds/resource/device-configuration.ts'
import { checkDriverName, checkPoolName } from '#kinds/resource/device-names.ts'

const statusPath = FieldPath.of('status')
const usersMax = 256
const resultsMax = 32
/** Those of the classes and those of the claim. */
const configurationsMax = 2 * 32
const conditionsMax = 8
const addressesMax = 16

export function checkClaimStatus(
  next: KubeObject,
  old: KubeObject,
  context: Context,
): FieldError[] {
  const status: Loose = next.status ?? {}
  const { allocation } = status
  const isNew = Boolean(allocation) && !old.status?.allocation
  const names = namesOf(next.spec?.devices ?? {})
  return [
    ...checkEach((status.reservedFor ?? []) as Loose[], usersMax, usersPath, checkUser),
    ...checkDevices(status, context),
    ...checkReserved(next, old),
    ...(isNew ? checkAllocation(allocation, statusPath.child('allocation'), names) : []),
  ]
}

const usersPath = statusPath.child('reservedFor')

const checkUser = (user: Loose, path: FieldPath): FieldError[] =>
  ['resource', 'name', 'uid'].flatMap((field) => (user[field] ? [] : [required(path.child(field))]))

/** Users of a deleted claim can only leave. */
function checkReserved(next: KubeObject, old: KubeObject): FieldError[] {
  const reserved: Loose[] = next.status?.reservedFor ?? []
  if (reserved.length === 0) return []
  if (!next.status?.allocation) {
    return [forbidden(usersPath, 'may not be specified when `allocated` is not set')]
  }
  if (next.metadata.deletionTimestamp === undefined) return []
  const before: Loose[] = old.status?.reservedFor ?? []
  const isNew = reserved.some((one) => !before.some((other) => sameJson(one, other)))
  const detail =
    'new entries may not be added while `deallocationRequested` or `deletionTimestamp` are set'
  return isNew ? [forbidden(usersPath, detail)] : []
}

function checkAllocation(allocation: Loose, path: FieldPath, names: Names): FieldError[] {
  const { results = [], config = [] }: Loose = allocation.devices ?? {}
  const devices = path.child('devices')
  return [
    ...checkEach(results as Loose[], resultsMax, devices.child('results'), (result, at) =>
      checkResult(result, at, names),
    ),
    ...checkEach(config as Loose[], configurationsMax, devices.child('config'), (one, at) => [
      ...checkReferences(one.requests ?? [], at.child('requests'), names),
      ...checkConfiguration(one, at, false),
    ]),
    ...(allocation.nodeSelector
      ? checkNodeSelector(allocation.nodeSelector, path.child('nodeSelector'), true)
      : []),
  ]
}

function checkResult(result: Loose, path: FieldPath, names: Names): FieldError[] {
  const tolerations: Loose[] = result.tolerations ?? []
  return [
    ...checkReference(result.request ?? '', path.child('request'), names),
    ...checkDriverName(result.driver ?? '', path.child('driver')).map(covered),
    ...checkPoolName(result.pool ?? '', path.child('pool')).map(covered),
    ...checkDns1123Label(result.device ?? '', path.child('device')),
    ...checkBinding(result, path),
    ...tolerations.flatMap((one, i) => checkToleration(one, path.child('tolerations').index(i))),
    ...checkSkipped(result.skipNodeOperations ?? [], path.child('skipNodeOperations')),
  ]
}

/** What is prepared on the node is undone there too. */
function checkSkipped(skipped: readonly string[], path: FieldPath): FieldError[] {
  const isUndone = !skipped.includes('NodeUnprepareResources') && !skipped.includes('All')
  if (!skipped.includes('NodePrepareResources') || !isUndone) return []
  const detail =
    'NodePrepareResources cannot be skipped unless NodeUnprepareResources is also skipped'
  return [invalid(path, skipped, detail)]
}

/** How kube-apiserver identifies a device: its names, and the share of it. */
const idOf = ({ driver = '', pool = '', device = '', shareID = '' }: Loose): GoText =>
  goStruct('internal.SharedDeviceID', [
    ['Driver', goQuote(driver)],
    ['Pool', goQuote(pool)],
    ['Device', goQuote(device)],
    ['ShareID', goQuote(shareID)],
  ])

function checkDevices({ devices = [], allocation }: Loose, context: Context): FieldError[] {
  const results: Loose[] = allocation?.devices?.results ?? []
  const allocated = new Set(results.map((one) => idOf(one).text))
  return (devices as Loose[]).flatMap((device, i) =>
    checkDevice(device, statusPath.child('devices').index(i), allocated, context),
  )
}

function checkDevice(
  device: Loose,
  path: FieldPath,
  allocated: ReadonlySet<string>,
  { release }: Context,
): FieldError[] {
  const id = idOf(device)
  const conditions: Loose[] = device.conditions ?? []
  const conditionsPath = path.child('conditions')
  return [
    ...checkDriverName(device.driver ?? '', path.child('driver')),
    ...checkPoolName(device.pool ?? '', path.child('pool')),
    ...checkDns1123Label(device.device ?? '', path.child('device')),
    ...(allocated.has(id.text)
      ? []
      : [invalid(path, asGo(id), 'must be an allocated device in the claim')]),
    ...(conditions.length > conditionsMax
      ? [tooMany(conditionsPath, conditions.length, conditionsMax)]
      : []),
    ...checkConditions(conditions, conditionsPath, releaseOf(release)),
    ...(device.data ? checkParameters(device.data, path.child('data'), false) : []),
    ...checkEach(
      (device.networkData?.ips ?? []) as string[],
      addressesMax,
      path.child('networkData', 'ips'),
      checkInterfaceAddress,
    ),
  ]
}
