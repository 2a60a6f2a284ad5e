/**
 * Validates the environment of a container: single variables, and all keys of config maps and
 * secrets.
 */
import { type FieldError, fieldNotFound, invalid, required } from '#api/field-error.ts'
import type { FieldPath } from '#api/field-path.ts'
import { configMapKey, emptyProblem, envVarName, nameIsDnsSubdomain } from '#api/names.ts'
import type { Loose } from '#api/object-meta.ts'
import { checkDns1123Label, checkNoBacksteps, each } from '#kinds/all-kinds/checks.ts'
import { containersOf, containersWithPaths } from './containers-of.ts'
import { checkFieldSelector, checkResourceSelector, hasHostIps } from './field-selectors.ts'
import type { PodRules } from './pod-rules.ts'

const fields = [
  'metadata.name',
  'metadata.namespace',
  'metadata.uid',
  'spec.nodeName',
  'spec.serviceAccountName',
  'status.hostIP',
  'status.podIP',
  'status.podIPs',
]

const fieldsSince28 = [...fields, 'status.hostIPs'].sort()
const fieldsIn = (rules: PodRules): string[] => (rules.has(hasHostIps) ? fieldsSince28 : fields)

/** Relaxed names: any printable ASCII character except `=`, which separates name and value. */
const relaxedNameProblems = (name: string): string[] =>
  name === ''
    ? [`environment variable name ${emptyProblem}`]
    : /^[ -<>-~]+$/.test(name)
      ? []
      : [
          "a valid environment variable name must consist only of printable ASCII characters other than '='",
        ]

function nameProblems(name: string, rules: PodRules): string[] {
  if (rules.feature('RelaxedEnvironmentVariableValidation')) return relaxedNameProblems(name)
  const problems = envVarName(name)
  if (problems.length === 0 || rules.old === undefined) return problems
  // Existing objects keep names that the feature gate allowed.
  const isKept = relaxedNameProblems(name).length === 0 && namesIn(rules.old).has(name)
  return isKept ? [] : problems
}

const namesIn = (spec: Loose): Set<string> =>
  new Set(
    containersOf(spec).flatMap(({ env, envFrom }): string[] => [
      ...(env ?? []).map((variable: Loose) => variable.name ?? ''),
      ...(envFrom ?? []).map((source: Loose) => source.prefix ?? ''),
    ]),
  )

export function checkEnvironment(
  variables: Loose[] | null | undefined,
  path: FieldPath,
  rules: PodRules,
): FieldError[] {
  const errors: FieldError[] = []
  ;(variables ?? []).forEach((variable, i) => {
    const at = path.index(i)
    const name: string = variable.name ?? ''
    if (name === '') errors.push(required(at.child('name')))
    else errors.push(...each(at.child('name'), name, nameProblems(name, rules)))
    if (variable.valueFrom) errors.push(...checkValueFrom(variable, at.child('valueFrom'), rules))
  })
  return errors
}

const sources = ['fieldRef', 'resourceFieldRef', 'configMapKeyRef', 'secretKeyRef', 'fileKeyRef']

function checkValueFrom(variable: Loose, path: FieldPath, rules: PodRules): FieldError[] {
  const errors: FieldError[] = []
  const { fieldRef, resourceFieldRef, configMapKeyRef, secretKeyRef, fileKeyRef } =
    variable.valueFrom
  if (fieldRef) {
    errors.push(...checkFieldSelector(fieldRef, fieldsIn(rules), path.child('fieldRef'), rules))
  }
  if (resourceFieldRef) {
    const at = path.child('resourceFieldRef')
    errors.push(...checkResourceSelector(resourceFieldRef, at, rules, false))
  }
  if (configMapKeyRef) {
    errors.push(...checkKeySelector(configMapKeyRef, path.child('configMapKeyRef')))
  }
  if (secretKeyRef) errors.push(...checkKeySelector(secretKeyRef, path.child('secretKeyRef')))
  if (fileKeyRef) errors.push(...checkFileKey(fileKeyRef, path.child('fileKeyRef')))
  const count = sources.filter((source) => variable.valueFrom[source]).length
  if (count === 0) {
    errors.push(invalid(path, '', `must specify one of: ${sourcesShown(rules)}`))
  } else if (variable.value) {
    errors.push(invalid(path, '', 'may not be specified when `value` is not empty'))
  } else if (count > 1) {
    errors.push(invalid(path, '', 'may not have more than one field specified at a time'))
  }
  return errors
}

function sourcesShown({ feature, old }: PodRules): string {
  const usesFiles = (spec: Loose) =>
    containersOf(spec).some(({ env }) => (env ?? []).some((v: Loose) => v.valueFrom?.fileKeyRef))
  const withFiles = feature('EnvFiles') || (old !== undefined && usesFiles(old))
  const shown = (withFiles ? sources : sources.slice(0, -1)).map((source) => `\`${source}\``)
  return `${shown.slice(0, -1).join(', ')} or ${shown.at(-1)}`
}

/** A variable from a file in a volume. */
function checkFileKey(selector: Loose, path: FieldPath): FieldError[] {
  const { key = '', volumeName = '', path: file = '' } = selector
  return [
    ...(key === ''
      ? [required(path.child('key'))]
      : each(path.child('key'), key, relaxedNameProblems(key))),
    ...(volumeName === ''
      ? [required(path.child('volumeName'))]
      : checkDns1123Label(volumeName, path.child('volumeName'))),
    ...(file === '' ? [required(path.child('path'))] : checkNoBacksteps(file, path.child('path'))),
  ]
}

/** Files of variables are in volumes of the pod that are empty directories. */
export function checkFileVolumes(spec: Loose, path: FieldPath): FieldError[] {
  const volumes = new Map<string, Loose>(
    ((spec.volumes ?? []) as Loose[]).map((volume) => [volume.name ?? '', volume]),
  )
  return containersWithPaths(spec, path, true).flatMap(({ container, path: at }) =>
    ((container.env ?? []) as Loose[]).flatMap(({ valueFrom }, i) => {
      if (!valueFrom?.fileKeyRef) return []
      const name: string = valueFrom.fileKeyRef.volumeName ?? ''
      const nameAt = at.child('env').index(i).child('valueFrom', 'fileKeyRef', 'volumeName')
      const volume = volumes.get(name)
      if (volume === undefined) return [fieldNotFound(nameAt, name)]
      const detail = 'referenced volume must be of type emptyDir'
      return volume.emptyDir ? [] : [invalid(nameAt, name, detail)]
    }),
  )
}

function checkKeySelector(selector: Loose, path: FieldPath): FieldError[] {
  const { name = '', key = '' } = selector
  return [
    ...each(path.child('name'), name, nameIsDnsSubdomain(name, false)),
    ...(key === ''
      ? [required(path.child('key'))]
      : each(path.child('key'), key, configMapKey(key))),
  ]
}

export function checkEnvironmentSources(
  sources: Loose[] | null | undefined,
  path: FieldPath,
  rules: PodRules,
): FieldError[] {
  const errors: FieldError[] = []
  ;(sources ?? []).forEach((source, i) => {
    const at = path.index(i)
    const prefix: string = source.prefix ?? ''
    if (prefix !== '') {
      errors.push(...each(at.child('prefix'), prefix, nameProblems(prefix, rules)))
    }
    let count = 0
    for (const field of ['configMapRef', 'secretRef']) {
      if (!source[field]) continue
      count++
      errors.push(...checkSourceName(source[field].name ?? '', at.child(field, 'name')))
    }
    if (count === 0) {
      errors.push(invalid(path, '', 'must specify one of: `configMapRef` or `secretRef`'))
    } else if (count > 1) {
      errors.push(invalid(path, '', 'may not have more than one field specified at a time'))
    }
  })
  return errors
}

const checkSourceName = (name: string, path: FieldPath): FieldError[] =>
  name === '' ? [required(path)] : each(path, name, nameIsDnsSubdomain(name, true))
