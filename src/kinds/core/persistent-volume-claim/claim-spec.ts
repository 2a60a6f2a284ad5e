/** The spec of a persistent volume claim, on its own or as the template of an ephemeral volume. */
import { type FieldError, invalid, notSupported, required } from '#api/field-error.ts'
import type { FieldPath } from '#api/field-path.ts'
import { asGo, type GoText, goPointer, goQuote, goStruct } from '#api/go-syntax.ts'
import { checksSelectorValues, validateLabelSelector } from '#api/label-rules.ts'
import { nameIsDnsLabel, nameIsDnsSubdomain } from '#api/names.ts'
import type { Loose } from '#api/object-meta.ts'
import { change, releaseOf } from '#api/releases/change.ts'
import { checkDns1123Subdomain, each, sameJson } from '#kinds/all-kinds/checks.ts'
import { checkQuantityPositive, checkResourceQuantity } from '#kinds/all-kinds/resource-names.ts'
import type { Context } from '#kinds/kind.ts'
import { checkModes, type OncePod } from './access-modes.ts'

const volumeModes = ['Block', 'Filesystem']

const checksSizeTwice = change('a negative storage request of a claim is two errors', { until: 16 })

const sourcesAreExplained = change('the error of a data source says what its kind must be', {
  since: 26,
})
const sourcesHaveNamespaces = change('data sources of claims can be in another namespace', {
  since: 26,
})
const sourceGroupsAreChecked = change('the API group of a data source must be a DNS name', {
  since: 29,
})

/** Validation options. They follow from the release, its feature gates and the old claim. */
export interface ClaimRules {
  readonly release: number
  readonly hasAttributesClass: boolean
  readonly anySourceGroup: boolean
  /**
   * Whether values in the label selector must be valid label values. False if the old claim already
   * has an invalid selector.
   */
  readonly checksValues: boolean
}

export const claimRules = (
  { release, feature }: Pick<Context, 'release' | 'feature'>,
  old: Loose = {},
): ClaimRules => ({
  release,
  checksValues: checksSelectorValues(releaseOf(release), old.selector),
  hasAttributesClass:
    feature('VolumeAttributesClass') || old.volumeAttributesClassName !== undefined,
  anySourceGroup:
    !releaseOf(release).has(sourceGroupsAreChecked) ||
    old.dataSource?.apiGroup !== undefined ||
    old.dataSourceRef?.apiGroup !== undefined,
})

export function checkClaimSpec(
  spec: Loose,
  path: FieldPath,
  once: OncePod,
  rules: ClaimRules,
): FieldError[] {
  const errors = checkAccessModes(spec, path, once, rules)
  const requests: Record<string, string> = spec.resources?.requests ?? {}
  const storagePath = path.child('resources').key('storage')
  if (!Object.hasOwn(requests, 'storage')) {
    errors.push(required(storagePath))
  } else {
    const storage = requests.storage as string
    const positive = checkQuantityPositive(storage, storagePath)
    const amount = checkResourceQuantity(requests, 'storage', storagePath)
    if (releaseOf(rules.release).has(checksSizeTwice)) errors.push(...amount, ...positive)
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
  errors.push(...checkDataSources(spec, path, rules))
  const attributes: string | undefined = spec.volumeAttributesClassName
  if (attributes && rules.hasAttributesClass) {
    const at = path.child('volumeAttributesClassName')
    errors.push(...each(at, attributes, nameIsDnsSubdomain(attributes, false)))
  }
  return errors
}

function checkAccessModes(
  spec: Loose,
  path: FieldPath,
  once: OncePod,
  rules: ClaimRules,
): FieldError[] {
  const errors: FieldError[] = []
  const modes: string[] = spec.accessModes ?? []
  const at = path.child('accessModes')
  if (modes.length === 0) errors.push(required(at, 'at least 1 access mode is required'))
  errors.push(...validateLabelSelector(spec.selector, path.child('selector'), rules.checksValues))
  errors.push(...checkModes(modes, at, once))
  return errors
}

function checkDataSources(spec: Loose, path: FieldPath, rules: ClaimRules): FieldError[] {
  const errors: FieldError[] = []
  const { dataSource: source, dataSourceRef: reference } = spec
  if (source) errors.push(...checkDataSource(source, path.child('dataSource'), rules))
  if (reference) errors.push(...checkDataSource(reference, path.child('dataSourceRef'), rules))
  const { has } = releaseOf(rules.release)
  const namespace: string | undefined = has(sourcesHaveNamespaces) && reference?.namespace
  if (namespace) {
    const at = path.child('dataSourceRef', 'namespace')
    errors.push(...each(at, namespace, nameIsDnsLabel(namespace, false)))
  }
  if (!source || !reference || (!namespace && sameSource(source, reference))) return errors
  const words = namespace
    ? 'may not be specified when dataSourceRef.namespace is specified'
    : 'must match dataSourceRef'
  return [...errors, invalid(path, shownPath('dataSource', path), words)]
}

const sameSource = (source: Loose, { namespace: _, ...reference }: Loose): boolean =>
  sameJson(source, reference)

/** kube-apiserver reports the field path as the invalid value here. */
const shownPath = (name: string, parent: FieldPath): GoText =>
  asGo(
    goStruct('field.Path', [
      ['name', goQuote(name)],
      ['index', goQuote('')],
      ['parent', goPointer('field.Path', parent)],
    ]),
    '{}',
  )

function checkDataSource(source: Loose, path: FieldPath, rules: ClaimRules): FieldError[] {
  const errors: FieldError[] = []
  const { name = '', kind = '', apiGroup } = source
  if (name === '') errors.push(required(path.child('name')))
  if (kind === '') errors.push(required(path.child('kind')))
  if (!apiGroup && kind !== 'PersistentVolumeClaim') {
    const words = "must be 'PersistentVolumeClaim' when referencing the default apiGroup"
    const isExplained = releaseOf(rules.release).has(sourcesAreExplained)
    errors.push(invalid(path, kind, isExplained ? words : ''))
  }
  if (!apiGroup || rules.anySourceGroup) return errors
  return [...errors, ...checkDns1123Subdomain(apiGroup, path.child('apiGroup'))]
}
