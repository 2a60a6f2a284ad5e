/** Plugins whose behaviour changed in a release. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { MemoryReader } from '#access/memory-reader.suite.ts'
import type { KubeObject, Loose } from '#api/object-meta.ts'
import { type Release, releaseOf } from '#api/releases/change.ts'
import type { AdmissionPlugin, AdmissionRequest } from './admission.ts'
import { alwaysPullImages } from './always-pull-images.ts'
import { defaultIngressClass } from './default-ingress-class.ts'
import { limitRanger } from './limit-ranger.ts'
import { catalogOf, kindOf, outcome, pod, requestOf } from './requests.suite.ts'
import { serviceAccountPlugin } from './service-account.ts'
import { defaultStorageClass, storageObjectInUseProtection } from './storage-defaults.ts'

const newest = catalogOf(37)
const kindIn = (apiVersion: string, plural: string) => kindOf(apiVersion, plural, newest)
const podKind = kindIn('v1', 'pods')
const reader = new MemoryReader()
const made = (name: string, day: number, annotation: string): KubeObject => ({
  metadata: {
    name,
    creationTimestamp: `2026-01-0${day}T00:00:00Z`,
    annotations: { [annotation]: 'true' },
  },
})
for (const [name, day] of [
  ['a', 1],
  ['c', 2],
  ['b', 2],
] as const) {
  const ingress = made(name, day, 'ingressclass.kubernetes.io/is-default-class')
  reader.put('networking.k8s.io', 'ingressclasses', ingress)
  const storage = made(name, day, 'storageclass.kubernetes.io/is-default-class')
  reader.put('storage.k8s.io', 'storageclasses', storage)
}
reader.put('', 'limitranges', {
  metadata: { name: 'l', namespace: 'ns' },
  spec: { limits: [{ type: 'Pod', max: { cpu: '4' } }] },
})
reader.put('', 'serviceaccounts', {
  metadata: {
    name: 'bot',
    namespace: 'ns',
    annotations: { 'kubernetes.io/enforce-mountable-secrets': 'true' },
  },
  secrets: [{ name: 'own' }],
})

const withLimits = (cpu: string | undefined, more: Loose = {}) => ({
  name: 'c',
  resources: { limits: cpu === undefined ? {} : { cpu } },
  ...more,
})
const limited = (spec: Loose) => requestOf('CREATE', podKind, pod(spec))
const ofBot = (container: Loose, spec: Loose = {}) => ({
  serviceAccountName: 'bot',
  automountServiceAccountToken: false,
  containers: [container],
  ...spec,
})
const whole = (name: string) => ({ name: 'c', envFrom: [{ secretRef: { name } }] })
const variable = (name: string) => ({
  name: 'e',
  env: [{ name: 'V', valueFrom: { secretKeyRef: { name, key: 'k' } } }],
})
const debugged = (container: Loose) =>
  requestOf('UPDATE', podKind, pod(ofBot({ name: 'c' }, { ephemeralContainers: [container] })), {
    subresource: 'ephemeralcontainers',
    old: pod(ofBot({ name: 'c' })),
  })
const feature = () => true
const limits = (release: Release) => limitRanger({ release, podLevel: true })
const accounts = ({ minor }: Release) =>
  serviceAccountPlugin({ release: minor, feature, randomSuffix: () => 'abcde' })
const forbidden = '403 pods "p" is forbidden: '
const tooMuch = `${forbidden}maximum cpu usage per Pod is 4, but limit is `
const otherSecret =
  'referencing secret.secretName="other" is not allowed because service account bot does not reference that secret'

type Plugin = (release: Release) => AdmissionPlugin
type Answers = [release: number, expected: string][]
const refusals: [what: string, plugin: Plugin, request: () => AdmissionRequest, Answers][] = [
  [
    'an amount that one container has',
    limits,
    () => limited({ containers: [withLimits('5'), withLimits(undefined)] }),
    [
      [27, `${forbidden}maximum cpu usage per Pod is 4.  No limit is specified`],
      [28, `${tooMuch}5`],
    ],
  ],
  [
    'a sidecar',
    limits,
    () =>
      limited({
        containers: [withLimits('3')],
        initContainers: [withLimits('2', { restartPolicy: 'Always' })],
      }),
    [
      [27, 'admitted'],
      [28, `${tooMuch}5`],
    ],
  ],
  [
    'the limit of the whole pod',
    limits,
    () => limited({ containers: [withLimits('1')], resources: { limits: { cpu: '5' } } }),
    [[32, `${tooMuch}5`]],
  ],
  [
    'a resize',
    limits,
    () =>
      requestOf('UPDATE', podKind, pod({ containers: [withLimits('5')] }), {
        subresource: 'resize',
        old: pod(),
      }),
    [
      [31, 'admitted'],
      [32, `${tooMuch}5`],
    ],
  ],
  [
    'all of a secret that the account does not name',
    accounts,
    () => limited(ofBot(whole('other'))),
    [
      [26, 'admitted'],
      [27, `${forbidden}container c with envFrom ${otherSecret}`],
    ],
  ],
  [
    'all of a secret of the account',
    accounts,
    () => limited(ofBot(whole('own'))),
    [[27, 'admitted']],
  ],
  [
    'such a secret in an ephemeral container',
    accounts,
    () => debugged(variable('other')),
    [
      [23, 'admitted'],
      [24, `500 ephemeral container e with envVar V ${otherSecret}`],
    ],
  ],
  ['a secret of the account there', accounts, () => debugged(variable('own')), [[24, 'admitted']]],
]
for (const [what, plugin, request, answers] of refusals)
  for (const [release, expected] of answers)
    test(`${what} as 1.${release}: ${expected}`, async () =>
      assert.equal(await outcome(plugin(releaseOf(release)), request(), reader), expected))

const ingressKind = kindIn('networking.k8s.io/v1', 'ingresses')
const claimKind = kindIn('v1', 'persistentvolumeclaims')
const classKind = kindIn('storage.k8s.io/v1', 'volumeattributesclasses')
const many = (what: string) => new RegExp(`Internal error occurred: 3 default ${what} were found`)
const defaults: [
  plugin: Plugin,
  kind: typeof podKind,
  field: string,
  [number, string | RegExp][],
][] = [
  [
    defaultIngressClass,
    ingressKind,
    'ingressClassName',
    [
      [24, many('IngressClasses')],
      [25, 'b'],
    ],
  ],
  [
    defaultStorageClass,
    claimKind,
    'storageClassName',
    [
      [25, many('StorageClasses')],
      [26, 'b'],
    ],
  ],
]
for (const [plugin, kind, field, answers] of defaults)
  for (const [release, expected] of answers)
    test(`${field} of several default ones as 1.${release}: ${expected}`, async () => {
      const request = requestOf('CREATE', kind, { metadata: { name: 'o' }, spec: {} })
      const answer = await outcome(plugin(releaseOf(release)), request, reader)
      if (typeof expected === 'string') assert.equal(request.object?.spec[field], expected)
      else assert.match(answer, expected)
    })

for (const [release, gate, expected] of [
  [32, true, undefined],
  [33, false, undefined],
  [33, true, ['kubernetes.io/vac-protection']],
] as const)
  test(`the finalizers of a volume attributes class as 1.${release}: ${expected}`, async () => {
    const request = requestOf('CREATE', classKind, { metadata: { name: 'gold' } })
    await outcome(
      storageObjectInUseProtection(releaseOf(release), () => gate),
      request,
      reader,
    )
    assert.deepEqual(request.object?.metadata.finalizers, expected)
  })

const withImage = (pullPolicy: string) =>
  limited({
    containers: [{ name: 'c', imagePullPolicy: 'Always' }],
    volumes: [{ name: 'v', image: { pullPolicy } }],
  })

test('image volumes are always pulled', async () => {
  const request = withImage('Never')
  assert.equal(await outcome(alwaysPullImages, request, reader), 'admitted')
  assert.equal(request.object?.spec.volumes[0].image.pullPolicy, 'Always')
  assert.throws(
    () => void alwaysPullImages.validate?.(withImage('Never'), reader),
    /spec\.volumes\[0\]\.image\.pullPolicy: Unsupported value: "Never": supported values: "Always"/,
  )
})
