import assert from 'node:assert/strict'
import { test } from 'node:test'
import { MemoryReader } from '#access/memory-reader.suite.ts'
import type { Loose } from '#api/object-meta.ts'
import { AdmissionChain } from './chain.ts'
import { outcome, pod, podKind, requestOf } from './requests.suite.ts'
import { serviceAccountPlugin } from './service-account.ts'

const pluginOf = (release: number) =>
  serviceAccountPlugin({ release, feature: () => release > 20, randomSuffix: () => 'abcde' })
const plugin = pluginOf(22)
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
    'envFrom of another secret, which kube-apiserver does not check',
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
    const requested = structuredClone({ ...request.object })
    const again = requestOf(request.operation, podKind, requested)
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
    'another volume at the path of the token',
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

const tokenSecrets: [
  what: string,
  release: number,
  name: string,
  annotations: Loose,
  volumes: Loose[],
  expected: string | undefined,
][] = [
  ['of the account', 15, 'token', { name: 'default', uid: 'u' }, [], 'token'],
  ['without uid', 20, 'token', { name: 'default' }, [], 'token'],
  ['with an empty uid', 20, 'token', { name: 'default', uid: '' }, [], 'token'],
  ['of another uid', 15, 'token', { name: 'default', uid: 'other' }, [], undefined],
  ['of another account', 15, 'token', { name: 'other', uid: 'u' }, [], undefined],
  ['of no account', 15, 'token', { uid: 'u' }, [], undefined],
  ['with dots', 18, 'a.b', { name: 'default' }, [], 'a.b'],
  ['with dots', 19, 'a.b', { name: 'default' }, [], 'a-b'],
  ['whose name a volume has', 19, 'a.b', { name: 'default' }, [{ name: 'a-b' }], 'a-b-abcde'],
  [
    'that is mounted already',
    20,
    'token',
    { name: 'default' },
    [{ name: 'v', secret: { secretName: 'token' } }],
    'v',
  ],
]
for (const [what, release, name, stated, volumes, expected] of tokenSecrets)
  test(`1.${release}, before bound tokens, a Secret ${what}`, async () => {
    const own = new MemoryReader()
    own.put('', 'serviceaccounts', {
      metadata: { namespace: 'ns', name: 'default', uid: 'u' },
      secrets: [{ name: 'gone' }, { name }],
    })
    const annotations = Object.fromEntries(
      Object.entries(stated).map(([key, value]) => [`kubernetes.io/service-account.${key}`, value]),
    )
    own.put('', 'secrets', {
      metadata: { namespace: 'ns', name, annotations },
      type: 'kubernetes.io/service-account-token',
    } as never)
    const request = create({ volumes, containers: [{ name: 'c' }] })
    const refused =
      '500 No API token found for service account "default", retry after the token is automatically created and added to the service account'
    assert.equal(
      await outcome(pluginOf(release), request, own),
      expected === undefined ? refused : 'admitted',
    )
    if (expected === undefined) return
    const { volumes: mounted, containers } = (request.object as Loose).spec
    assert.deepEqual(mounted.at(-1), { name: expected, secret: { secretName: name } })
    assert.deepEqual(containers[0].volumeMounts, [{ name: expected, readOnly: true, mountPath }])
  })

test('a pod waits for the default account of its namespace, and for no other', async () => {
  const early = new MemoryReader()
  const metadata = { namespace: 'ns', name: 'default', uid: 'u' }
  setTimeout(() => early.put('', 'serviceaccounts', { metadata }), 50)
  assert.equal(await outcome(plugin, create({}), early), 'admitted')
  const another = outcome(plugin, create({ serviceAccountName: 'late' }), early)
  early.put('', 'serviceaccounts', { metadata: { ...metadata, name: 'late' } })
  assert.match(await another, /serviceaccount "late" not found$/)
})
