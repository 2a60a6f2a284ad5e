/** CSIDriver, CSINode and CSIStorageCapacity: what is known of storage drivers and where they run. */
import { duplicate, type FieldError, invalid, notSupported, required } from '#api/field-error.ts'
import { FieldPath } from '#api/field-path.ts'
import {
  asGo,
  goList,
  goPointer,
  goQuote,
  goStrings,
  goStruct,
  type GoText,
} from '#api/go-syntax.ts'
import { validateLabelSelector } from '#api/label-rules.ts'
import { nameIsDnsSubdomain, qualifiedName } from '#api/names.ts'
import type { KubeObject, Loose } from '#api/object-meta.ts'
import { immutableMessage } from '#api/object-meta-rules.ts'
import {
  checkNotNegative,
  checkOneOfIfSet,
  each,
  listAsWritten,
  repeats,
  sameJson,
} from '#kinds/behaviour/checks.ts'
import { checkQuantityNotNegative } from '#kinds/behaviour/cluster/resource-names.ts'
import {
  checkFinalizerNames,
  checkMetadata,
  checkMetadataUpdate,
} from '#kinds/behaviour/metadata.ts'
import { checkCsiDriverName } from '#kinds/behaviour/pods/network-volumes.ts'
import { dropUnlessUsed } from '#kinds/behaviour/strategy.ts'
import { goLabelSelector } from '#kinds/behaviour/workloads/selectors.ts'
import { csiDriverColumns, csiNodeColumns } from '#kinds/columns/storage.ts'
import type { Behaviour, Context } from '#kinds/kind.ts'

const specPath = FieldPath.of('spec')
const lifecycleModes = ['Persistent', 'Ephemeral']
const fsGroupPolicies = ['File', 'None', 'ReadWriteOnceWithFSType']

function checkDriver(driver: KubeObject, context: Context): FieldError[] {
  const spec = driver.spec ?? {}
  const errors: FieldError[] = []
  if (spec.attachRequired === undefined) errors.push(required(specPath.child('attachedRequired')))
  if (spec.podInfoOnMount === undefined) errors.push(required(specPath.child('podInfoOnMount')))
  if (spec.storageCapacity === undefined && context.feature('CSIStorageCapacity')) {
    errors.push(required(specPath.child('storageCapacity')))
  }
  errors.push(
    ...checkOneOfIfSet(spec.fsGroupPolicy, fsGroupPolicies, specPath.child('fsGroupPolicy')),
    ...checkTokenRequests(spec.tokenRequests ?? []),
  )
  for (const mode of (spec.volumeLifecycleModes ?? []) as string[]) {
    if (lifecycleModes.includes(mode)) continue
    errors.push(notSupported(specPath.child('volumeLifecycleModes'), mode, lifecycleModes))
  }
  return errors
}

const tokenSecondsMin = 600
const tokenSecondsMax = 2 ** 32

function checkTokenRequests(requests: Loose[]): FieldError[] {
  const audiences = new Set<string>()
  return requests.flatMap(({ audience = '', expirationSeconds: seconds }, i) => {
    const path = specPath.child('tokenRequests').index(i)
    if (audiences.has(audience)) return [duplicate(path.child('audience'), audience)]
    audiences.add(audience)
    if (seconds === undefined) return []
    const at = path.child('expirationSeconds')
    if (seconds < tokenSecondsMin) {
      return [invalid(at, seconds, 'may not specify a duration less than 10 minutes')]
    }
    if (seconds <= tokenSecondsMax) return []
    return [invalid(at, seconds, 'may not specify a duration larger than 2^32 seconds')]
  })
}

function checkDriverChanges(next: KubeObject, old: KubeObject): FieldError[] {
  const [now, then] = [next.spec ?? {}, old.spec ?? {}]
  const fields: [string, string][] = [
    ['attachRequired', 'attachedRequired'],
    ['fsGroupPolicy', 'fsGroupPolicy'],
    ['podInfoOnMount', 'podInfoOnMount'],
    ['volumeLifecycleModes', 'volumeLifecycleModes'],
    ['storageCapacity', 'storageCapacity'],
  ]
  return fields.flatMap(([field, shown]) => {
    if (sameJson(now[field], then[field])) return []
    const value =
      field === 'volumeLifecycleModes'
        ? asGo(goStrings(now[field], 'storage.VolumeLifecycleMode'))
        : now[field]
    return [invalid(specPath.child(shown), value, immutableMessage)]
  })
}

function dropDisabled(next: KubeObject, old: KubeObject | undefined, context: Context): void {
  const gates: [string, string][] = [
    ['storageCapacity', 'CSIStorageCapacity'],
    ['volumeLifecycleModes', 'CSIInlineVolume'],
    ['fsGroupPolicy', 'CSIVolumeFSGroupPolicy'],
    ['tokenRequests', 'CSIServiceAccountToken'],
    ['requiresRepublish', 'CSIServiceAccountToken'],
  ]
  for (const [field, gate] of gates) {
    dropUnlessUsed(next.spec, field, context.feature(gate), old?.spec?.[field] !== undefined)
  }
}

/** Up to here a driver had a name and a spec to check, no metadata. */
const namedAloneUntil = 19
/** Up to here what was wrong with a new one was told twice. */
const toldTwiceUntil = 20
/** Up to here the spec could not change at all, so that there was nothing to count. */
const specKeptUntil = 20

/** With the name checked as the spec is. */
const checkNamed = (driver: KubeObject, context: Context): FieldError[] => [
  ...checkCsiDriverName(driver.metadata.name ?? '', FieldPath.of('name')),
  ...checkDriver(driver, context),
]

function checkNewDriver(driver: KubeObject, context: Context): FieldError[] {
  if (context.release <= namedAloneUntil) {
    return [...checkNamed(driver, context), ...checkNamed(driver, context)]
  }
  const finalizers = checkFinalizerNames(driver)
  const errors = checkDriver(driver, context)
  if (context.release > toldTwiceUntil) return [...finalizers, ...errors]
  const metadata = checkMetadata(driver, false, nameIsDnsSubdomain)
  return [...finalizers, ...errors, ...metadata, ...errors]
}

const goTokenRequests = (requests: Loose[] | undefined): GoText =>
  goList(
    'storage.TokenRequest',
    requests?.map(({ audience = '', expirationSeconds }) =>
      goStruct('storage.TokenRequest', [
        ['Audience', goQuote(audience)],
        ['ExpirationSeconds', goPointer('int64', expirationSeconds)],
      ]),
    ),
  )

/** The fields of a spec since when there are, as Go shows them. */
const goDriverSpec = (spec: Loose, release: number): GoText => {
  const fields: [since: number, name: string, shown: GoText][] = [
    [15, 'AttachRequired', goPointer('bool', spec.attachRequired)],
    [19, 'FSGroupPolicy', goPointer('storage.FSGroupPolicy', spec.fsGroupPolicy)],
    [15, 'PodInfoOnMount', goPointer('bool', spec.podInfoOnMount)],
    [
      16,
      'VolumeLifecycleModes',
      goStrings(listAsWritten(spec, 'volumeLifecycleModes'), 'storage.VolumeLifecycleMode'),
    ],
    [19, 'StorageCapacity', goPointer('bool', spec.storageCapacity)],
    [20, 'TokenRequests', goTokenRequests(listAsWritten(spec, 'tokenRequests'))],
    [20, 'RequiresRepublish', goPointer('bool', spec.requiresRepublish)],
  ]
  return goStruct(
    'storage.CSIDriverSpec',
    fields.flatMap(([since, name, shown]) => (release < since ? [] : [[name, shown]])),
  )
}

function checkSpecKept(next: KubeObject, old: KubeObject, context: Context): FieldError[] {
  if (sameJson(next.spec, old.spec)) return []
  const shown = asGo(goDriverSpec(next.spec ?? {}, context.release))
  return [invalid(specPath, shown, immutableMessage)]
}

function checkChangedDriver(next: KubeObject, old: KubeObject, context: Context): FieldError[] {
  const { release } = context
  return [
    ...(release <= namedAloneUntil
      ? [...checkNamed(next, context), ...checkNamed(next, context)]
      : checkMetadataUpdate(next, old)),
    ...(release <= specKeptUntil
      ? checkSpecKept(next, old, context)
      : [...checkDriverChanges(next, old), ...checkTokenRequests(next.spec?.tokenRequests ?? [])]),
  ]
}

export const csiDriver: Behaviour = {
  unconditionalUpdate: false,
  metadataLastUntil: namedAloneUntil,
  prepareForCreate: (object, context) => dropDisabled(object, undefined, context),
  prepareForUpdate(next, old, context) {
    dropDisabled(next, old, context)
    if (context.release <= specKeptUntil) return
    const changed = ['tokenRequests', 'requiresRepublish'].some(
      (field) => !sameJson(next.spec?.[field], old.spec?.[field]),
    )
    if (changed) next.metadata.generation = (old.metadata.generation ?? 0) + 1
  },
  validateCreate: checkNewDriver,
  validateUpdate: checkChangedDriver,
  columns: csiDriverColumns,
}

/** How long the id of a node may be, and where the node had longer ones already. */
interface IdLengthMax {
  readonly ofNew: number
  readonly ofOld: number
  /** The one that is told of where the other counts. */
  readonly toldOfOld: number
}

const idLengthMaxSince22: IdLengthMax = { ofNew: 192, ofOld: 256, toldOfOld: 256 }
const idLengthMaxOf21: IdLengthMax = { ofNew: 128, ofOld: 192, toldOfOld: 128 }
const idLengthMaxBefore: IdLengthMax = { ofNew: 128, ofOld: 128, toldOfOld: 128 }

const idLengthMaxIn = (release: number): IdLengthMax =>
  release >= 22 ? idLengthMaxSince22 : release === 21 ? idLengthMaxOf21 : idLengthMaxBefore

function checkNodeDrivers(node: KubeObject, hadLongIds: boolean, release: number): FieldError[] {
  const { ofNew, ofOld, toldOfOld } = idLengthMaxIn(release)
  const names = new Set<string>()
  const drivers: Loose[] = node.spec?.drivers ?? []
  return drivers.flatMap((driver, i) => {
    const path = specPath.child('drivers').index(i)
    const { name = '', nodeID = '' } = driver
    const errors = checkCsiDriverName(name, path.child('name'))
    if (nodeID === '') errors.push(required(path.child('nodeID')))
    if (Buffer.byteLength(nodeID) > (hadLongIds ? ofOld : ofNew)) {
      const detail = `must be ${hadLongIds ? toldOfOld : ofNew} characters or less`
      errors.push(invalid(path.child('nodeID'), nodeID, detail))
    }
    errors.push(...checkNotNegative(driver.allocatable?.count, path.child('allocatable', 'count')))
    if (names.has(name)) errors.push(duplicate(path.child('name'), name))
    names.add(name)
    return [...errors, ...checkTopologyKeys(driver.topologyKeys ?? [], path, release)]
  })
}

/** The first release that shows the key that is wrong, not all of them. */
const keyShownSince = 22

function checkTopologyKeys(keys: string[], path: FieldPath, release: number): FieldError[] {
  const isRepeated = repeats(keys)
  const all = release < keyShownSince ? asGo(goStrings(keys)) : undefined
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

function checkNodeChanges(next: KubeObject, old: KubeObject): FieldError[] {
  const [now, then]: [Loose[], Loose[]] = [next.spec?.drivers ?? [], old.spec?.drivers ?? []]
  const byName = Map.groupBy(now, ({ name }) => name)
  return then.flatMap((driver) =>
    (byName.get(driver.name) ?? [])
      .filter((other) => !sameJson(other, driver))
      .map((other) => invalid('CSINodeDriver', asGo(goNodeDriver(other)), immutableMessage)),
  )
}

/** The original checks a changed node whole, then once more together with what may not change. */
export const csiNode: Behaviour = {
  unconditionalUpdate: false,
  validateCreate(object, { release }) {
    const errors = checkNodeDrivers(object, false, release)
    if (release >= 21) return errors
    // Before that everything was checked twice.
    return [...errors, ...checkMetadata(object, false, nameIsDnsSubdomain), ...errors]
  },
  validateUpdate(next, old, { release }) {
    const longIds = ((old.spec?.drivers ?? []) as Loose[]).some(
      ({ nodeID = '' }) => Buffer.byteLength(nodeID) > idLengthMaxIn(release).ofNew,
    )
    const whole = [
      ...checkMetadata(next, false, nameIsDnsSubdomain),
      ...checkNodeDrivers(next, longIds, release),
    ]
    return [...whole, ...whole, ...checkNodeChanges(next, old)]
  },
  columns: csiNodeColumns,
}

function checkCapacity(object: KubeObject): FieldError[] {
  const name: string = object.storageClassName ?? ''
  const { capacity } = object
  return [
    ...validateLabelSelector(object.nodeTopology, FieldPath.of('nodeTopology')),
    ...each(FieldPath.of('storageClassName'), name, nameIsDnsSubdomain(name, false)),
    ...(capacity === undefined ? [] : checkQuantityNotNegative(capacity, FieldPath.of('capacity'))),
  ]
}

/** A new one is checked twice over, as the original does: each error is told twice. */
export const csiStorageCapacity: Behaviour = {
  unconditionalUpdate: false,
  validateCreate: (object) => [
    ...checkCapacity(object),
    ...checkMetadata(object, true, nameIsDnsSubdomain),
    ...checkCapacity(object),
  ],
  validateUpdate(next, old) {
    const errors = [
      ...checkMetadata(next, true, nameIsDnsSubdomain),
      ...checkCapacity(next),
      ...checkMetadataUpdate(next, old),
    ]
    if (!sameJson(next.nodeTopology, old.nodeTopology)) {
      errors.push(invalid('nodeTopology', goLabelSelector(next.nodeTopology), immutableMessage))
    }
    if ((next.storageClassName ?? '') !== (old.storageClassName ?? '')) {
      errors.push(invalid('storageClassName', next.storageClassName ?? '', immutableMessage))
    }
    return errors
  },
}
