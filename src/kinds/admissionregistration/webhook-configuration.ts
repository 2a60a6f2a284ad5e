/**
 * Prepares and validates MutatingWebhookConfigurations and ValidatingWebhookConfigurations. The two
 * kinds share this behaviour. An update of an object that was stored before v1 has weaker checks.
 */
import { duplicate, type FieldError, invalid, required } from '#api/field-error.ts'
import { FieldPath } from '#api/field-path.ts'
import { asGo, goStrings } from '#api/go-syntax.ts'
import { checksSelectorValues, validateLabelSelector } from '#api/label-rules.ts'
import { dns1035Label, fullyQualifiedName, nameIsDnsSubdomain } from '#api/names.ts'
import type { KubeObject, Loose } from '#api/object-meta.ts'
import { releaseOf } from '#api/releases/change.ts'
import { checkOneOfIfSet, each, repeats, sameJson } from '#kinds/all-kinds/checks.ts'
import { checkPlainMetadata } from '#kinds/all-kinds/metadata.ts'
import { hasWrittenEmpty, wasWrittenEmpty } from '#api/written-empty.ts'
import { raiseGeneration } from '#kinds/all-kinds/strategy.ts'
import type { Behaviour, Context } from '#kinds/kind.ts'
import { checkClientConfig } from './webhook-client.ts'
import {
  hasKnownReviewVersion,
  unknownVersionsMessage,
  missingVersionMessage,
} from './review-versions.ts'
import { type ConditionChecks, checkMatchConditions } from './match-conditions.ts'
import { StoredExpressions } from './stored-expressions.ts'
import { checkWebhookRule } from './webhook-rules.ts'

const harmless = ['None', 'NoneOnDryRun']
const sideEffects = ['None', 'NoneOnDryRun', 'Some', 'Unknown']

/**
 * Which checks apply to one write. v1 requires them, but updates of objects that already break one
 * are exempt from it.
 */
interface Strictness {
  readonly noSideEffects: boolean
  readonly knownReviewVersion: boolean
  readonly uniqueNames: boolean
  readonly selectorValues: boolean
  readonly release: number
  /** Undefined if the match conditions did not change, so they are not compiled again. */
  readonly conditions: ConditionChecks | undefined
}

const hooksOf = (configuration: KubeObject): Loose[] => configuration.webhooks ?? []

/**
 * Returns undefined if the match conditions did not change, so that they are not compiled again.
 */
function conditionChecks(
  next: KubeObject,
  old: KubeObject | undefined,
  release: number,
): ConditionChecks | undefined {
  const before = old === undefined ? [] : hooksOf(old)
  const hooks = hooksOf(next)
  const areUnchanged =
    old !== undefined &&
    hooks.length === before.length &&
    hooks.every((hook, i) => sameJson(hook.matchConditions, before[i]?.matchConditions))
  if (areUnchanged) return undefined
  return { params: false, stored: new StoredExpressions(before), release: releaseOf(release) }
}

function strictnessOf(context: Context, next: KubeObject, old?: KubeObject): Strictness {
  const { release } = context
  const conditions = conditionChecks(next, old, release)
  const isV1 = context.requestApiVersion !== 'admissionregistration.k8s.io/v1beta1'
  if (old === undefined) {
    return {
      noSideEffects: isV1,
      knownReviewVersion: true,
      uniqueNames: isV1,
      selectorValues: checksSelectorValues(releaseOf(release)),
      release,
      conditions,
    }
  }
  const hooks = hooksOf(old)
  const names = new Set(hooks.map((hook) => hook.name))
  return {
    noSideEffects: isV1 && hooks.every((hook) => harmless.includes(hook.sideEffects)),
    knownReviewVersion: hooks.every((hook) =>
      hasKnownReviewVersion(hook.admissionReviewVersions, release),
    ),
    uniqueNames: isV1 && names.size === hooks.length,
    selectorValues: checksSelectorValues(
      releaseOf(release),
      ...hooks.flatMap(({ namespaceSelector, objectSelector }) => [
        namespaceSelector,
        objectSelector,
      ]),
    ),
    release,
    conditions,
  }
}

function check(configuration: KubeObject, strictness: Strictness): FieldError[] {
  const names = new Set<string>()
  return hooksOf(configuration).flatMap((hook, i) => {
    const path = FieldPath.of('webhooks').index(i)
    const versions = path.child('admissionReviewVersions')
    const errors = [
      ...checkHook(hook, strictness, path),
      ...checkReviewVersions(hook.admissionReviewVersions ?? [], strictness, versions),
    ]
    if (!strictness.uniqueNames || !hook.name) return errors
    if (names.has(hook.name)) errors.push(duplicate(path.child('name'), hook.name))
    names.add(hook.name)
    return errors
  })
}

function checkHook(hook: Loose, strictness: Strictness, path: FieldPath): FieldError[] {
  const rules: Loose[] = hook.rules ?? []
  const effects = strictness.noSideEffects ? harmless : sideEffects
  const at = (field: string) => path.child(field)
  const errors = [
    ...fullyQualifiedName(hook.name ?? '', at('name')),
    ...rules.flatMap((rule, i) => checkWebhookRule(rule, at('rules').index(i))),
    ...checkOneOfIfSet(hook.failurePolicy, ['Fail', 'Ignore'], at('failurePolicy')),
    ...checkOneOfIfSet(hook.matchPolicy, ['Equivalent', 'Exact'], at('matchPolicy')),
  ]
  if (typeof hook.sideEffects !== 'string') {
    errors.push(required(at('sideEffects'), `must specify one of ${effects.join(', ')}`))
  }
  errors.push(...checkOneOfIfSet(hook.sideEffects, effects, at('sideEffects')))
  const seconds: number | undefined = hook.timeoutSeconds
  if (seconds !== undefined && (seconds < 1 || seconds > 30)) {
    const detail = 'the timeout value must be between 1 and 30 seconds'
    errors.push(invalid(at('timeoutSeconds'), seconds, detail))
  }
  return [
    ...errors,
    ...['namespaceSelector', 'objectSelector'].flatMap((field) =>
      validateLabelSelector(hook[field], at(field), strictness.selectorValues),
    ),
    ...checkOneOfIfSet(hook.reinvocationPolicy, ['IfNeeded', 'Never'], at('reinvocationPolicy')),
    ...checkClientConfig(hook.clientConfig ?? {}, at('clientConfig')),
    ...(strictness.conditions === undefined
      ? []
      : checkMatchConditions(
          hook.matchConditions ?? [],
          strictness.conditions,
          at('matchConditions'),
        )),
  ]
}

function checkReviewVersions(
  versions: string[],
  strictness: Strictness,
  path: FieldPath,
): FieldError[] {
  const { knownReviewVersion, release } = strictness
  if (versions.length === 0) {
    return [required(path, missingVersionMessage(release))]
  }
  const isRepeated = repeats(versions)
  const errors = versions.flatMap((version, i) =>
    isRepeated[i]
      ? [invalid(path.index(i), version, 'duplicate version')]
      : each(path.index(i), version, dns1035Label(version)),
  )
  if (knownReviewVersion && !hasKnownReviewVersion(versions, release)) {
    errors.push(invalid(path, asGo(goStrings(versions)), unknownVersionsMessage(release)))
  }
  return errors
}

const hasConditions = (hooks: Loose[]): boolean =>
  hooks.some(({ matchConditions = [] }) => matchConditions?.length > 0)

/** Drops match conditions if the feature gate is off, unless the old object has some. */
function dropConditions(next: KubeObject, old: KubeObject | undefined, { feature }: Context): void {
  if (feature('AdmissionWebhookMatchConditions')) return
  if (old !== undefined && hasConditions(hooksOf(old))) return
  for (const hook of hooksOf(next)) delete hook.matchConditions
}

export const webhookConfigurationBehaviour: Behaviour = {
  unconditionalUpdate: false,
  prepareForCreate(object, context) {
    object.metadata.generation = 1
    dropConditions(object, undefined, context)
  },
  prepareForUpdate(next, old, context) {
    dropConditions(next, old, context)
    raiseGeneration(next, old, ['webhooks'])
    // kube-apiserver distinguishes an empty list from none.
    if (wasWrittenEmpty(next, 'webhooks') || hasWrittenEmpty(next.webhooks)) {
      next.metadata.generation = (old.metadata.generation ?? 0) + 1
    }
  },
  validateCreate: (object, context) => check(object, strictnessOf(context, object)),
  validateUpdate: (next, old, context) => [
    ...checkPlainMetadata(next, false, nameIsDnsSubdomain),
    ...check(next, strictnessOf(context, next, old)),
  ],
}
