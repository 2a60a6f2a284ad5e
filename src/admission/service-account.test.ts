import assert from 'node:assert/strict'
import { test } from 'node:test'
import { MemoryReader } from '#access/memory-reader.suite.ts'
import type { Loose } from '#api/object-meta.ts'
import { AdmissionChain } from './chain.ts'
import { outcome, pod, podKind, requestOf } from './requests.suite.ts'
import { serviceAccountPlugin } from './service-account.ts'

const plugin = serviceAccountPlugin({ release: 22, randomSuffix: () => 'abcde' })
const mountPath = '/var/run/secrets/kubernetes.io/serviceaccount'
const enforce = 'kubernetes.io/enforce-mountable-secrets'

const reader = new MemoryReader()
const account = (name: string, more: Loose = {}, annotations: Loose = {}) =>
  reader.put('', 'serviceaccounts', {
    metadata: { namespace: 'ns', name, uid: `${name}-uid`, annotations },
    ...more,
  })
const secrets = { secrets: [{ name: 'ok' }], imagePullSecrets: [{ name: 'pull' }] }
account('default')
account('off', { automountServiceAccountToken: false })
account('pulls', secrets)
const spelledTrue = ['true', '1', 't', 'T', 'TRUE', 'True']
const spelledOtherwise = ['yes', 'false', '', 'tRUE']
for (const word of [...spelledTrue, ...spelledOtherwise])
  account(`strict-${word}`, secrets, { [enforce]: word })

const create = (spec: Loose, metadata: Loose = {}) =>
  requestOf('CREATE', podKind, pod(spec, metadata))
const secretVolume = (secretName?: string) => ({ volumes: [{ name: 'v', secret: { secretName } }] })
const reading = (name: string | undefined, list = 'containers') => ({
  [list]: [{ name: 'c', env: [{ name: 'A', valueFrom: { secretKeyRef: { name, key: 'k' } } }] }],
})
const mirrored = (spec: Loose) =>
  create(spec, { annotations: { 'kubernetes.io/config.mirror': '' } })
const strict = { serviceAccountName: 'strict-true' }
const forbidden = '403 pods "p" is forbidden: '
const unknown = (what: string) =>
  `${forbidden}${what} is not allowed because service account strict-true does not reference that secret`
const noSecrets = `${forbidden}a mirror pod may not reference secrets`

const cases: [name: string, request: ReturnType<typeof create>, expected: string][] = [
  ['a secret the account names', create({ ...strict, ...secretVolume('ok') }), 'admitted'],
  [
    'another secret',
    create({ ...strict, ...secretVolume('bad') }),
    unknown('volume with secret.secretName="bad"'),
  ],
  [
    'a secret without a name',
    create({ ...strict, ...secretVolume() }),
    unknown('volume with secret.secretName=""'),
  ],
  [
    'a variable from another secret',
    create({ ...strict, ...reading('bad') }),
    unknown('container c with envVar A referencing secret.secretName="bad"'),
  ],
  ['a variable from its own', create({ ...strict, ...reading('ok') }), 'admitted'],
  [
    'a variable from a secret without a name',
    create({ ...strict, ...reading(undefined) }),
    unknown('container c with envVar A referencing secret.secretName=""'),
  ],
  [
    'a variable of an init container',
    create({ ...strict, ...reading('bad', 'initContainers') }),
    unknown('init container c with envVar A referencing secret.secretName="bad"'),
  ],
  [
    'all of another secret as variables, which the original lets pass',
    create({ ...strict, containers: [{ name: 'c', envFrom: [{ secretRef: { name: 'bad' } }] }] }),
    'admitted',
  ],
  [
    'another secret to pull with',
    create({ ...strict, imagePullSecrets: [{ name: 'pull' }, { name: 'bad' }] }),
    `${forbidden}imagePullSecrets[1].name="bad" is not allowed because service account strict-true does not reference that imagePullSecret`,
  ],
  [
    'a secret to pull with that has no name',
    create({ ...strict, imagePullSecrets: [{}] }),
    `${forbidden}imagePullSecrets[0].name="" is not allowed because service account strict-true does not reference that imagePullSecret`,
  ],
  [
    'an account that is not there',
    create({ serviceAccountName: 'nope' }),
    `${forbidden}error looking up service account ns/nope: serviceaccount "nope" not found`,
  ],
  ['a mirror', mirrored({}), 'admitted'],
  ['a mirror with a config map', mirrored({ volumes: [{ configMap: { name: 'x' } }] }), 'admitted'],
  [
    'a mirror with an account',
    mirrored({ serviceAccountName: 'default' }),
    `${forbidden}a mirror pod may not reference service accounts`,
  ],
  ['a mirror with the volume of a secret', mirrored(secretVolume('ok')), noSecrets],
  ['a mirror that pulls with a secret', mirrored({ imagePullSecrets: [{ name: 'x' }] }), noSecrets],
  ['a mirror that reads a secret', mirrored(reading('x')), noSecrets],
  [
    'a mirror that reads all of a secret',
    mirrored({ initContainers: [{ name: 'i', envFrom: [{ secretRef: { name: 'x' } }] }] }),
    noSecrets,
  ],
  [
    'a mirror with a secret among projections',
    mirrored({ volumes: [{ projected: { sources: [{ secret: { name: 'x' } }] } }] }),
    noSecrets,
  ],
  [
    'a mirror with a token',
    mirrored({ volumes: [{ projected: { sources: [{ serviceAccountToken: { path: 'x' } }] } }] }),
    `${forbidden}a mirror pod may not use ServiceAccountToken volume projections`,
  ],
  [
    'a changed pod is not looked at',
    requestOf('UPDATE', podKind, pod({ serviceAccountName: 'nope' })),
    'admitted',
  ],
]
for (const [name, request, expected] of cases)
  test(name, async () => {
    assert.equal(await outcome(plugin, request, reader), expected)
    const asked = structuredClone({ ...request.object })
    const again = requestOf(request.operation, podKind, asked)
    const chain = new AdmissionChain([plugin], reader)
    if (expected !== 'admitted')
      await assert.rejects(async () => chain.mutate(again), 'before what later plugins say')
  })

for (const [words, expected] of [
  [spelledTrue, /is not allowed/],
  [spelledOtherwise, /^admitted$/],
] as const)
  for (const word of words)
    test(`secrets are limited by ${JSON.stringify(word)}: ${expected}`, async () => {
      const request = create({ serviceAccountName: `strict-${word}`, ...secretVolume('bad') })
      assert.match(await outcome(plugin, request, reader), expected)
    })

const mount = { name: 'kube-api-access-abcde', readOnly: true, mountPath }
const given: [name: string, spec: Loose, check: (spec: Loose) => unknown, expected: unknown][] = [
  [
    'no account',
    {},
    (spec) => [spec.serviceAccountName, spec.serviceAccount],
    ['default', 'default'],
  ],
  ['a token', {}, ({ containers: [c] }) => c.volumeMounts, [mount]],
  [
    'the volume of the token',
    {},
    ({ volumes }) => volumes.map(({ name, projected }: Loose) => [name, projected.sources[0]]),
    [
      [
        'kube-api-access-abcde',
        { serviceAccountToken: { expirationSeconds: 3607, path: 'token' } },
      ],
    ],
  ],
  ['no token by the account', { serviceAccountName: 'off' }, ({ volumes }) => volumes, undefined],
  [
    'no token by the pod',
    { automountServiceAccountToken: false },
    ({ volumes }) => volumes,
    undefined,
  ],
  [
    'the pod over its account',
    { serviceAccountName: 'off', automountServiceAccountToken: true },
    ({ volumes }) => volumes.length,
    1,
  ],
  [
    'something else where the token goes',
    { containers: [{ name: 'c', volumeMounts: [{ name: 'v', mountPath }] }] },
    (spec) => [spec.volumes, spec.containers[0].volumeMounts],
    [undefined, [{ name: 'v', mountPath }]],
  ],
  [
    'a volume of that name already',
    { volumes: [{ name: 'kube-api-access-x' }], initContainers: [{ name: 'i' }] },
    (spec) => [spec.volumes, spec.initContainers[0].volumeMounts],
    [[{ name: 'kube-api-access-x' }], [{ ...mount, name: 'kube-api-access-x' }]],
  ],
  [
    'secrets to pull with',
    { serviceAccountName: 'pulls' },
    (spec) => spec.imagePullSecrets,
    [{ name: 'pull' }],
  ],
  [
    'its own secrets to pull with',
    { serviceAccountName: 'pulls', imagePullSecrets: [{ name: 'x' }] },
    (spec) => spec.imagePullSecrets,
    [{ name: 'x' }],
  ],
]
for (const [name, spec, check, expected] of given)
  test(`what a pod gets: ${name}`, async () => {
    const request = create(spec)
    assert.equal(await outcome(plugin, request, reader), 'admitted')
    assert.deepEqual(check(request.object?.spec), expected)
  })

test('before bound tokens a pod mounts the Secret of its account', async () => {
  const old = serviceAccountPlugin({ release: 15, randomSuffix: () => 'abcde' })
  const own = new MemoryReader()
  const put = (secretsOf: string[]) =>
    own.put('', 'serviceaccounts', {
      metadata: { namespace: 'ns', name: 'default', uid: 'u' },
      secrets: secretsOf.map((name) => ({ name })),
    })
  put([])
  assert.equal(
    await outcome(old, create({}), own),
    '500 No API token found for service account "default", retry after the token is automatically created and added to the service account',
  )
  for (const [name, uid] of [
    ['strange', 'other'],
    ['token', 'u'],
  ])
    own.put('', 'secrets', {
      metadata: {
        namespace: 'ns',
        name,
        annotations: { 'kubernetes.io/service-account.uid': uid },
      },
      type: 'kubernetes.io/service-account-token',
    } as never)
  put(['gone', 'strange', 'token'])
  const request = create({})
  assert.equal(await outcome(old, request, own), 'admitted')
  assert.deepEqual(request.object?.spec.volumes, [
    { name: 'token', secret: { secretName: 'token' } },
  ])
})
