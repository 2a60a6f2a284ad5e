/**
 * Converts subjects of bindings: in v1alpha1 they have an apiVersion, in later versions and the hub
 * an apiGroup.
 */
import type { KubeObject, Loose } from '#api/object-meta.ts'
import type { Conversion, Conversions } from '#kinds/all-kinds/conversion.ts'

const group = 'rbac.authorization.k8s.io'
const everyone = 'system:authenticated'

function subjectToHub(subject: Loose): Loose {
  const { apiVersion = '', ...rest } = subject
  const named = rest.kind === 'User' || rest.kind === 'Group'
  const parts: string[] = apiVersion.split('/')
  const apiGroup = named
    ? group
    : rest.kind === 'ServiceAccount' || parts.length !== 2
      ? ''
      : (parts[0] as string)
  const out: Loose = { ...rest }
  if (apiGroup !== '') out.apiGroup = apiGroup
  if (out.kind === 'User' && out.name === '*') return { ...out, kind: 'Group', name: everyone }
  return out
}

function subjectFromHub(subject: Loose): Loose {
  const { apiGroup = '', ...rest } = subject
  const named = rest.kind === 'User' || rest.kind === 'Group'
  const known = named && apiGroup === group
  const plain = rest.kind === 'ServiceAccount' && apiGroup === ''
  const apiVersion = known
    ? `${group}/v1alpha1`
    : plain
      ? 'v1'
      : apiGroup === ''
        ? ''
        : `${apiGroup}/`
  return apiVersion === '' ? rest : { ...rest, apiVersion }
}

const each =
  (change: (subject: Loose) => Loose) =>
  (object: KubeObject): KubeObject => {
    if (object.subjects) object.subjects = object.subjects.map(change)
    return object
  }

const conversion: Conversion = { toHub: each(subjectToHub), fromHub: each(subjectFromHub) }

export const bindingConversions: Conversions = {
  'rbac.authorization.k8s.io/v1alpha1': conversion,
}
