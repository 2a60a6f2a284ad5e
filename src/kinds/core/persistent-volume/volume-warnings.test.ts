import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { KubeObject } from '#api/object-meta.ts'
import { contextFor, named } from '#kinds/all-kinds/behaviour.suite.ts'
import { volumeWarnings } from './volume-warnings.ts'

const annotated = (key: string) => named({}, { annotations: { [key]: 'a' } })
const term = { matchExpressions: [{ key: 'beta.kubernetes.io/os' }] }
const onNode = named({ spec: { nodeAffinity: { required: { nodeSelectorTerms: [term] } } } })

const rows: [since: number, volume: KubeObject, warning: string][] = [
  [
    25,
    onNode,
    'spec.nodeAffinity.required.nodeSelectorTerms[0].matchExpressions[0].key: beta.kubernetes.io/os is deprecated since v1.14; use "kubernetes.io/os" instead',
  ],
  [
    28,
    annotated('volume.beta.kubernetes.io/storage-class'),
    'metadata.annotations[volume.beta.kubernetes.io/storage-class]: deprecated since v1.8; use "storageClassName" attribute instead',
  ],
  [28, named({ spec: { rbd: {} } }), 'spec.rbd: deprecated in v1.28, non-functional in v1.31+'],
  [
    28,
    named({ spec: { storageos: {} } }),
    'spec.storageOS: deprecated in v1.22, non-functional in v1.25+',
  ],
  [
    30,
    named({ spec: { persistentVolumeReclaimPolicy: 'Recycle' } }),
    'spec.persistentVolumeReclaimPolicy: The Recycle reclaim policy is deprecated. Instead, the recommended approach is to use dynamic provisioning.',
  ],
  [
    31,
    annotated('volume.beta.kubernetes.io/mount-options'),
    'metadata.annotations[volume.beta.kubernetes.io/mount-options]: deprecated since v1.31; use "mountOptions" attribute instead',
  ],
]
for (const [since, volume, warning] of rows) {
  test(warning, () => {
    const warningsIn = (release: number) => volumeWarnings(volume, contextFor({ release }))
    assert.deepEqual([warningsIn(since - 1), warningsIn(since)], [[], [warning]])
  })
}
