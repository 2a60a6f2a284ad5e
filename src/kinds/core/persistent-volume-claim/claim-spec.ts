/** What a persistent volume claim asks for, on its own or as the template of an ephemeral volume. */
import { change, releaseOf } from '#api/releases/change.ts'
import { type FieldError, invalid, notSupported, required } from '#api/field-error.ts'
import type { FieldPath } from '#api/field-path.ts'
import { asGo, type GoText, goPointer, goQuote, goStruct } from '#api/go-syntax.ts'
import { validateLabelSelector } from '#api/label-rules.ts'
import { nameIsDnsSubdomain } from '#api/names.ts'
import type { Loose } from '#api/object-meta.ts'
import { each, sameJson } from '#kinds/all-kinds/checks.ts'
import { checkQuantityPositive, checkResourceQuantity } from '#kinds/all-kinds/resource-names.ts'
import { checkModes, type OncePod } from './access-modes.ts'

const volumeModes = ['Block', 'Filesystem']

const checksSizeTwice = change('a negative storage request of a claim is two errors', { until: 16 })

export function checkClaimSpec(
  spec: Loose,
  path: FieldPath,
  once: OncePod,
  release: number,
): FieldError[] {
  const errors = checkAccessModes(spec, path, once)
  const requests: Record<string, string> = spec.resources?.requests ?? {}
  const storagePath = path.child('resources').key('storage')
  if (!Object.hasOwn(requests, 'storage')) {
    errors.push(required(storagePath))
  } else {
    const storage = requests.storage as string
    const positive = checkQuantityPositive(storage, storagePath)
    const amount = checkResourceQuantity(requests, 'storage', storagePath)
    if (releaseOf(release).has(checksSizeTwice)) errors.push(...amount, ...positive)
    else errors.push(...(positive.length > 0 ? positive : amount))
  }
  if (spec.storageClassName) {
    const name: string = spec.storageClassName
    errors.push(...each(path.child('storageClassName'), name, nameIsDnsSubdomain(name, false)))
  }
  const mode = spec.volumeMode ?? undefined
  if (mode !== undefined && !volumeModes.includes(mode)) {
    errors.push(notSupported(path.child('volumeMode'), mode, volumeModes))
  }
  errors.push(...checkDataSources(spec, path))
  return errors
}

function checkAccessModes(spec: Loose, path: FieldPath, once: OncePod): FieldError[] {
  const errors: FieldError[] = []
  const modes: string[] = spec.accessModes ?? []
  const at = path.child('accessModes')
  if (modes.length === 0) errors.push(required(at, 'at least 1 access mode is required'))
  errors.push(...validateLabelSelector(spec.selector, path.child('selector')))
  errors.push(...checkModes(modes, at, once))
  return errors
}

function checkDataSources(spec: Loose, path: FieldPath): FieldError[] {
  const errors: FieldError[] = []
  for (const field of ['dataSource', 'dataSourceRef']) {
    if (spec[field]) errors.push(...checkDataSource(spec[field], path.child(field)))
  }
  if (spec.dataSource && spec.dataSourceRef && !sameJson(spec.dataSource, spec.dataSourceRef)) {
    errors.push(invalid(path, shownPath('dataSource', path), 'must match dataSourceRef'))
  }
  return errors
}

/** The place of a field, taken for its value. */
const shownPath = (name: string, parent: FieldPath): GoText =>
  asGo(
    goStruct('field.Path', [
      ['name', goQuote(name)],
      ['index', goQuote('')],
      ['parent', goPointer('field.Path', parent)],
    ]),
  )

function checkDataSource(source: Loose, path: FieldPath): FieldError[] {
  const errors: FieldError[] = []
  const { name = '', kind = '', apiGroup } = source
  if (name === '') errors.push(required(path.child('name')))
  if (kind === '') errors.push(required(path.child('kind')))
  if (!apiGroup && kind !== 'PersistentVolumeClaim') errors.push(invalid(path, kind, ''))
  return errors
}
