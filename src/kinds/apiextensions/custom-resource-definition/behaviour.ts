/**
 * The behaviour of CustomResourceDefinitions: preparation and validation. An update may keep
 * violations of rules that became stricter later.
 */
import { type FieldError, invalid } from '#api/field-error.ts'
import { FieldPath } from '#api/field-path.ts'
import { nameIsDnsSubdomain } from '#api/names.ts'
import { wasWrittenEmpty } from '#api/written-empty.ts'
import type { KubeObject, Loose } from '#api/object-meta.ts'
import { validateObjectMeta } from '#api/object-meta-rules.ts'
import { checkImmutable, sameJson } from '#kinds/all-kinds/checks.ts'
import { checkPlainMetadataUpdate } from '#kinds/all-kinds/metadata.ts'
import { keepField, raiseGeneration } from '#kinds/all-kinds/strategy.ts'
import { betaSpec } from './conversions.ts'
import type { Behaviour, Context } from '#kinds/kind.ts'
import {
  hasDefault,
  itemsOf,
  type JsonSchema,
  listTypeOf,
  mapTypeOf,
  rulesOf,
} from '#schema/structural/json-schema.ts'
import { change, releaseOf } from '#api/releases/change.ts'
import type { ChooseEnvironment } from '#kinds/custom/rules/compile-rule.ts'
import { untimed } from '#kinds/custom/rules/rule-timer.ts'
import { Pruner } from '#schema/structural/prune.ts'
import { isStructural } from '#schema/structural/rules.ts'
import { sortedCopy } from '#schema/structural/sorted-copy.ts'
import type { Json } from '#api/object-meta.ts'
import { approvalAnnotation, checkApproval } from './approval.ts'
import { definitionWarnings } from './definition-warnings.ts'
import { stringsValue, versionValue } from './go-values.ts'
import { checkNames } from './name-rules.ts'
import { hasKnownReviewVersion } from '#kinds/admissionregistration/review-versions.ts'
import { checkKeys } from './schema-rules.ts'
import { schemasOf, specHas } from './schema-search.ts'
import { keptSelections } from './selectable-field-rules.ts'
import { checkSpec, hasAllSchemas, type SpecRules } from './spec-rules.ts'

export { approvalAnnotation }

const specPath = FieldPath.of('spec')
const statusPath = FieldPath.of('status')
const storedPath = statusPath.child('storedVersions')
const types = ['array', 'boolean', 'integer', 'number', 'object', 'string']

const isBeta = ({ requestApiVersion }: Context): boolean =>
  requestApiVersion === 'apiextensions.k8s.io/v1beta1'

const explainsNoDefaults = change(
  'definitions explain where v1 allows defaults that v1beta1 forbids',
  { since: 19 },
)
const noDefaultsInBeta =
  '(cannot set default values in apiextensions.k8s.io/v1beta1 CRDs, must use apiextensions.k8s.io/v1)'

const whyNoDefaults = ({ release }: Context): string =>
  releaseOf(release).has(explainsNoDefaults) ? noDefaultsInBeta : ''

/** The rules for a write; `old` is the spec before it, in the beta's form. */
function rulesFor(context: Context, spec: Loose, old: Loose | undefined): SpecRules {
  const beta = isBeta(context)
  const had = (is: (schema: JsonSchema) => boolean) => old !== undefined && specHas(old, is)
  return {
    noDefaults: beta && !had(hasDefault) ? whyNoDefaults(context) : undefined,
    knownReviewVersion:
      old === undefined ||
      hasKnownReviewVersion(old.conversion?.conversionReviewVersions, context.release),
    schemaRequired: !beta && (old === undefined || hasAllSchemas(old)),
    validTypes: !beta && !had(({ type }) => type !== undefined && !types.includes(type)),
    structural:
      !beta && (old === undefined || schemasOf(old).every((one) => isStructural(one, specPath))),
    release: context.release,
    prunedDefaults: old === undefined || !schemasOf(old).some(hasUnprunedDefaults),
    atomicSets: !had(isLooseSet),
    keyRules: !had((schema) => checkKeys(schema, FieldPath.root).length > 0),
    ruleSettings: context.feature('CustomResourceValidationExpressions')
      ? {
          release: releaseOf(context.release),
          ratchets: context.feature('CRDValidationRatcheting'),
          timed: context.timed ?? untimed,
        }
      : undefined,
    chooseEnvironment: old === undefined ? () => 'new' : storedBefore(old),
    unchangedVersions: new Set(
      old !== undefined && releaseOf(context.release).has(keepsExpensiveRules)
        ? unchangedVersions(spec, old)
        : [],
    ),
    keptSelections:
      old === undefined ? new Set() : keptSelections(spec, old, releaseOf(context.release)),
  }
}

const keepsExpensiveRules = change('definitions keep rules that have become too expensive', {
  since: 29,
})

/** Expressions that the old definition has may use everything that the release supports. */
function storedBefore(old: Loose): ChooseEnvironment {
  const rules = new Set<string>()
  const messages = new Set<string>()
  specHas(old, (schema) => {
    for (const { rule, messageExpression } of rulesOf(schema)) {
      rules.add(rule)
      if (messageExpression) messages.add(messageExpression)
    }
    return false
  })
  return (text, isMessage) => ((isMessage ? messages : rules).has(text) ? 'stored' : 'new')
}

/** The names of versions whose schema is unchanged. */
function unchangedVersions(spec: Loose, old: Loose): string[] {
  const schemaIn = (from: Loose, name: string) =>
    from.validation?.openAPIV3Schema ??
    (from.versions ?? []).find((one: Loose) => one.name === name)?.schema?.openAPIV3Schema
  const names: string[] = (spec.versions ?? []).map(({ name }: Loose) => name)
  return names.filter((name) => sameJson(schemaIn(spec, name), schemaIn(old, name)))
}

const plainPruner = new Pruner({ readMeta: (_field, value) => value, keepNulls: true })

function hasUnprunedDefaults(schema: JsonSchema): boolean {
  if (!isStructural(schema, specPath)) return false
  return specHas({ validation: { openAPIV3Schema: schema } }, (one) => {
    if (!hasDefault(one)) return false
    const value = one.default as Json
    const pruned = sortedCopy(plainPruner.of(one)(value))
    return JSON.stringify(pruned) !== JSON.stringify(sortedCopy(value))
  })
}

/** Whether the schema is a set whose items are not atomic. */
function isLooseSet(schema: JsonSchema): boolean {
  const items = itemsOf(schema)
  if (listTypeOf(schema) !== 'set' || items === undefined) return false
  if (items.type === 'array')
    return listTypeOf(items) !== undefined && listTypeOf(items) !== 'atomic'
  return items.type === 'object' && mapTypeOf(items) !== 'atomic'
}

function checkStatus({ status }: KubeObject): FieldError[] {
  return checkNames(status?.acceptedNames ?? {}, statusPath.child('acceptedNames'))
}

function checkStoredVersions({ status }: KubeObject, spec: Loose, release: number): FieldError[] {
  const stored: string[] = status?.storedVersions ?? []
  if (stored.length === 0) {
    return [invalid(storedPath, stringsValue(undefined), 'must have at least one stored version')]
  }
  const errors: FieldError[] = []
  // A stored version corresponds only to the first version with its name.
  const left = new Map(stored.map((name, i) => [name, i]))
  for (const one of (spec.versions ?? []) as Loose[]) {
    const name: string = one.name ?? ''
    if (!left.delete(name) && one.storage === true) {
      errors.push(
        invalid(storedPath, versionValue(one, release), `must have the storage version ${name}`),
      )
    }
  }
  for (const [name, i] of left) {
    errors.push(invalid(storedPath.index(i), name, 'must appear in spec.versions'))
  }
  return errors
}

const namesExtension = change('errors name the extension x-kubernetes-preserve-unknown-fields', {
  since: 25,
})

function checkPreserving(
  next: KubeObject,
  old: KubeObject | undefined,
  context: Context,
): FieldError[] {
  if (isBeta(context) || old?.spec?.preserveUnknownFields === true) return []
  if (next.spec?.preserveUnknownFields !== true) return []
  const extension = releaseOf(context.release).has(namesExtension)
    ? 'x-kubernetes-preserve-unknown-fields'
    : 'x-preserve-unknown-fields'
  const detail = `cannot set to true, set ${extension} to true in spec.versions[*].schema instead`
  return [invalid(specPath.child('preserveUnknownFields'), true, detail)]
}

/** Adds the storage version to status.storedVersions. */
function noteStoredVersion(object: KubeObject): void {
  const storage = (object.spec?.versions ?? []).find((one: Loose) => one.storage === true)
  if (storage === undefined) return
  const stored: string[] = object.status.storedVersions ?? []
  if (!stored.includes(storage.name)) object.status.storedVersions = [...stored, storage.name]
}

const isEstablished = ({ status }: KubeObject): boolean =>
  (status?.conditions ?? []).some(
    (one: Loose) => one.type === 'Established' && one.status === 'True',
  )

/** Definitions are stored as text, in which an empty list is not the same as none. */
function keepEmptyLists(status: Loose | undefined): void {
  for (const list of ['conditions', 'storedVersions']) {
    if (status !== undefined && wasWrittenEmpty(status, list)) status[list] ??= []
  }
}

const emptyStatus = () => ({
  conditions: null,
  acceptedNames: { plural: '', kind: '' },
  storedVersions: null as string[] | null,
})

const ownsMetadata = change('a write to the status of a definition owns the metadata it changes', {
  since: 36,
})

export const customResourceDefinitionBehaviour: Behaviour = {
  unconditionalUpdate: false,
  resetFields: [['status']],
  prepareForCreate(object) {
    object.status = emptyStatus()
    object.metadata.generation = 1
    noteStoredVersion(object)
  },
  prepareForUpdate(next, old) {
    keepField(next, old, 'status')
    raiseGeneration(next, old, ['spec'], sameJson)
    next.status ??= emptyStatus()
    noteStoredVersion(next)
  },
  validateCreate(object, context) {
    const spec = betaSpec(object.spec ?? {})
    const name = `${spec.names?.plural ?? ''}.${spec.group ?? ''}`
    const nameRule = (given: string, prefix: boolean) => [
      ...nameIsDnsSubdomain(given, prefix),
      ...(given === name ? [] : ['must be spec.names.plural+"."+spec.group']),
    ]
    return [
      ...onlyNew(
        object,
        validateObjectMeta(
          object.metadata,
          { namespaced: false, nameRule },
          FieldPath.of('metadata'),
        ),
      ),
      ...checkSpec(spec, rulesFor(context, spec, undefined), specPath),
      ...checkStatus(object),
      ...checkStoredVersions(object, spec, context.release),
      ...(isBeta(context) ? [] : checkApproval(object, undefined)),
      ...checkPreserving(object, undefined, context),
    ]
  },
  validateUpdate(next, old, context) {
    const spec = betaSpec(next.spec ?? {})
    const before = betaSpec(old.spec ?? {})
    const frozen = isEstablished(old)
      ? [
          ...checkImmutable(spec.scope, before.scope, specPath.child('scope')),
          ...checkImmutable(spec.names?.kind, before.names?.kind, specPath.child('names', 'kind')),
        ]
      : []
    return [
      ...checkPlainMetadataUpdate(next, old),
      ...checkSpec(spec, rulesFor(context, spec, before), specPath),
      ...frozen,
      ...checkImmutable(spec.group, before.group, specPath.child('group')),
      ...checkImmutable(
        spec.names?.plural,
        before.names?.plural,
        specPath.child('names', 'plural'),
      ),
      ...checkStatus(next),
      ...checkStoredVersions(next, spec, context.release),
      ...(isBeta(context) ? [] : checkApproval(next, old)),
      ...checkPreserving(next, old, context),
    ]
  },
  warningsOnCreate: (object, { release }) =>
    definitionWarnings(object, undefined, releaseOf(release)),
  warningsOnUpdate: (next, old, { release }) => definitionWarnings(next, old, releaseOf(release)),
  subresources: {
    status: {
      resetFields: (release) => (release.has(ownsMetadata) ? [['spec']] : [['metadata'], ['spec']]),
      prepareForUpdate(next, old) {
        keepField(next, old, 'spec')
        keepEmptyLists(next.status)
      },
      validateUpdate: (next, old) => [...checkPlainMetadataUpdate(next, old), ...checkStatus(next)],
    },
  },
}

/**
 * The verbs have already reported the common metadata errors. Only the error about the required
 * name remains.
 */
function onlyNew(object: KubeObject, errors: FieldError[]): FieldError[] {
  const known = new Set(
    validateObjectMeta(
      object.metadata,
      { namespaced: false, nameRule: nameIsDnsSubdomain },
      FieldPath.of('metadata'),
    ).map(({ field, message }) => `${field} ${message}`),
  )
  return errors.filter(({ field, message }) => !known.has(`${field} ${message}`))
}
