/** Requests that neither webhooks nor policies intercept. */
import type { Kind } from '#kinds/kind.ts'

const group = 'admissionregistration.k8s.io'
const policyKinds: ReadonlySet<string> = new Set([
  'ValidatingAdmissionPolicy',
  'ValidatingAdmissionPolicyBinding',
  'MutatingAdmissionPolicy',
  'MutatingAdmissionPolicyBinding',
])
const webhookKinds: ReadonlySet<string> = new Set([
  'ValidatingWebhookConfiguration',
  'MutatingWebhookConfiguration',
])

/**
 * Whether the kind is an admission policy or a binding. They are exempt, so that an operator can
 * always remove a faulty policy.
 */
export const isPolicy = ({ group: requested, kind }: Kind): boolean =>
  requested === group && policyKinds.has(kind)

/**
 * Kinds that configure admission itself. No webhook intercepts them, so that an operator can always
 * remove a faulty webhook.
 */
export const decidesAdmission = (kind: Kind): boolean =>
  isPolicy(kind) || (kind.group === group && webhookKinds.has(kind.kind))

/** A webhook that rejects these requests could lock out all clients. */
const reviews: ReadonlySet<string> = new Set([
  'authentication.k8s.io/selfsubjectreviews',
  'authentication.k8s.io/tokenreviews',
  'authorization.k8s.io/localsubjectaccessreviews',
  'authorization.k8s.io/selfsubjectaccessreviews',
  'authorization.k8s.io/selfsubjectrulesreviews',
  'authorization.k8s.io/subjectaccessreviews',
])

export const isReview = ({ group: requested, plural }: Kind): boolean =>
  reviews.has(`${requested}/${plural}`)
