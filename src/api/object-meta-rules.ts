/**
 * Validates the metadata of new and updated objects, with Kubernetes' messages. It reads only
 * metadata and never changes it.
 */
import { type FieldError, forbidden, invalid, required, tooLong } from './field-error.ts'
import type { FieldPath } from './field-path.ts'
import { asGo, byCodePoint, goStrings, isPrintable, goJson } from './go-syntax.ts'
import { validateLabels } from './label-rules.ts'
import {
  longerThan,
  nameIsDns1035Label,
  nameIsDnsLabel,
  type NameRule,
  qualifiedName,
} from './names.ts'
import type { ManagedFieldsEntry, ObjectMeta, OwnerReference } from './object-meta.ts'
import { loadLater } from '#base/load-later.ts'
import { semanticEqual } from './semantic-equal.ts'
import { textWritten } from './written-text.ts'

/** Loaded with the first object that has owner references. */
const loadOwnerRules = loadLater<typeof import('./owner-reference-rules.ts')>(
  import.meta.url,
  './owner-reference-rules',
)

export const immutableMessage = 'field is immutable'
const negativeMessage = 'must be greater than or equal to 0'

/**
 * The limit of all annotations of an object, keys and values together: enough for a last-applied
 * configuration, too little for data.
 */
const annotationsSizeBytesMax = 256 * 1024
const fieldManagerLengthMax = 128
const subresourceLengthMax = 256

export interface MetaRules {
  readonly namespaced: boolean
  readonly nameRule: NameRule
}

/** Validates name and generateName. */
export function validateMetaNames(
  { generateName = '', name = '' }: ObjectMeta,
  nameRule: NameRule,
  path: FieldPath,
): FieldError[] {
  const errors: FieldError[] = []
  if (generateName !== '') {
    for (const problem of nameRule(generateName, true)) {
      errors.push(invalid(path.child('generateName'), generateName, problem))
    }
  }
  if (name === '') {
    errors.push(required(path.child('name'), 'name or generateName is required'))
  } else {
    for (const problem of nameRule(name, false)) {
      errors.push(invalid(path.child('name'), name, problem))
    }
  }
  return errors
}

/** Validates the metadata of a new object. Its name has already been generated. */
export function validateObjectMeta(
  meta: ObjectMeta,
  rules: MetaRules,
  path: FieldPath,
): FieldError[] {
  const errors = validateMetaNames(meta, rules.nameRule, path)
  const { namespace = '', clusterName = '' } = meta
  if (!rules.namespaced) {
    if (namespace !== '') {
      errors.push(forbidden(path.child('namespace'), 'not allowed on this type'))
    }
  } else if (namespace === '') {
    errors.push(required(path.child('namespace')))
  } else {
    for (const problem of nameIsDnsLabel(namespace, false)) {
      errors.push(invalid(path.child('namespace'), namespace, problem))
    }
  }
  if (clusterName !== '') {
    for (const problem of nameIsDns1035Label(clusterName, false)) {
      errors.push(invalid(path.child('clusterName'), clusterName, problem))
    }
  }
  // Quick checks, because most objects have few annotations and labels.
  const { generation, labels, annotations, ownerReferences, finalizers, managedFields } = meta
  if (generation) errors.push(...validateNonnegative(generation, path.child('generation')))
  if (labels) addAll(errors, validateLabels(labels, path.child('labels')))
  if (annotations) addAll(errors, validateAnnotations(annotations, path.child('annotations')))
  if (ownerReferences) addAll(errors, validateOwners(ownerReferences, path))
  if (finalizers) addAll(errors, validateFinalizers(finalizers, path.child('finalizers')))
  if (managedFields)
    addAll(errors, validateManagedFields(managedFields, path.child('managedFields')))
  return errors
}

const validateOwners = (owners: readonly OwnerReference[], path: FieldPath): FieldError[] =>
  owners.length === 0
    ? []
    : loadOwnerRules().validateOwnerReferences(owners, path.child('ownerReferences'))

/** Pushes one by one, because a call has a limit of arguments. */
function addAll(errors: FieldError[], more: readonly FieldError[]): void {
  for (const error of more) errors.push(error)
}

/** Validates the metadata of an updated object. */
export function validateObjectMetaUpdate(
  next: ObjectMeta,
  old: ObjectMeta,
  path: FieldPath,
): FieldError[] {
  const errors: FieldError[] = []
  if (old.deletionTimestamp !== undefined && old.deletionTimestamp !== null) {
    const at = path.child('finalizers')
    addAll(errors, validateNoNewFinalizers(next.finalizers, old.finalizers, at))
  }
  if (!next.resourceVersion) {
    const detail = 'must be specified for an update'
    errors.push(invalid(path.child('resourceVersion'), '', detail))
  }
  if ((next.generation ?? 0) < (old.generation ?? 0)) {
    errors.push(invalid(path.child('generation'), next.generation ?? 0, 'must not be decremented'))
  }
  for (const field of ['name', 'namespace', 'uid'] as const) {
    errors.push(...validateImmutable(next[field] ?? '', old[field] ?? '', path.child(field)))
  }
  for (const field of ['creationTimestamp', 'deletionTimestamp'] as const) {
    if (semanticEqual(next[field], old[field])) continue
    errors.push(invalid(path.child(field), shownTime(next, field), immutableMessage))
  }
  const grace = 'deletionGracePeriodSeconds'
  errors.push(
    ...validateImmutable(next[grace], old[grace], path.child(grace)),
    ...validateImmutable(next.clusterName ?? '', old.clusterName ?? '', path.child('clusterName')),
    ...validateLabels(next.labels, path.child('labels')),
    ...validateAnnotations(next.annotations, path.child('annotations')),
    ...validateOwners(next.ownerReferences ?? [], path),
    ...validateManagedFields(next.managedFields ?? [], path.child('managedFields')),
  )
  return errors
}

/** Formats a time like Go's String, with the fraction as written. */
function shownTime(meta: ObjectMeta, field: 'creationTimestamp' | 'deletionTimestamp'): unknown {
  const time = meta[field]
  if (time) {
    const fraction = /\.\d*[1-9]/.exec(textWritten(meta, field) ?? '')?.[0] ?? ''
    return asGo(`${time.replace('T', ' ').replace('Z', '')}${fraction} +0000 UTC`, goJson(time))
  }
  return field === 'creationTimestamp' ? asGo('0001-01-01 00:00:00 +0000 UTC', 'null') : undefined
}

/** Validates that a value did not change. */
export const validateImmutable = (next: unknown, old: unknown, path: FieldPath): FieldError[] =>
  semanticEqual(next, old) ? [] : [invalid(path, next, immutableMessage)]

export const validateNonnegative = (value: number, path: FieldPath): FieldError[] =>
  value < 0 ? [invalid(path, value, negativeMessage)] : []

export function validateAnnotations(
  annotations: Readonly<Record<string, string>> | undefined,
  path: FieldPath,
): FieldError[] {
  const errors: FieldError[] = []
  if (!annotations) return errors
  let size = 0
  for (const key of Object.keys(annotations)) {
    for (const problem of qualifiedName(key.toLowerCase())) errors.push(invalid(path, key, problem))
    size += Buffer.byteLength(key) + Buffer.byteLength(annotations[key] as string)
  }
  if (size > annotationsSizeBytesMax) errors.push(tooLong(path, '', annotationsSizeBytesMax))
  return errors
}

const validateFinalizerName = (name: string, path: FieldPath): FieldError[] =>
  qualifiedName(name).map((problem) => invalid(path, name, problem))

function validateFinalizers(finalizers: readonly string[], path: FieldPath): FieldError[] {
  const errors = finalizers.flatMap((name) => validateFinalizerName(name, path))
  if (finalizers.includes('orphan') && finalizers.includes('foregroundDeletion')) {
    const detail = 'finalizer orphan and foregroundDeletion cannot be both set'
    errors.push(invalid(path, asGo(goStrings(finalizers)), detail))
  }
  return errors
}

function validateNoNewFinalizers(
  next: readonly string[] = [],
  old: readonly string[] = [],
  path: FieldPath,
): FieldError[] {
  const known = new Set(old)
  const added = [...new Set(next)].filter((name) => !known.has(name)).sort(byCodePoint)
  if (added.length === 0) return []
  const detail = `no new finalizers can be added if the object is being deleted, found new finalizers ${goStrings(added)}`
  return [forbidden(path, detail)]
}

function validateManagedFields(
  entries: readonly ManagedFieldsEntry[],
  path: FieldPath,
): FieldError[] {
  return entries.flatMap((entry, i) => {
    const errors: FieldError[] = []
    const at = path.index(i)
    const { operation = '', fieldsType = '', manager = '', subresource = '' } = entry
    if (operation !== 'Apply' && operation !== 'Update') {
      errors.push(invalid(at.child('operation'), operation, 'must be `Apply` or `Update`'))
    }
    if (fieldsType !== '' && fieldsType !== 'FieldsV1') {
      errors.push(invalid(at.child('fieldsType'), fieldsType, 'must be `FieldsV1`'))
    }
    errors.push(...validateFieldManager(manager, at.child('manager')))
    if (longerThan(subresource, subresourceLengthMax)) {
      errors.push(tooLong(at.child('subresource'), subresource, subresourceLengthMax))
    }
    return errors
  })
}

/** Fast path: nearly all field managers have short names of printable ASCII. */
function isOrdinaryManager(name: string): boolean {
  if (name.length > fieldManagerLengthMax) return false
  for (let i = 0; i < name.length; i++) {
    const code = name.charCodeAt(i)
    if (code < 32 || code > 126) return false
  }
  return true
}

/** Validates a field manager's name: a limited length, and only printable characters. */
export function validateFieldManager(name: string, path: FieldPath): FieldError[] {
  if (isOrdinaryManager(name)) return []
  const errors: FieldError[] = []
  if (longerThan(name, fieldManagerLengthMax)) {
    errors.push(tooLong(path, name, fieldManagerLengthMax))
  }
  let position = 0
  for (const ch of name) {
    if (!isPrintable(ch)) {
      const code = (ch.codePointAt(0) as number).toString(16).toUpperCase().padStart(4, '0')
      errors.push(invalid(path, name, `invalid character U+${code} (at position ${position})`))
    }
    position += Buffer.byteLength(ch)
  }
  return errors
}
