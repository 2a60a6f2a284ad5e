/** Defaults of Namespace. */
import type { Defaulter, Defaulters } from '#kinds/all-kinds/defaulter.ts'
import { setKey } from '#schema/user-key.ts'

/**
 * Adds the label with the namespace's name. With generateName, the label is added after the name is
 * generated.
 */
const namespace: Defaulter = (value, { feature }) => {
  const name = value.metadata?.name
  if (!name || !feature('NamespaceDefaultLabelName')) return
  value.metadata.labels ??= {}
  setKey(value.metadata.labels, 'kubernetes.io/metadata.name', name)
}

export const namespaceDefaults: Defaulters = {
  'io.k8s.api.core.v1.Namespace': namespace,
  'io.k8s.api.core.v1.NamespaceStatus': (value) => {
    value.phase ||= 'Active'
  },
}
