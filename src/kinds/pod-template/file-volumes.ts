/**
 * Validation of volumes whose files come from the API: secret, configMap, downwardAPI and projected
 * volumes.
 */
import { type FieldError, forbidden, invalid, required } from '#api/field-error.ts'
import { FieldPath } from '#api/field-path.ts'
import type { Loose } from '#api/object-meta.ts'
import { change } from '#api/releases/change.ts'
import { checkUser } from './file-owner.ts'
import { certificatePaths, checkPodCertificate, checkTrustBundle } from './certificate-volumes.ts'
import { checkFieldSelector, checkResourceSelector } from './field-selectors.ts'
import type { PodRules } from './pod-rules.ts'
import { checkFileMode, checkUnreservedPath } from './volume-paths.ts'

/**
 * The minimum lifetime of a projected token: ten minutes, so that kubelets can renew it in time.
 */
const tokenSecondsMin = 600
const tokenSecondsMax = 2 ** 32

export function checkSecretVolume(source: Loose, path: FieldPath): FieldError[] {
  return [
    ...(source.secretName ? [] : [required(path.child('secretName'))]),
    ...checkFileMode(source.defaultMode, path.child('defaultMode')),
    ...checkUser(source.defaultUser, path.child('defaultUser')),
    ...checkItems(source.items, path.child('items')),
  ]
}

export function checkConfigMapVolume(source: Loose, path: FieldPath): FieldError[] {
  return [
    ...(source.name ? [] : [required(path.child('name'))]),
    ...checkFileMode(source.defaultMode, path.child('defaultMode')),
    ...checkUser(source.defaultUser, path.child('defaultUser')),
    ...checkItems(source.items, path.child('items')),
  ]
}

const checkItems = (items: Loose[] | undefined, path: FieldPath): FieldError[] =>
  (items ?? []).flatMap((item, i) => checkKeyToPath(item, path.index(i)))

function checkKeyToPath(item: Loose, path: FieldPath): FieldError[] {
  const { key = '', path: target = '' } = item
  return [
    ...(key === '' ? [required(path.child('key'))] : []),
    ...(target === '' ? [required(path.child('path'))] : []),
    ...checkUnreservedPath(target, path.child('path')),
    ...checkFileMode(item.mode, path.child('mode')),
    ...checkUser(item.user, path.child('user')),
  ]
}

export function checkDownwardVolume(source: Loose, path: FieldPath, rules: PodRules): FieldError[] {
  const items: Loose[] = source.items ?? []
  return [
    ...checkFileMode(source.defaultMode, path.child('defaultMode')),
    ...checkUser(source.defaultUser, path.child('defaultUser')),
    ...items.flatMap((item) => checkDownwardFile(item, path, rules)),
  ]
}

const downwardFields = [
  'metadata.annotations',
  'metadata.labels',
  'metadata.name',
  'metadata.namespace',
  'metadata.uid',
]

/** Errors are reported at the path of the volume, not of the file, as in kube-apiserver. */
function checkDownwardFile(file: Loose, path: FieldPath, rules: PodRules): FieldError[] {
  const errors: FieldError[] = []
  const target: string = file.path ?? ''
  if (target === '') errors.push(required(path.child('path')))
  errors.push(...checkUnreservedPath(target, path.child('path')))
  if (file.fieldRef) {
    errors.push(...checkFieldSelector(file.fieldRef, downwardFields, path.child('fieldRef'), rules))
    if (file.resourceFieldRef) {
      const detail = 'fieldRef and resourceFieldRef can not be specified simultaneously'
      errors.push(invalid(path, 'resource', detail))
    }
  } else if (file.resourceFieldRef) {
    const at = path.child('resourceFieldRef')
    errors.push(...checkResourceSelector(file.resourceFieldRef, at, rules, true))
  } else {
    errors.push(required(path, 'one of fieldRef and resourceFieldRef is required'))
  }
  errors.push(...checkFileMode(file.mode, path.child('mode')))
  errors.push(...checkUser(file.user, path.child('user')))
  return errors
}

export function checkProjectedVolume(
  source: Loose,
  path: FieldPath,
  rules: PodRules,
): FieldError[] {
  const errors = checkFileMode(source.defaultMode, path.child('defaultMode'))
  errors.push(...checkUser(source.defaultUser, path.child('defaultUser')))
  const paths = new Set<string>()
  // Each path may have one file. `value` is what kube-apiserver shows in the error.
  const reservePath = (target: string, value: string, evenEmpty = false) => {
    if (target === '' && !evenEmpty) return
    if (paths.has(target)) errors.push(invalid(path, value, 'conflicting duplicate paths'))
    paths.add(target)
  }
  const sources: Loose[] = source.sources ?? []
  sources.forEach((projection, i) => {
    const at = path.child('sources').index(i)
    let kinds = 0
    for (const kind of ['secret', 'configMap']) {
      const reference = projection[kind]
      if (!reference) continue
      kinds++
      const { name = '' } = reference
      if (name === '') errors.push(required(at.child(kind, 'name')))
      ;((reference.items ?? []) as Loose[]).forEach((item, k) => {
        errors.push(...checkKeyToPath(item, at.child(kind, 'items').index(k)))
        reservePath(item.path ?? '', name)
      })
    }
    if (projection.downwardAPI) {
      kinds++
      for (const file of (projection.downwardAPI.items ?? []) as Loose[]) {
        errors.push(...checkDownwardFile(file, at.child('downwardAPI'), rules))
        reservePath(file.path ?? '', file.path ?? '')
      }
    }
    if (projection.serviceAccountToken) {
      kinds++
      errors.push(
        ...checkToken(projection.serviceAccountToken, path, at.child('serviceAccountToken'), rules),
      )
    }
    if (projection.clusterTrustBundle) {
      kinds++
      const bundle: Loose = projection.clusterTrustBundle
      errors.push(...checkTrustBundle(bundle, at.child('clusterTrustBundle')))
      reservePath(bundle.path ?? '', bundle.path ?? '', true)
    }
    if (projection.podCertificate) {
      kinds++
      const certificate: Loose = projection.podCertificate
      errors.push(...checkPodCertificate(certificate, at.child('podCertificate')))
      for (const file of certificatePaths)
        reservePath(certificate[file] ?? '', certificate[file] ?? '')
    }
    if (kinds > 1) {
      const perSource = rules.has(namesSource) ? ' per source' : ''
      errors.push(forbidden(at, `may not specify more than 1 volume type${perSource}`))
    }
  })
  return errors
}

const tokenPathsAreLocal = change('paths of projected tokens must be relative', { since: 30 })
const namesSource = change('errors of projected volumes name the source', { since: 31 })
const secondsAreRequired = change('errors of projected tokens say when seconds are missing', {
  since: 37,
})

function checkToken(
  token: Loose,
  volumePath: FieldPath,
  path: FieldPath,
  rules: PodRules,
): FieldError[] {
  const errors: FieldError[] = []
  const seconds = token.expirationSeconds ?? 0
  const at = path.child('expirationSeconds')
  if ((token.expirationSeconds ?? undefined) === undefined && rules.has(secondsAreRequired)) {
    errors.push(required(at))
  } else if (seconds < tokenSecondsMin) {
    errors.push(invalid(at, seconds, 'may not specify a duration less than 10 minutes'))
  }
  if (seconds > tokenSecondsMax) {
    errors.push(invalid(at, seconds, 'may not specify a duration larger than 2^32 seconds'))
  }
  if (!token.path) errors.push(required(volumePath.child('path')))
  else if (rules.has(tokenPathsAreLocal) && !keepsTokenPath(rules.old)) {
    errors.push(...checkUnreservedPath(token.path, volumePath.child('path')))
  }
  errors.push(...checkUser(token.user, path.child('user')))
  return errors
}

/** Whether the old pod has a token with a path that is no longer allowed. */
const keepsTokenPath = (old: Loose | undefined): boolean =>
  ((old?.volumes ?? []) as Loose[]).some(({ projected }) =>
    ((projected?.sources ?? []) as Loose[]).some(
      ({ serviceAccountToken: token }) =>
        token && checkUnreservedPath(token.path ?? '', FieldPath.root).length > 0,
    ),
  )
