/** Defaults of roles, policies, certificate requests and flow control. */
import { wasWrittenEmpty } from '#api/written-empty.ts'
import { defaultSigner } from '#kinds/behaviour/certificates/kubelet-request.ts'
import { stripBudgetLabel } from '#kinds/conversion/disruption-budget.ts'
import type { Defaulter, Defaulters } from './defaulter.ts'

const group = 'rbac.authorization.k8s.io'

const binding: Defaulter = (value) => {
  value.roleRef ??= {}
  value.roleRef.apiGroup ||= group
}

const subject: Defaulter = (value) => {
  if (value.kind === 'User' || value.kind === 'Group') value.apiGroup ||= group
}

/** The alpha version names a version where the others name a group. */
const alphaSubject: Defaulter = (value) => {
  if (value.kind === 'ServiceAccount') value.apiVersion ||= 'v1'
  if (value.kind === 'User' || value.kind === 'Group') value.apiVersion ||= `${group}/v1alpha1`
}

function rbacDefaults(version: string, subjectDefaults: Defaulter): Defaulters {
  const name = (type: string) => `io.k8s.api.rbac.${version}.${type}`
  return {
    [name('RoleBinding')]: binding,
    [name('ClusterRoleBinding')]: binding,
    [name('Subject')]: subjectDefaults,
  }
}

const securityPolicySpec: Defaulter = (value) => {
  value.allowPrivilegeEscalation ??= true
}

/** The release that gave requests a signer. */
const signerSince = 18

const betaRequestSpec: Defaulter = (spec, { release }) => {
  if (!wasWrittenEmpty(spec, 'usages')) spec.usages ??= ['digital signature', 'key encipherment']
  if (release >= signerSince) spec.signerName ??= defaultSigner(spec.request, spec.usages ?? [])
}

const betaRequestCondition: Defaulter = (value, { release }) => {
  if (release >= 19) value.status ||= 'True'
}

const flowSchemaSpec: Defaulter = (value) => {
  value.matchingPrecedence ||= 1000
}
const limited: Defaulter = (value) => {
  value.assuredConcurrencyShares ||= 30
}
const queuing: Defaulter = (value) => {
  value.handSize ||= 8
  value.queues ||= 64
  value.queueLengthLimit ||= 50
}

function flowcontrolDefaults(version: string): Defaulters {
  const name = (type: string) => `io.k8s.api.flowcontrol.${version}.${type}`
  return {
    [name('FlowSchemaSpec')]: flowSchemaSpec,
    [name('LimitedPriorityLevelConfiguration')]: limited,
    [name('QueuingConfiguration')]: queuing,
  }
}

export const accessDefaults: Defaulters = {
  ...rbacDefaults('v1', subject),
  ...rbacDefaults('v1beta1', subject),
  ...rbacDefaults('v1alpha1', alphaSubject),
  'io.k8s.api.policy.v1.PodDisruptionBudgetSpec': (value) => stripBudgetLabel(value.selector),
  'io.k8s.api.policy.v1beta1.PodSecurityPolicySpec': securityPolicySpec,
  'io.k8s.api.extensions.v1beta1.PodSecurityPolicySpec': securityPolicySpec,
  'io.k8s.api.certificates.v1beta1.CertificateSigningRequestSpec': betaRequestSpec,
  'io.k8s.api.certificates.v1beta1.CertificateSigningRequestCondition': betaRequestCondition,
  ...flowcontrolDefaults('v1alpha1'),
  ...flowcontrolDefaults('v1beta1'),
}
