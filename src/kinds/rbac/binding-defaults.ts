/** Defaults of RoleBinding and ClusterRoleBinding. */
import type { Defaulter, Defaulters } from '#kinds/all-kinds/defaulter.ts'

const group = 'rbac.authorization.k8s.io'

const binding: Defaulter = (value) => {
  value.roleRef ??= {}
  value.roleRef.apiGroup ||= group
}

const subject: Defaulter = (value) => {
  if (value.kind === 'User' || value.kind === 'Group') value.apiGroup ||= group
}

/** In v1alpha1 a subject has an apiVersion where later versions have an apiGroup. */
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

export const bindingDefaults: Defaulters = {
  ...rbacDefaults('v1', subject),
  ...rbacDefaults('v1beta1', subject),
  ...rbacDefaults('v1alpha1', alphaSubject),
}
