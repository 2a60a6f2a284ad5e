/** CSIDriver: the requirements and capabilities of a storage driver. */
import { type ReleaseChange, change, releaseOf } from '#api/releases/change.ts'
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
  for (const [field, gate] of requiredByGate) {
    if (spec[field] === undefined && context.feature(gate))
      errors.push(required(specPath.child(field)))
  }
  return [...errors, ...checkSecretsAndPeriod(spec)]
}

/** Fields with a default, in releases where the gate is on. */
const requiredByGate = [
  ['seLinuxMount', 'SELinuxMountReadWriteOncePod'],
  ['preventPodSchedulingIfMissing', 'VolumeLimitScaling'],
] as const

const updateSecondsMin = 10

function checkSecretsAndPeriod(spec: Loose): FieldError[] {
  const errors: FieldError[] = []
  const { nodeAllocatableUpdatePeriodSeconds: seconds, serviceAccountTokenInSecrets } = spec
  if (seconds !== undefined && seconds < updateSecondsMin) {
    const at = specPath.child('nodeAllocatableUpdatePeriodSeconds')
    errors.push(invalid(at, seconds, 'must be greater than or equal to 10 seconds'))
  }
  if (serviceAccountTokenInSecrets === undefined || spec.tokenRequests?.length) return errors
  const words = 'serviceAccountTokenInSecrets is set but no tokenRequests are specified'
  const at = specPath.child('serviceAccountTokenInSecrets')
  return [...errors, invalid(at, serviceAccountTokenInSecrets, words)]
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

const fewFieldsStay = change('a CSIDriver can change all but attachRequired and its lifecycle', {
  since: 30,
})
const capacityMayChange = change('storageCapacity of a CSIDriver can be changed', { since: 23 })
const changesAreCheckedWhole = change('a changed CSIDriver is checked like a new one', {
  since: 23,
})
const requestsAreCheckedTwice = change('token requests of a changed CSIDriver are checked twice', {
  since: 23,
  until: 29,
})
const anyChangeCounts = change('every change of a CSIDriver raises its generation', { since: 30 })

function checkDriverChanges(next: KubeObject, old: KubeObject, release: number): FieldError[] {
  const { has } = releaseOf(release)
  const [now, then] = [next.spec ?? {}, old.spec ?? {}]
  const fields: [string, string][] = [
    ['attachRequired', 'attachedRequired'],
    ...(has(fewFieldsStay) ? [] : (['fsGroupPolicy', 'podInfoOnMount'] as const)).map(
      (field): [string, string] => [field, field],
    ),
    ['volumeLifecycleModes', 'volumeLifecycleModes'],
  ]
  if (!has(capacityMayChange)) fields.push(['storageCapacity', 'storageCapacity'])
  return fields.flatMap(([field, shown]) => {
    if (sameJson(now[field], then[field])) return []
    const value =
      field === 'volumeLifecycleModes'
        ? asGo(goStrings(now[field], 'storage.VolumeLifecycleMode'))
        : now[field]
    return [invalid(specPath.child(shown), value, immutableMessage)]
  })
}

const tokensInSecrets = 'CSIServiceAccountTokenSecrets'

function dropDisabled(next: KubeObject, old: KubeObject | undefined, context: Context): void {
  const gates: [string, string][] = [
    ['storageCapacity', 'CSIStorageCapacity'],
    ['volumeLifecycleModes', 'CSIInlineVolume'],
    ['fsGroupPolicy', 'CSIVolumeFSGroupPolicy'],
    ['tokenRequests', 'CSIServiceAccountToken'],
    ['requiresRepublish', 'CSIServiceAccountToken'],
    ['nodeAllocatableUpdatePeriodSeconds', 'MutableCSINodeAllocatableCount'],
    ['serviceAccountTokenInSecrets', tokensInSecrets],
    ...requiredByGate.map(([field, gate]): [string, string] => [field, gate]),
  ]
  for (const [field, gate] of gates) {
    dropUnlessUsed(next.spec, field, context.feature(gate), old?.spec?.[field] !== undefined)
  }
}

const checksNameAlone = change(
  "a CSIDriver's labels, annotations and finalizers are not validated",
  { until: 19 },
)

const errorsOccurTwice = change('each error of a new CSIDriver occurs twice', { until: 20 })

const specIsImmutable = change('the spec of a CSIDriver cannot be changed', { until: 20 })

/** With the name checked as the spec is. */
const checkNamed = (driver: KubeObject, context: Context): FieldError[] => [
  ...checkCsiDriverName(driver.metadata.name ?? '', FieldPath.of('name')),
  ...checkDriver(driver, context),
]

function checkNewDriver(driver: KubeObject, context: Context): FieldError[] {
  if (releaseOf(context.release).has(checksNameAlone)) {
    return [...checkNamed(driver, context), ...checkNamed(driver, context)]
  }
  const finalizers = checkFinalizerNames(driver)
  const errors = checkDriver(driver, context)
  if (!releaseOf(context.release).has(errorsOccurTwice)) return [...finalizers, ...errors]
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

const hasModes = change('errors of a CSIDriver show volumeLifecycleModes', { since: 16 })
const hasCapacity = change('errors of a CSIDriver show fsGroupPolicy and storageCapacity', {
  since: 19,
})
const hasTokens = change('errors of a CSIDriver show tokenRequests', { since: 20 })

/** The spec as Go formats it: with the fields that the release has. */
const goDriverSpec = (spec: Loose, release: number): GoText => {
  const fields: [added: ReleaseChange | undefined, name: string, shown: GoText][] = [
    [undefined, 'AttachRequired', goPointer('bool', spec.attachRequired)],
    [hasCapacity, 'FSGroupPolicy', goPointer('storage.FSGroupPolicy', spec.fsGroupPolicy)],
    [undefined, 'PodInfoOnMount', goPointer('bool', spec.podInfoOnMount)],
    [
      hasModes,
      'VolumeLifecycleModes',
      goStrings(listAsWritten(spec, 'volumeLifecycleModes'), 'storage.VolumeLifecycleMode'),
    ],
    [hasCapacity, 'StorageCapacity', goPointer('bool', spec.storageCapacity)],
    [hasTokens, 'TokenRequests', goTokenRequests(listAsWritten(spec, 'tokenRequests'))],
    [hasTokens, 'RequiresRepublish', goPointer('bool', spec.requiresRepublish)],
  ]
  return goStruct(
    'storage.CSIDriverSpec',
    fields.flatMap(([added, name, shown]) =>
      added === undefined || releaseOf(release).has(added) ? [[name, shown]] : [],
    ),
  )
}

function checkSpecKept(next: KubeObject, old: KubeObject, context: Context): FieldError[] {
  if (sameJson(next.spec, old.spec)) return []
  const shown = asGo(goDriverSpec(next.spec ?? {}, context.release))
  return [invalid(specPath, shown, immutableMessage)]
}

function checkChangedDriver(next: KubeObject, old: KubeObject, context: Context): FieldError[] {
  const { has } = releaseOf(context.release)
  const metadata = has(checksNameAlone)
    ? [...checkNamed(next, context), ...checkNamed(next, context)]
    : checkMetadataUpdate(next, old)
  if (has(specIsImmutable)) return [...metadata, ...checkSpecKept(next, old, context)]
  const changes = checkDriverChanges(next, old, context.release)
  const requests = () => checkTokenRequests(next.spec?.tokenRequests ?? [])
  if (!has(changesAreCheckedWhole)) return [...metadata, ...changes, ...requests()]
  const again = has(requestsAreCheckedTwice) ? requests() : []
  return [...metadata, ...checkDriver(next, context), ...changes, ...again]
}

const changesGeneration = (next: KubeObject, old: KubeObject, release: number): boolean => {
  const { has } = releaseOf(release)
  if (has(specIsImmutable)) return false
  if (has(anyChangeCounts)) return !sameJson(next.spec, old.spec)
  return ['tokenRequests', 'requiresRepublish'].some(
    (field) => !sameJson(next.spec?.[field], old.spec?.[field]),
  )
}

const inSecrets =
  'spec.serviceAccountTokenInSecrets is unset; if supported by this CSI driver, set to true to prevent possible logging of tokens in volume attributes'

const warnings = ({ spec = {} }: KubeObject, { feature }: Context): string[] =>
  feature(tokensInSecrets) &&
  spec.tokenRequests?.length > 0 &&
  spec.serviceAccountTokenInSecrets === undefined
    ? [inSecrets]
    : []

export const csiDriverBehaviour: Behaviour = {
  unconditionalUpdate: false,
  metadataLastIn: checksNameAlone,
  prepareForCreate: (object, context) => dropDisabled(object, undefined, context),
  prepareForUpdate(next, old, context) {
    dropDisabled(next, old, context)
    if (changesGeneration(next, old, context.release))
      next.metadata.generation = (old.metadata.generation ?? 0) + 1
  },
  warningsOnCreate: warnings,
  warningsOnUpdate: (next, old, context) =>
    sameJson(next.spec?.tokenRequests, old.spec?.tokenRequests) ? [] : warnings(next, context),
  validateCreate: checkNewDriver,
  validateUpdate: checkChangedDriver,
}
