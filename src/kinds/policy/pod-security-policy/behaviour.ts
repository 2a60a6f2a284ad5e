/** PodSecurityPolicy: the rules a policy sets for pods. Pods are held against them elsewhere. */
import { change, releaseOf } from '#api/releases/change.ts'
import { type FieldError, invalid, required } from '#api/field-error.ts'
import { FieldPath } from '#api/field-path.ts'
import { asGo, goQuote, goStrings } from '#api/go-syntax.ts'
import type { KubeObject, Loose } from '#api/object-meta.ts'
import { checkNoBacksteps, checkOneOfIfSet } from '#kinds/all-kinds/checks.ts'
import { checkMetadataUpdate } from '#kinds/all-kinds/metadata.ts'
import { checkCsiDriverName } from '#kinds/pod-template/network-volumes.ts'
import { checkSeccompText } from '#kinds/pod-template/seccomp.ts'
import { dropUnlessUsed } from '#kinds/all-kinds/strategy.ts'
import type { Behaviour, Context } from '#kinds/kind.ts'
import { ownValue } from '#kinds/own-key.ts'
import {
  checkFsGroup,
  checkRunAsGroup,
  checkRunAsUser,
  checkRuntimeClass,
  checkSeLinux,
  checkSupplementalGroups,
} from './id-rules.ts'
import { checkSysctls, checkSysctlOverlaps } from './sysctls.ts'
import { volumeTypes } from './volume-types.ts'

const path = FieldPath.of('spec')

function checkSpec(spec: Loose, allowEphemeral: boolean): FieldError[] {
  const dropped: string[] = spec.requiredDropCapabilities ?? []
  const allowed: string[] = spec.allowedCapabilities ?? []
  const errors = [
    ...checkRunAsUser(spec.runAsUser ?? {}, path.child('runAsUser')),
    ...checkRunAsGroup(spec.runAsGroup, path.child('runAsGroup')),
    ...checkSeLinux(spec.seLinux ?? {}, path.child('seLinux')),
    ...checkSupplementalGroups(spec.supplementalGroups ?? {}, path.child('supplementalGroups')),
    ...checkFsGroup(spec.fsGroup ?? {}, path.child('fsGroup')),
    ...checkVolumes(spec.volumes ?? [], allowEphemeral),
  ]
  if (dropped.length > 0 && allowed.includes('*')) {
    const shown = asGo(goStrings(dropped, 'core.Capability'))
    const detail = 'must be empty when all capabilities are allowed by a wildcard'
    errors.push(invalid('requiredDropCapabilities', shown, detail))
  }
  errors.push(
    ...checkDropped(dropped, spec.defaultAddCapabilities ?? [], 'defaultAddCapabilities'),
    ...checkDropped(dropped, allowed, 'allowedCapabilities'),
  )
  if (spec.defaultAllowPrivilegeEscalation === true && spec.allowPrivilegeEscalation === false) {
    const detail =
      'Cannot set DefaultAllowPrivilegeEscalation to true without also setting AllowPrivilegeEscalation to true'
    errors.push(invalid(path.child('defaultAllowPrivilegeEscalation'), true, detail))
  }
  return [...errors, ...checkLists(spec)]
}

function checkLists(spec: Loose): FieldError[] {
  const [unsafe, forbidden] = [path.child('allowedUnsafeSysctls'), path.child('forbiddenSysctls')]
  const unsafeList: string[] = spec.allowedUnsafeSysctls ?? []
  const forbiddenList: string[] = spec.forbiddenSysctls ?? []
  return [
    ...((spec.allowedProcMountTypes ?? []) as string[]).flatMap((type, i) =>
      checkOneOfIfSet(type, ['Default', 'Unmasked'], path.child('allowedProcMountTypes').index(i)),
    ),
    ...checkHostPaths(spec.allowedHostPaths ?? []),
    ...((spec.allowedFlexVolumes ?? []) as Loose[]).flatMap((volume, i) => {
      const at = path.child('allowedFlexVolumes', 'allowedFlexVolumes').index(i).child('driver')
      return volume.driver ? [] : [required(at, 'must specify a driver')]
    }),
    ...((spec.allowedCSIDrivers ?? []) as Loose[]).flatMap((driver, i) => {
      const at = path.child('allowedCSIDrivers', 'allowedCSIDriver').index(i).child('name')
      return checkCsiDriverName(driver.name ?? '', at)
    }),
    ...checkSysctls(unsafeList, unsafe),
    ...checkSysctls(forbiddenList, forbidden),
    ...checkSysctlOverlaps(unsafeList, unsafe, forbiddenList, forbidden),
    ...checkRuntimeClass(spec.runtimeClass, path.child('runtimeClass')),
  ]
}

function checkVolumes(volumes: string[], allowEphemeral: boolean): FieldError[] {
  const allowed = volumeTypes.filter((type) => allowEphemeral || type !== 'ephemeral')
  return volumes.flatMap((volume) => checkOneOfIfSet(volume, allowed, path.child('volumes')))
}

function checkDropped(dropped: string[], added: string[], field: string): FieldError[] {
  const detail = `capability is listed in ${field} and requiredDropCapabilities`
  const isDropped = new Set(dropped)
  return added
    .filter((capability) => isDropped.has(capability))
    .map((capability) => invalid(field, capability, detail))
}

/** The first path that is missing ends the check, as in kube-apiserver. */
function checkHostPaths(paths: Loose[]): FieldError[] {
  const errors: FieldError[] = []
  for (const [i, { pathPrefix = '' }] of paths.entries()) {
    const at = path.child('allowedHostPaths').index(i)
    if (pathPrefix === '') return [...errors, required(at, 'is required')]
    errors.push(...checkNoBacksteps(pathPrefix, at))
  }
  return errors
}

const annotationsPath = FieldPath.of('metadata', 'annotations')
const appArmorKeys = [
  'apparmor.security.beta.kubernetes.io/defaultProfileName',
  'apparmor.security.beta.kubernetes.io/allowedProfileNames',
]
const seccompKeys = [
  'seccomp.security.alpha.kubernetes.io/defaultProfileName',
  'seccomp.security.alpha.kubernetes.io/allowedProfileNames',
]

const isAppArmorProfile = (profile: string): boolean =>
  ['', 'runtime/default', 'unconfined'].includes(profile) || profile.startsWith('localhost/')

/** Validates the annotations with default and allowed profiles. */
function checkAnnotations(policy: KubeObject): FieldError[] {
  const errors: FieldError[] = []
  for (const [i, key] of [...appArmorKeys, ...seccompKeys].entries()) {
    const text = ownValue(policy.metadata.annotations, key)
    if (!text) continue
    const isList = i % 2 === 1
    const at = annotationsPath.key(key)
    const shown = asGo(goQuote(text))
    for (const profile of isList ? text.split(',') : [text]) {
      if (i >= appArmorKeys.length) {
        if (!isList || profile !== '*') errors.push(...checkSeccompText(profile, at))
      } else if (!isAppArmorProfile(profile)) {
        errors.push(invalid(at, shown, `invalid AppArmor profile name: ${goQuote(profile)}`))
      }
    }
  }
  return errors
}

function dropDisabled(next: KubeObject, old: KubeObject | undefined, context: Context): void {
  const used = old?.spec?.allowedProcMountTypes !== undefined
  dropUnlessUsed(next.spec, 'allowedProcMountTypes', context.feature('ProcMountType'), used)
  dropUnlessUsed(next.spec, 'allowedCSIDrivers', context.feature('CSIInlineVolume'), false)
}

const ephemeralNeedsNoGate = change('a PodSecurityPolicy may always list ephemeral volumes', {
  since: 19,
  until: 20,
})

const allowsEphemeral = ({ release, feature }: Context): boolean =>
  releaseOf(release).has(ephemeralNeedsNoGate) || feature('GenericEphemeralVolume')

export const podSecurityPolicyBehaviour: Behaviour = {
  prepareForCreate: (object, context) => dropDisabled(object, undefined, context),
  prepareForUpdate: dropDisabled,
  validateCreate: (object, context) => [
    ...checkAnnotations(object),
    ...checkSpec(object.spec ?? {}, allowsEphemeral(context)),
  ],
  validateUpdate: (next, old, context) => {
    const used = (old.spec?.volumes ?? []).includes('ephemeral')
    return [
      ...checkMetadataUpdate(next, old),
      ...checkAnnotations(next),
      ...checkSpec(next.spec ?? {}, used || allowsEphemeral(context)),
    ]
  },
}
