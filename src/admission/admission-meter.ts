/**
 * Metrics of admission durations. The metric child for each plugin, step and operation is cached.
 */
import type { ValueFamily, Distribution, HistogramFamily } from '#observe/metrics/metric.ts'
import type { Operation } from './admission.ts'
import type { AdmissionMeter, AdmissionStep } from './chain.ts'

export interface AdmissionFamilies {
  readonly admissionSteps: HistogramFamily
  readonly admissionPlugins: HistogramFamily
  readonly admissionWebhooks: HistogramFamily
  readonly webhookRejections: ValueFamily
}

export function admissionMeter(
  families: AdmissionFamilies,
  monotonicMs: () => number,
): AdmissionMeter {
  const plugins = new Map<string, Map<string, Distribution>>()
  const steps = new Map<string, Distribution>()
  const plugin = (
    name: string,
    step: AdmissionStep,
    operation: Operation,
    rejected: boolean,
    tookMs: number,
  ) => {
    let ofPlugin = plugins.get(name)
    if (ofPlugin === undefined) plugins.set(name, (ofPlugin = new Map()))
    const way = wayOf(step, operation, rejected)
    let child = ofPlugin.get(way)
    if (child === undefined) {
      child = families.admissionPlugins.labels(name, step, operation, String(rejected))
      ofPlugin.set(way, child)
    }
    child.observe(tookMs / 1000)
  }
  return {
    monotonicMs,
    plugin,
    unconcerned(names, step, operation) {
      for (let i = 0; i < names.length; i++) plugin(names[i] as string, step, operation, false, 0)
    },
    step(step, operation, rejected, tookMs) {
      const way = wayOf(step, operation, rejected)
      let child = steps.get(way)
      if (child === undefined)
        steps.set(way, (child = families.admissionSteps.labels(step, operation, String(rejected))))
      child.observe(tookMs / 1000)
    },
    webhook({ name, type, operation, durationMs, rejected, errorType, code }) {
      families.admissionWebhooks
        .labels(name, type, operation, String(rejected))
        .observe(durationMs / 1000)
      if (rejected)
        families.webhookRejections
          .labels(name, type, operation, errorType, String(Math.min(code, 600)))
          .add(1)
    },
  }
}

const operations: readonly Operation[] = ['CREATE', 'UPDATE', 'DELETE', 'CONNECT']
const named = (step: AdmissionStep, rejected: boolean) =>
  Object.fromEntries(
    operations.map((operation) => [operation, `${step} ${operation} ${rejected}`]),
  ) as Record<Operation, string>
const wayNames = {
  admit: [named('admit', false), named('admit', true)],
  validate: [named('validate', false), named('validate', true)],
} as const

const wayOf = (step: AdmissionStep, operation: Operation, rejected: boolean) =>
  wayNames[step][rejected ? 1 : 0][operation]
