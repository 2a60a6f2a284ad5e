/** Defaults of admission policies and their bindings. */
import { releaseOf } from '#api/releases/change.ts'
import type { Defaulter, Defaulters } from '#kinds/all-kinds/defaulter.ts'
import { selectsParams } from './params.ts'

const failurePolicy: Defaulter = (value) => {
  value.failurePolicy ??= 'Fail'
}

const matchResources: Defaulter = (value) => {
  value.matchPolicy ??= 'Equivalent'
  value.namespaceSelector ??= {}
  value.objectSelector ??= {}
}

const scope: Defaulter = (value) => {
  value.scope ??= '*'
}

/** Only the first version has this default. */
const parameterNotFoundAction: Defaulter = (value, { release }) => {
  if (releaseOf(release).has(selectsParams)) value.parameterNotFoundAction ??= 'Deny'
}

function ofVersion(version: string): Defaulters {
  const name = (type: string) => `io.k8s.api.admissionregistration.${version}.${type}`
  return {
    [name('ValidatingAdmissionPolicySpec')]: failurePolicy,
    [name('MutatingAdmissionPolicySpec')]: failurePolicy,
    [name('MatchResources')]: matchResources,
    [name('NamedRuleWithOperations')]: scope,
  }
}

export const policyDefaults: Defaulters = {
  ...ofVersion('v1'),
  ...ofVersion('v1beta1'),
  ...ofVersion('v1alpha1'),
  'io.k8s.api.admissionregistration.v1alpha1.ParamRef': parameterNotFoundAction,
}
