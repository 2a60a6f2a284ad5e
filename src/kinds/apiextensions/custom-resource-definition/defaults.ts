/** Defaults of CustomResourceDefinition. */
import type { Loose } from '#api/object-meta.ts'
import type { Defaulter, Defaulters } from '#kinds/all-kinds/defaulter.ts'

function setNames(names: Loose): void {
  const kind: string = names.kind ?? ''
  if (!names.singular && kind !== '') names.singular = kind.toLowerCase()
  if (!names.listKind && kind !== '') names.listKind = `${kind}List`
}

function setStoredVersions(value: Loose): void {
  const storage = (value.spec?.versions ?? []).find((one: Loose) => one.storage === true)
  if (storage === undefined || value.status?.storedVersions?.length) return
  value.status ??= { conditions: null, acceptedNames: { plural: '', kind: '' } }
  value.status.storedVersions = [storage.name]
}

const stable: Defaulter = (value) => {
  value.spec ??= {}
  value.spec.names ??= {}
  setNames(value.spec.names)
  value.spec.conversion ??= { strategy: 'None' }
  setStoredVersions(value)
}

const beta: Defaulter = (value) => {
  value.spec ??= {}
  const { spec } = value
  if (!spec.scope) spec.scope = 'Namespaced'
  spec.names ??= {}
  setNames(spec.names)
  if (!spec.versions?.length && spec.version) {
    spec.versions = [{ name: spec.version, served: true, storage: true }]
  }
  if (!spec.version && spec.versions?.length) spec.version = spec.versions[0].name
  spec.conversion ??= { strategy: 'None' }
  if (spec.conversion.strategy === 'Webhook' && !spec.conversion.conversionReviewVersions?.length) {
    spec.conversion.conversionReviewVersions = ['v1beta1']
  }
  spec.preserveUnknownFields ??= true
  setStoredVersions(value)
}

const port: Defaulter = (value) => {
  value.port ??= 443
}

const name = (version: string, type: string) =>
  `io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.${version}.${type}`

export const customResourceDefinitionDefaults: Defaulters = {
  [name('v1', 'CustomResourceDefinition')]: stable,
  [name('v1', 'ServiceReference')]: port,
  [name('v1beta1', 'CustomResourceDefinition')]: beta,
  [name('v1beta1', 'ServiceReference')]: port,
}
