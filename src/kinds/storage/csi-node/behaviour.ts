/** CSINode: the storage drivers that run on a node. */
import { change, releaseOf } from '#api/releases/change.ts'
import { type FieldError, duplicate, invalid, required } from '#api/field-error.ts'
import { FieldPath } from '#api/field-path.ts'
import { type GoText, asGo, goPointer, goQuote, goStrings, goStruct } from '#api/go-syntax.ts'
import { nameIsDnsSubdomain, qualifiedName } from '#api/names.ts'
import { immutableMessage } from '#api/object-meta-rules.ts'
import type { KubeObject, Loose } from '#api/object-meta.ts'
import {
  checkNotNegative,
  each,
  listAsWritten,
  repeats,
  sameJson,
} from '#kinds/all-kinds/checks.ts'
import { checkMetadata } from '#kinds/all-kinds/metadata.ts'
import type { Behaviour, Context } from '#kinds/kind.ts'
import { checkCsiDriverName } from '#kinds/pod-template/network-volumes.ts'
import { clearNodeStatus, keepNodeStatus, nodeStatus } from './status.ts'

const checkedOnce = change('each error of a new CSINode occurs once', { since: 21 })

const specPath = FieldPath.of('spec')

/** Limits of the length of a node id, which depend on whether the old object exceeded them. */
interface IdLengthMax {
  readonly ofNew: number
  readonly ofOld: number
  /** The limit in messages about the old object, if it differs. */
  readonly oldNumber: number
}

const longIds = change('the node id of a CSINode can have 192 bytes', { since: 22 })
const keepsLongIds = change('a CSINode keeps node ids of up to 192 bytes', { since: 21 })

const idLengthMax: IdLengthMax = { ofNew: 192, ofOld: 256, oldNumber: 256 }

const idLengthMaxOf21: IdLengthMax = { ofNew: 128, ofOld: 192, oldNumber: 128 }

const idLengthMaxBefore: IdLengthMax = { ofNew: 128, ofOld: 128, oldNumber: 128 }

const longerIds = change('node ids of a CSINode can have 256 bytes', { since: 36 })
const idLengthMaxSince36: IdLengthMax = { ofNew: 256, ofOld: 256, oldNumber: 256 }

function idLengthMaxIn(release: number): IdLengthMax {
  const { has } = releaseOf(release)
  if (has(longerIds)) return idLengthMaxSince36
  if (has(longIds)) return idLengthMax
  return has(keepsLongIds) ? idLengthMaxOf21 : idLengthMaxBefore
}

function checkNodeDrivers(node: KubeObject, hadLongIds: boolean, release: number): FieldError[] {
  const { ofNew, ofOld, oldNumber } = idLengthMaxIn(release)
  const names = new Set<string>()
  const drivers: Loose[] = node.spec?.drivers ?? []
  return drivers.flatMap((driver, i) => {
    const path = specPath.child('drivers').index(i)
    const { name = '', nodeID = '' } = driver
    const errors = checkCsiDriverName(name, path.child('name'))
    if (nodeID === '') errors.push(required(path.child('nodeID')))
    if (Buffer.byteLength(nodeID) > (hadLongIds ? ofOld : ofNew)) {
      const detail = `must be ${hadLongIds ? oldNumber : ofNew} characters or less`
      errors.push(invalid(path.child('nodeID'), nodeID, detail))
    }
    errors.push(...checkNotNegative(driver.allocatable?.count, path.child('allocatable', 'count')))
    if (names.has(name)) errors.push(duplicate(path.child('name'), name))
    names.add(name)
    return [...errors, ...checkTopologyKeys(driver.topologyKeys ?? [], path, release)]
  })
}

const showsOneKey = change('errors of a CSINode show the invalid topology key alone', { since: 22 })

function checkTopologyKeys(keys: string[], path: FieldPath, release: number): FieldError[] {
  const isRepeated = repeats(keys)
  const all = releaseOf(release).has(showsOneKey) ? undefined : asGo(goStrings(keys))
  return keys.flatMap((key, i) => [
    ...(key === '' ? [required(path)] : []),
    ...(isRepeated[i] ? [duplicate(path, key)] : []),
    ...each(path, all ?? key, qualifiedName(key)),
  ])
}

const goNodeDriver = (driver: Loose): GoText =>
  goStruct('storage.CSINodeDriver', [
    ['Name', goQuote(driver.name ?? '')],
    ['NodeID', goQuote(driver.nodeID ?? '')],
    ['TopologyKeys', goStrings(listAsWritten(driver, 'topologyKeys'))],
    ['Allocatable', goPointer('storage.VolumeNodeResources', driver.allocatable)],
  ])

const namesDrivers = change('errors of changed drivers of a CSINode name spec.drivers', {
  since: 33,
})

function checkNodeChanges(
  next: KubeObject,
  old: KubeObject,
  { release, feature }: Context,
): FieldError[] {
  const driversOf = ({ spec }: KubeObject): Loose[] => {
    const drivers: Loose[] = spec?.drivers ?? []
    if (!feature('MutableCSINodeAllocatableCount')) return drivers
    return drivers.map(({ allocatable: _, ...others }) => others)
  }
  const [now, then] = [driversOf(next), driversOf(old)]
  const at = releaseOf(release).has(namesDrivers) ? 'spec.drivers' : 'CSINodeDriver'
  const byName = Map.groupBy(now, ({ name }) => name)
  return then.flatMap((driver) =>
    (byName.get(driver.name) ?? [])
      .filter((other) => !sameJson(other, driver))
      .map((other) => invalid(at, asGo(goNodeDriver(other)), immutableMessage)),
  )
}

/**
 * kube-apiserver validates a changed node completely, and then again together with its immutable
 * fields.
 */
export const csiNodeBehaviour: Behaviour = {
  unconditionalUpdate: false,
  resetFields: [['status']],
  prepareForCreate: clearNodeStatus,
  prepareForUpdate: keepNodeStatus,
  validateCreate(object, { release }) {
    const errors = checkNodeDrivers(object, false, release)
    if (releaseOf(release).has(checkedOnce)) return errors
    // Before that everything was checked twice.
    return [...errors, ...checkMetadata(object, false, nameIsDnsSubdomain), ...errors]
  },
  validateUpdate(next, old, context) {
    const { release } = context
    const longIds = ((old.spec?.drivers ?? []) as Loose[]).some(
      ({ nodeID = '' }) => Buffer.byteLength(nodeID) > idLengthMaxIn(release).ofNew,
    )
    const whole = [
      ...checkMetadata(next, false, nameIsDnsSubdomain),
      ...checkNodeDrivers(next, longIds, release),
    ]
    return [...whole, ...whole, ...checkNodeChanges(next, old, context)]
  },
  subresources: { status: nodeStatus },
}
