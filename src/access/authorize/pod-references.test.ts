import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Loose } from '#api/object-meta.ts'
import { podConfigMapNames, podSecretNames, volumeSecrets } from './pod-references.ts'

const secretRef = { name: 's' }
const env = (valueFrom: Loose) => ({ env: [{ name: 'A', valueFrom }] })
const all = ['containers', 'initContainers', 'ephemeralContainers']

const secrets: [name: string, spec: Loose][] = [
  ['to pull with', { imagePullSecrets: [secretRef] }],
  ...all.flatMap((list): [string, Loose][] => [
    [`a variable of ${list}`, { [list]: [env({ secretKeyRef: { name: 's', key: 'k' } })] }],
    [`all variables of ${list}`, { [list]: [{ envFrom: [{ secretRef }] }] }],
  ]),
  ...[
    { secret: { secretName: 's' } },
    { azureFile: { secretName: 's' } },
    ...['cephfs', 'cinder', 'flexVolume', 'rbd', 'scaleIO', 'iscsi', 'storageos'].map((type) => ({
      [type]: { secretRef },
    })),
    { csi: { nodePublishSecretRef: secretRef } },
    { projected: { sources: [{ configMap: { name: 'm' } }, { secret: { name: 's' } }] } },
  ].map((volume): [string, Loose] => [`a volume ${JSON.stringify(volume)}`, { volumes: [volume] }]),
]
for (const [name, spec] of secrets)
  test(`the secret of ${name}`, () =>
    assert.deepEqual([...podSecretNames({ metadata: {}, spec })], ['s']))

const maps: [name: string, spec: Loose][] = [
  ...all.flatMap((list): [string, Loose][] => [
    [`a variable of ${list}`, { [list]: [env({ configMapKeyRef: { name: 'm', key: 'k' } })] }],
    [`all variables of ${list}`, { [list]: [{ envFrom: [{ configMapRef: { name: 'm' } }] }] }],
  ]),
  ['a volume', { volumes: [{ configMap: { name: 'm' } }] }],
  ['a projection', { volumes: [{ projected: { sources: [{ configMap: { name: 'm' } }] } }] }],
]
for (const [name, spec] of maps)
  test(`the config map of ${name}`, () =>
    assert.deepEqual([...podConfigMapNames({ metadata: {}, spec })], ['m']))

test('a volume without names refers to nothing', () => {
  const spec = {
    imagePullSecrets: [{}, { name: '' }],
    containers: [
      {
        envFrom: [{ secretRef: {} }, { configMapRef: { name: '' } }],
        env: [{ name: 'A', value: 's' }],
      },
    ],
    volumes: [{ secret: {} }, { rbd: {} }, { configMap: {} }, { emptyDir: {} }, { projected: {} }],
  }
  assert.equal(podSecretNames({ metadata: {}, spec }).size, 0)
  assert.equal(podConfigMapNames({ metadata: {}, spec }).size, 0)
  assert.equal(podSecretNames({ metadata: {} }).size, 0)
})

const claimRef = { namespace: 'home', name: 'c' }
const inNamespace = { name: 's', namespace: 'own' }
const volumes: [name: string, spec: Loose, expected: string[]][] = [
  ...['cephfs', 'flexVolume', 'rbd', 'scaleIO', 'iscsi'].flatMap((type): typeof volumes => [
    [`${type} at home`, { claimRef, [type]: { secretRef } }, ['home/s']],
    [`${type} elsewhere`, { claimRef, [type]: { secretRef: inNamespace } }, ['own/s']],
  ]),
  ['azureFile at home', { claimRef, azureFile: { secretName: 's' } }, ['home/s']],
  [
    'azureFile elsewhere',
    { claimRef, azureFile: { secretName: 's', secretNamespace: 'own' } },
    ['own/s'],
  ],
  ['azureFile without a claim', { azureFile: { secretName: 's' } }, ['/s']],
  ['cinder', { claimRef, cinder: { secretRef: inNamespace } }, ['own/s']],
  ['storageos', { claimRef, storageos: { secretRef: inNamespace } }, ['own/s']],
  [
    'drivers, without what controllers need',
    {
      claimRef,
      csi: {
        nodePublishSecretRef: inNamespace,
        nodeStageSecretRef: { name: 't', namespace: 'own' },
        controllerPublishSecretRef: { name: 'u', namespace: 'own' },
        controllerExpandSecretRef: { name: 'v', namespace: 'own' },
      },
    },
    ['own/s', 'own/t'],
  ],
  ['nothing', { claimRef, hostPath: { path: '/' }, rbd: { secretRef: { name: '' } } }, []],
]
for (const [name, spec, expected] of volumes)
  test(`secrets of volumes: ${name}`, () => {
    const found = volumeSecrets({ metadata: {}, spec })
    assert.deepEqual(
      found.map(({ namespace, name: secret }) => `${namespace}/${secret}`),
      expected,
    )
  })
