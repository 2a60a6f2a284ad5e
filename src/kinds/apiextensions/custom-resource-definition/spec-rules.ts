/** The rules for a definition's spec, with the beta's field paths, as in kube-apiserver. */
import { type FieldError, forbidden, invalid, notSupported, required } from '#api/field-error.ts'
import type { FieldPath } from '#api/field-path.ts'
import type { GoText } from '#api/go-syntax.ts'
import { dns1035Label, dns1123Subdomain } from '#api/names.ts'
import type { Loose } from '#api/object-meta.ts'
import { wasWrittenEmpty } from '#api/written-empty.ts'
import { metadataProblem } from '#codec/go-json/metadata-problem.ts'
import { change, type Release, releaseOf } from '#api/releases/change.ts'
import { listAsWritten } from '#kinds/all-kinds/checks.ts'
import { duplicatesIn } from './conversions.ts'
import { checkDefaults, type DefaultRules } from '#schema/structural/default-rules.ts'
import { hasDefault, type JsonSchema } from '#schema/structural/json-schema.ts'
import { checkStructural, unsupported } from '#schema/structural/rules.ts'
import type { ChooseEnvironment } from '#kinds/custom/rules/compile-rule.ts'
import { checkDefaultRules, type RuleSettings } from '#kinds/custom/rules/object-rules.ts'
import { costPerObjectMax } from '#kinds/custom/rules/rule-run.ts'
import { schemaKeys, schemaValue, versionsValue } from './go-values.ts'
import { checkNames, checkNamesGiven } from './name-rules.ts'
import { checkColumn, checkConversion, checkDeprecation, checkSubresources } from './part-rules.ts'
import { checkSchema, type SchemaRules } from './schema-rules.ts'
import { checkSelectableFields } from './selectable-field-rules.ts'
import { specHas } from './schema-search.ts'
import { RuleChecks } from './validation-rules.ts'

export interface SpecRules extends SchemaRules {
  readonly knownReviewVersion: boolean
  readonly schemaRequired: boolean
  readonly structural: boolean
  readonly prunedDefaults: boolean
  /** Which expressions were stored before, and of which versions the schemas did not change. */
  readonly chooseEnvironment: ChooseEnvironment
  readonly unchangedVersions: ReadonlySet<string>
  /** Versions that may keep too many selectable fields; '' stands for all versions. */
  readonly keptSelections: ReadonlySet<string>
  /** Undefined if the release has no validation rules. */
  readonly ruleSettings: RuleSettings | undefined
}

/**
 * Fields allowed at the root of a schema if the status subresource is enabled, by their Go names.
 */
const allowedAtRoot = [
  'Description',
  'Type',
  'Format',
  'Title',
  'Maximum',
  'ExclusiveMaximum',
  'Minimum',
  'ExclusiveMinimum',
  'MaxLength',
  'MinLength',
  'Pattern',
  'MaxItems',
  'MinItems',
  'UniqueItems',
  'MultipleOf',
  'Required',
  'Items',
  'Properties',
  'ExternalDocs',
  'Example',
  'XPreserveUnknownFields',
]

const hasExtensions = (schema: JsonSchema): boolean =>
  schema['x-kubernetes-embedded-resource'] === true ||
  schema['x-kubernetes-preserve-unknown-fields'] !== undefined ||
  schema['x-kubernetes-int-or-string'] === true ||
  (schema['x-kubernetes-list-map-keys'] ?? []).length > 0 ||
  schema['x-kubernetes-list-type'] !== undefined

/** `spec` in the beta's form. */
export function checkSpec(spec: Loose, given: SpecRules, path: FieldPath): FieldError[] {
  const errors = checkGroupAndScope(spec, path)
  let rules = given
  const prunes = spec.preserveUnknownFields !== true
  if (prunes) rules = { ...rules, structural: true }
  errors.push(...checkSchemaGiven(spec, rules, prunes, path))
  if (rules.noDefaults === undefined && specHas(spec, hasDefault)) {
    rules = { ...rules, structural: true }
    if (!prunes) {
      const detail = 'must be false in order to use defaults in the schema'
      errors.push(invalid(path.child('preserveUnknownFields'), true, detail))
    }
  }
  if (specHas(spec, hasExtensions)) rules = { ...rules, structural: true }
  errors.push(...checkVersions(spec, rules, path))
  errors.push(...checkNamesGiven(spec.names ?? {}, path.child('names')))
  errors.push(...checkNames(spec.names ?? {}, path.child('names')))
  const anyStatus = [
    spec.subresources,
    ...(spec.versions ?? []).map((one: Loose) => one.subresources),
  ]
  const hasStatus = anyStatus.some((one) => one?.status !== undefined && one?.status !== null)
  const isUnchanged = rules.unchangedVersions.has(spec.version ?? spec.versions?.[0]?.name)
  errors.push(
    ...checkValidation(spec.validation, hasStatus, rules, path.child('validation'), isUnchanged),
  )
  errors.push(...checkSubresources(spec.subresources, path.child('subresources')))
  for (const [i, column] of (spec.additionalPrinterColumns ?? []).entries()) {
    errors.push(...checkColumn(column, path.child('additionalPrinterColumns').index(i)))
  }
  errors.push(
    ...checkSelectableFields(
      spec.selectableFields,
      spec.validation,
      'may only be set when validations.schema is included',
      path.child('selectableFields'),
      rules.keptSelections.has(''),
    ),
  )
  const strategy = spec.conversion?.strategy
  if (strategy !== undefined && strategy !== 'None' && !prunes) {
    const detail = 'must be None if spec.preserveUnknownFields is true'
    errors.push(invalid(path.child('conversion').child('strategy'), strategy, detail))
  }
  errors.push(...checkConversion(spec.conversion, rules, path.child('conversion')))
  return errors
}

function checkGroupAndScope(spec: Loose, path: FieldPath): FieldError[] {
  const { group = '', scope = '' } = spec
  const errors: FieldError[] = []
  const at = path.child('group')
  if (group === '') errors.push(required(at))
  else {
    const problems = dns1123Subdomain(group)
    if (problems.length > 0) errors.push(invalid(at, group, problems.join(',')))
    else if (!group.includes('.')) {
      errors.push(invalid(at, group, 'should be a domain with at least one dot'))
    }
  }
  const scopes = ['Cluster', 'Namespaced']
  if (scope === '') errors.push(required(path.child('scope')))
  else if (!scopes.includes(scope)) errors.push(notSupported(path.child('scope'), scope, scopes))
  return errors
}

const requiresSchemasTersely = change('a missing schema of a definition is a required value', {
  since: 34,
})
const whyRequired = (release: Release): string =>
  release.has(requiresSchemasTersely) ? '' : 'schemas are required'

function checkSchemaGiven(
  spec: Loose,
  rules: SpecRules,
  prunes: boolean,
  path: FieldPath,
): FieldError[] {
  if (spec.validation?.openAPIV3Schema) return []
  if (!rules.schemaRequired && !prunes) return []
  const errors: FieldError[] = []
  for (const [i, one] of (spec.versions ?? []).entries()) {
    if (one.schema?.openAPIV3Schema || (!rules.schemaRequired && one.served !== true)) continue
    const detail = rules.schemaRequired
      ? whyRequired(releaseOf(rules.release))
      : 'because otherwise all fields are pruned'
    errors.push(
      required(path.child('versions').index(i).child('schema', 'openAPIV3Schema'), detail),
    )
  }
  return errors
}

function checkVersions(spec: Loose, rules: SpecRules, path: FieldPath): FieldError[] {
  const versions: Loose[] = spec.versions ?? []
  const errors: FieldError[] = []
  const at = path.child('versions')
  const ownSubresources = versions.some((one) => one.subresources !== undefined)
  for (const [i, one] of versions.entries()) {
    const problems = dns1035Label(one.name ?? '')
    if (problems.length > 0) {
      errors.push(invalid(at.index(i).child('name'), one.name ?? '', problems.join(',')))
    }
    const { status } = (ownSubresources ? one.subresources : spec.subresources) ?? {}
    errors.push(...checkVersion(one, status !== undefined && status !== null, rules, at.index(i)))
  }
  const shown = versionsValue(listAsWritten(spec, 'versions'), rules.release)
  errors.push(...checkStatedOnce(spec, shown, path))
  if (new Set(versions.map(({ name }) => name)).size < versions.length) {
    errors.push(invalid(at, shown, 'must contain unique version names'))
  }
  if (versions.filter(({ storage }) => storage === true).length !== 1) {
    errors.push(invalid(at, shown, 'must have exactly one version marked as storage version'))
  }
  const version: string | undefined = duplicatesIn(spec).version ?? spec.version
  if (!version) return errors
  const problems = dns1035Label(version)
  if (problems.length > 0) errors.push(invalid(path.child('version'), version, problems.join(',')))
  if (versions.length > 0 && versions[0].name !== version) {
    errors.push(
      invalid(path.child('version'), version, 'must match the first version in spec.versions'),
    )
  }
  return errors
}

const inWords: Readonly<Record<string, string>> = {
  validation: 'schemas',
  subresources: 'subresources',
  additionalPrinterColumns: 'additionalPrinterColumns',
}

/**
 * Reports top-level fields that versions specify too, and per-version fields that are equal in all
 * versions.
 */
function checkStatedOnce(spec: Loose, shown: GoText, path: FieldPath): FieldError[] {
  const { both, alike } = duplicatesIn(spec)
  return [
    ...both.map((top) =>
      forbidden(
        path.child(top),
        `top-level and per-version ${inWords[top]} are mutually exclusive`,
      ),
    ),
    ...alike.map((top) =>
      invalid(
        path.child('versions'),
        shown,
        `per-version ${inWords[top]} may not all be set to identical values (top-level ${top} should be used instead)`,
      ),
    ),
  ]
}

function checkVersion(
  version: Loose,
  hasStatus: boolean,
  rules: SpecRules,
  path: FieldPath,
): FieldError[] {
  const errors = checkDeprecation(version, path.child('deprecationWarning'))
  const isUnchanged = rules.unchangedVersions.has(version.name)
  errors.push(
    ...checkValidation(version.schema, hasStatus, rules, path.child('schema'), isUnchanged),
  )
  errors.push(...checkSubresources(version.subresources, path.child('subresources')))
  for (const [i, column] of (version.additionalPrinterColumns ?? []).entries()) {
    errors.push(...checkColumn(column, path.child('additionalPrinterColumns').index(i)))
  }
  errors.push(
    ...checkSelectableFields(
      version.selectableFields,
      version.schema,
      'may only be set when `version.schema.openAPIV3Schema` is not included',
      path.child('selectableFields'),
      rules.keptSelections.has(version.name),
    ),
  )
  return errors
}

function checkValidation(
  validation: Loose | null | undefined,
  hasStatus: boolean,
  rules: SpecRules,
  path: FieldPath,
  isUnchanged: boolean,
): FieldError[] {
  const schema: JsonSchema | undefined = validation?.openAPIV3Schema
  if (schema === undefined || schema === null) return []
  const at = path.child('openAPIV3Schema')
  const errors = hasStatus ? checkRootForStatus(schema, path) : []
  if (schema.nullable === true) {
    errors.push(
      forbidden(path.child('openAPIV3Schema.nullable'), 'nullable cannot be true at the root'),
    )
  }
  const structure = rules.structural ? checkStructure(schema, at, rules) : undefined
  const ruleChecks =
    structure === undefined || structure.length > 0 || rules.ruleSettings === undefined
      ? undefined
      : new RuleChecks({
          release: rules.ruleSettings.release,
          timed: rules.ruleSettings.timed,
          choose: rules.chooseEnvironment,
          allowsCosts: isUnchanged,
        })
  const own = checkSchema(schema, at, ruleChecks === undefined ? rules : { ...rules, ruleChecks })
  const problem = rules.structural ? unsupported(schema) : undefined
  if (problem !== undefined)
    return errors.length + own.length > 0 ? [...errors, ...own] : [invalid(at, '', problem)]
  const release = releaseOf(rules.release)
  // Releases without CEL validation rules report errors in another order.
  if (!release.has(structureFirst)) return [...errors, ...own, ...(structure ?? [])]
  return [
    ...[...errors, ...(structure ?? []), ...own],
    ...(ruleChecks?.errors ?? []),
    ...(ruleChecks?.checkTotal(at) ?? []),
  ]
}

const structureFirst = change('definitions report unstructural schemas before other errors', {
  since: 23,
})

/**
 * Why a schema is not structural, or which of its defaults are wrong. Nothing of a schema that is
 * reported elsewhere.
 */
function checkStructure(schema: JsonSchema, path: FieldPath, rules: SpecRules): FieldError[] {
  if (unsupported(schema) !== undefined) return []
  const structural = checkStructural(schema, path)
  if (structural.length > 0) return structural
  return checkDefaults(schema, path, {
    pruned: rules.prunedDefaults,
    metadataProblem,
    release: rules.release,
    ...(rules.ruleSettings && { checkRules: defaultRules(rules.ruleSettings) }),
  })
}

/** All defaults of a schema share one budget of cost. */
function defaultRules(settings: RuleSettings): DefaultRules['checkRules'] {
  let left = costPerObjectMax
  return (schema, isRoot, path) => {
    const { errors, budget } = checkDefaultRules(schema, isRoot, path, left, settings)
    left = budget
    return errors
  }
}

/** Pointer fields: Go distinguishes an empty string, or false, from an absent value. */
const pointers = new Set([
  '$ref',
  'additionalItems',
  'additionalProperties',
  'x-kubernetes-list-type',
  'x-kubernetes-map-type',
  'x-kubernetes-preserve-unknown-fields',
])

function checkRootForStatus(schema: JsonSchema, path: FieldPath): FieldError[] {
  for (const [name, key] of schemaKeys) {
    const value = schema[key as keyof JsonSchema]
    const zero = value === undefined || ((value === false || value === '') && !pointers.has(key))
    if (zero && !wasWrittenEmpty(schema, key)) continue
    if (name === 'Type') {
      if (schema.type === 'object') continue
      const detail =
        'only "object" is allowed as the type at the root of the schema if the status subresource is enabled'
      return [invalid(path.child('openAPIV3Schema.type'), schema.type, detail)]
    }
    if (allowedAtRoot.includes(name)) continue
    const detail = `only [${allowedAtRoot.join(' ')}] fields are allowed at the root of the schema if the status subresource is enabled`
    return [invalid(path.child('openAPIV3Schema'), schemaValue(schema), detail)]
  }
  return []
}

/** Whether every version has a schema. */
export const hasAllSchemas = (spec: Loose): boolean =>
  Boolean(spec.validation?.openAPIV3Schema) ||
  (spec.versions ?? []).every((one: Loose) => Boolean(one.schema?.openAPIV3Schema))
