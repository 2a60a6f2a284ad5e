/**
 * Metrics of admission policies and match conditions, with the names and labels of each release.
 */
import { change, releaseOf } from '#api/releases/change.ts'
import { counter, histogram } from './metric.ts'
import type { Registry } from './registry.ts'

/** Buckets from the fastest expressions to those that use the whole cost budget. */
const expressionBounds = [0.000_000_5, 0.001, 0.01, 0.1, 1]
const conditionBounds = [0.001, 0.005, 0.01, 0.025, 0.1, 0.2, 0.25]

const metersPolicies = change('metrics count and time checks of ValidatingAdmissionPolicies', {
  since: 26,
})
const countsDefinitions = change('a metric counts definitions of ValidatingAdmissionPolicies', {
  since: 26,
  until: 29,
})
const namesErrors = change('metrics of ValidatingAdmissionPolicies name the error, not the state', {
  since: 31,
})
const metersMutations = change('metrics count and time MutatingAdmissionPolicies', { since: 34 })
const countsConditionErrors = change('a metric counts errors of match conditions', { since: 27 })
const oldConditionErrors = change(
  'the metric of errors of match conditions is apiserver_admission_admission_match_condition_evaluation_errors_total',
  { since: 27, until: 27 },
)
const metersConditions = change('metrics time match conditions and count excluded requests', {
  since: 28,
})

const checksAreBeta = change('metrics of ValidatingAdmissionPolicies are BETA', { since: 31 })

const metersAccess = change('metrics time match conditions of authorization webhooks', {
  since: 30,
})

/** The only state of policies in metrics. */
const state = 'active'

export function policyMetrics(registry: Registry, minor: number) {
  return { ...checkMetrics(registry, minor), ...conditionMetrics(registry, minor) }
}

/** Metrics of the match conditions of authorization webhooks. */
export function accessConditionMetrics(registry: Registry) {
  const prefix = 'apiserver_authorization_match_condition'
  const life = { stability: 'ALPHA', only: metersAccess } as const
  const labels = ['type', 'name']
  return {
    errors: registry.register(
      counter(`${prefix}_evaluation_errors_total`, ...labels),
      'Requests for which a match condition of an authorizer could not be evaluated.',
      life,
    ),
    exclusions: registry.register(
      counter(`${prefix}_exclusions_total`, ...labels),
      'Requests that match conditions kept from an authorizer.',
      life,
    ),
    durations: registry.register(
      histogram(`${prefix}_evaluation_seconds`, conditionBounds, ...labels),
      'How long all match conditions of an authorizer took, in seconds.',
      life,
    ),
  }
}

function checkMetrics(registry: Registry, minor: number) {
  const namesError = releaseOf(minor).has(namesErrors)
  const life = { stability: 'ALPHA', beta: checksAreBeta, only: metersPolicies } as const
  const labels = namesError
    ? ['policy', 'policy_binding', 'error_type', 'enforcement_action']
    : ['policy', 'policy_binding', 'enforcement_action', 'state']
  const validating = 'apiserver_validating_admission_policy'
  const mutating = 'apiserver_mutating_admission_policy'
  const mutatingLabels = ['policy', 'policy_binding', 'error_type']
  const ofMutations = { stability: 'ALPHA', only: metersMutations } as const
  return {
    policyChecks: registry.register(
      counter(`${validating}_check_total`, ...labels),
      'Results of validations by policy, binding and action.',
      life,
    ),
    policyCheckDurations: registry.register(
      histogram(`${validating}_check_duration_seconds`, expressionBounds, ...labels),
      'How long the expressions of these validations took, in seconds.',
      life,
    ),
    policyDefinitions: registry.register(
      counter(`${validating}_definition_total`, 'state', 'enforcement_action'),
      'Definitions of policies that the server loaded.',
      { stability: 'ALPHA', only: countsDefinitions },
    ),
    /** The values of the labels after policy and binding. */
    policyCheckLabels: (errorType: string, action: string): [string, string] =>
      namesError ? [errorType, action] : [action, state],
    mutationChecks: registry.register(
      counter(`${mutating}_check_total`, ...mutatingLabels),
      'Mutations by policy and binding.',
      ofMutations,
    ),
    mutationCheckDurations: registry.register(
      histogram(`${mutating}_check_duration_seconds`, expressionBounds, ...mutatingLabels),
      'How long mutations took, in seconds.',
      ofMutations,
    ),
  }
}

function conditionMetrics(registry: Registry, minor: number) {
  const isOld = releaseOf(minor).has(oldConditionErrors)
  const labels = ['name', 'kind', 'type', 'operation']
  const prefix = `apiserver_admission_${isOld ? 'admission_' : ''}match_condition`
  const life = { stability: 'ALPHA', only: metersConditions } as const
  return {
    conditionErrors: registry.register(
      counter(`${prefix}_evaluation_errors_total`, ...(isOld ? ['name', 'type'] : labels)),
      'Match conditions that could not be evaluated.',
      { stability: 'ALPHA', only: countsConditionErrors },
    ),
    /** The values of the labels of errors. */
    conditionErrorLabels: (
      name: string,
      kind: string,
      type: string,
      operation: string,
    ): string[] => (isOld ? [name, type] : [name, kind, type, operation]),
    conditionExclusions: registry.register(
      counter(`${prefix}_exclusions_total`, ...labels),
      'Requests that match conditions kept from a webhook.',
      life,
    ),
    conditionDurations: registry.register(
      histogram(`${prefix}_evaluation_seconds`, conditionBounds, ...labels),
      'How long all match conditions of a webhook or policy took, in seconds.',
      life,
    ),
  }
}
