/** Defaults of webhook configurations. The beta version was more forgiving. */
import type { Defaulter, Defaulters } from '#kinds/all-kinds/defaulter.ts'

interface WebhookDefaults {
  readonly failurePolicy: string
  readonly matchPolicy: string
  readonly timeoutSeconds: number
  /** The defaults of side effects and versions: none, or what the beta version assumed. */
  readonly assumes: boolean
  readonly mutating: boolean
}

const webhook =
  (defaults: WebhookDefaults): Defaulter =>
  (value) => {
    value.failurePolicy ??= defaults.failurePolicy
    value.matchPolicy ??= defaults.matchPolicy
    value.namespaceSelector ??= {}
    value.objectSelector ??= {}
    value.timeoutSeconds ??= defaults.timeoutSeconds
    if (defaults.mutating) value.reinvocationPolicy ??= 'Never'
    if (!defaults.assumes) return
    value.sideEffects ??= 'Unknown'
    if (!value.admissionReviewVersions?.length) value.admissionReviewVersions = ['v1beta1']
  }

const scope: Defaulter = (value) => {
  value.scope ??= '*'
}

const port: Defaulter = (value) => {
  value.port ??= 443
}

const stable = {
  failurePolicy: 'Fail',
  matchPolicy: 'Equivalent',
  timeoutSeconds: 10,
  assumes: false,
}

const beta = {
  failurePolicy: 'Ignore',
  matchPolicy: 'Exact',
  timeoutSeconds: 30,
  assumes: true,
}

function webhookDefaults(version: string, common: Omit<WebhookDefaults, 'mutating'>): Defaulters {
  const name = (type: string) => `io.k8s.api.admissionregistration.${version}.${type}`
  return {
    [name('MutatingWebhook')]: webhook({ ...common, mutating: true }),
    [name('ValidatingWebhook')]: webhook({ ...common, mutating: false }),
    [name('RuleWithOperations')]: scope,
    [name('ServiceReference')]: port,
  }
}

export const webhookConfigurationDefaults: Defaulters = {
  ...webhookDefaults('v1', stable),
  ...webhookDefaults('v1beta1', beta),
}
