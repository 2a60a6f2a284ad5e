/** CSIDriver: what a storage driver needs and offers. */
import { type FieldError, duplicate, invalid, notSupported, required } from '#api/field-error.ts'
import { FieldPath } from '#api/field-path.ts'
import {
  type GoText,
  asGo,
  goList,
  goPointer,
  goQuote,
  goStrings,
  goStruct,
} from '#api/go-syntax.ts'
import { nameIsDnsSubdomain } from '#api/names.ts'
import { immutableMessage } from '#api/object-meta-rules.ts'
import type { KubeObject, Loose } from '#api/object-meta.ts'
import { checkOneOfIfSet, listAsWritten, sameJson } from '#kinds/all-kinds/checks.ts'
import {
  checkFinalizerNames,
  checkMetadata,
  checkMetadataUpdate,
} from '#kinds/all-kinds/metadata.ts'
import { dropUnlessUsed } from '#kinds/all-kinds/strategy.ts'
import type { Behaviour, Context } from '#kinds/kind.ts'
import { checkCsiDriverName } from '#kinds/pod-template/network-volumes.ts'

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

export const csiDriverBehaviour: Behaviour = {
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
}
