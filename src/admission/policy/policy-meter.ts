/** Metrics of admission policies and match conditions: durations and results. */
import type { Operation } from '#admission/admission.ts'
import { policyMetrics } from '#observe/metrics/policy-metrics.ts'
import type { Registry } from '#observe/metrics/registry.ts'

/** The result for a request: allowed despite an error, or the validation action of a binding. */
export type CheckAction = 'allow' | 'deny' | 'audit' | 'warn'

/** One evaluation of the match conditions of a webhook or a policy. */
export interface ConditionsRun {
  readonly name: string
  readonly kind: 'webhook' | 'policy'
  readonly type: 'admit' | 'validate' | 'validating'
  readonly operation: Operation
  readonly tookMs: number
  /** Number of conditions that failed to evaluate. */
  readonly errors: number
  /** Whether a condition excludes the request, so that the webhook is not called. */
  readonly excludes: boolean
}

export interface PolicyMeter {
  readonly monotonicMs: () => number
  validation(policy: string, binding: string, action: CheckAction, check: PolicyCheck): void
  mutation(policy: string, binding: string, check: PolicyCheck): void
  conditions(run: ConditionsRun): void
  definition(): void
}

export interface PolicyCheck {
  readonly passed: boolean
  /** The reason of the denial, or why the expression could not be compiled or evaluated. */
  readonly message: string
  readonly tookMs: number
}

/** Metrics classify errors by their message. A validation that is false counts as invalid too. */
function errorType({ passed, message }: PolicyCheck): string {
  if (passed) return 'no_error'
  if (message.startsWith('compilation')) return 'compile_error'
  return message.startsWith('validation failed due to running out of cost budget')
    ? 'out_of_budget'
    : 'invalid_error'
}

/** Registers the metrics. */
export function policyMeter(
  registry: Registry,
  minor: number,
  monotonicMs: () => number,
): PolicyMeter {
  const metrics = policyMetrics(registry, minor)
  return {
    monotonicMs,
    validation(policy, binding, action, check) {
      const labels = metrics.policyCheckLabels(errorType(check), action)
      metrics.policyChecks.labels(policy, binding, ...labels).add(1)
      metrics.policyCheckDurations.labels(policy, binding, ...labels).observe(check.tookMs / 1000)
    },
    mutation(policy, binding, check) {
      const type = errorType(check)
      metrics.mutationChecks.labels(policy, binding, type).add(1)
      metrics.mutationCheckDurations.labels(policy, binding, type).observe(check.tookMs / 1000)
    },
    conditions({ name, kind, type, operation, tookMs, errors, excludes }) {
      const labels = [name, kind, type, operation] as const
      metrics.conditionDurations.labels(...labels).observe(tookMs / 1000)
      if (errors > 0)
        metrics.conditionErrors.labels(...metrics.conditionErrorLabels(...labels)).add(errors)
      if (excludes) metrics.conditionExclusions.labels(...labels).add(1)
    },
    definition() {
      metrics.policyDefinitions.labels('active', 'deny').add(1)
    },
  }
}
