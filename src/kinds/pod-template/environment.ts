/**
 * Environment variables of a container, one by one and taken whole from config maps and secrets.
 */
import { type FieldError, invalid, required } from '#api/field-error.ts'
import type { FieldPath } from '#api/field-path.ts'
import { configMapKey, envVarName, nameIsDnsSubdomain } from '#api/names.ts'
import type { Loose } from '#api/object-meta.ts'
import { each } from '#kinds/all-kinds/checks.ts'
import { checkFieldSelector, checkResourceSelector } from './field-selectors.ts'
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
    else errors.push(...each(at.child('name'), name, envVarName(name)))
    if (variable.valueFrom) errors.push(...checkValueFrom(variable, at.child('valueFrom'), rules))
  })
  return errors
}

function checkValueFrom(variable: Loose, path: FieldPath, rules: PodRules): FieldError[] {
  const errors: FieldError[] = []
  const { fieldRef, resourceFieldRef, configMapKeyRef, secretKeyRef } = variable.valueFrom
  if (fieldRef) errors.push(...checkFieldSelector(fieldRef, fields, path.child('fieldRef')))
  if (resourceFieldRef) {
    const at = path.child('resourceFieldRef')
    errors.push(...checkResourceSelector(resourceFieldRef, at, rules, false))
  }
  if (configMapKeyRef) {
    errors.push(...checkKeySelector(configMapKeyRef, path.child('configMapKeyRef')))
  }
  if (secretKeyRef) errors.push(...checkKeySelector(secretKeyRef, path.child('secretKeyRef')))
  const count = [fieldRef, resourceFieldRef, configMapKeyRef, secretKeyRef].filter(Boolean).length
  if (count === 0) {
    const detail =
      'must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef` or `secretKeyRef`'
    errors.push(invalid(path, '', detail))
  } else if (variable.value) {
    errors.push(invalid(path, '', 'may not be specified when `value` is not empty'))
  } else if (count > 1) {
    errors.push(invalid(path, '', 'may not have more than one field specified at a time'))
  }
  return errors
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
): FieldError[] {
  const errors: FieldError[] = []
  ;(sources ?? []).forEach((source, i) => {
    const at = path.index(i)
    const prefix: string = source.prefix ?? ''
    if (prefix !== '') errors.push(...each(at.child('prefix'), prefix, envVarName(prefix)))
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
