import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { supportedLater } from './dropped-fields.ts'
import { loadFacts } from './facts.ts'

const facts = loadFacts((name) =>
  readFileSync(new URL(`../../facts/${name}`, import.meta.url), 'utf8'),
)
const later = Array.from({ length: 15 }, (_, i) => 23 + i)
const definition = {
  group: 'apiextensions.k8s.io',
  version: 'v1',
  kind: 'CustomResourceDefinition',
}
const pod = { group: '', version: 'v1', kind: 'Pod' }
const rows: [kind: typeof pod, path: string, expected: string | undefined][] = [
  [pod, 'spec.initContainers[0].restartPolicy', '1.28 spec.initContainers[].restartPolicy'],
  [definition, 'spec.versions[0].selectableFields', '1.30 spec.versions[].selectableFields'],
  [
    definition,
    'spec.versions[12].schema.openAPIV3Schema.properties.a.b.x-kubernetes-validations',
    '1.23 spec.versions[].schema.openAPIV3Schema.properties.*.x-kubernetes-validations',
  ],
  [
    definition,
    'spec.versions[0].schema.openAPIV3Schema.properties.a.items.x-kubernetes-validations',
    '1.23 spec.versions[].schema.openAPIV3Schema.properties.*.items.x-kubernetes-validations',
  ],
  [pod, 'spec.contaners', undefined],
  [{ group: 'example.com', version: 'v1', kind: 'Pod' }, 'spec.a', undefined],
]
for (const [kind, path, expected] of rows)
  test(`${kind.kind} ${path}: ${expected}`, () => {
    const found = supportedLater(facts, kind, path, later)
    assert.equal(found && `1.${found.since} ${found.field}`, expected)
  })
