import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { KubeObject, Loose } from '#api/object-meta.ts'
import { rememberEmpty } from '#api/written-empty.ts'
import { conversionsOf } from '#kinds/all-kinds/rules.fixture.ts'

type Way = 'toHub' | 'fromHub'
const apiVersions = ['resource.k8s.io/v1beta1', 'resource.k8s.io/v1alpha3']

/** The requests of a claim, and of the claim in a template, converted one way. */
function converted(way: Way, apiVersion: string, requests: Loose[]): Loose[][] {
  const convert = (resource: string, spec: Loose) => {
    const conversion = conversionsOf(`resource.k8s.io/${resource}`)?.[apiVersion]
    return conversion?.[way]({ metadata: {}, spec } as KubeObject, 33).spec
  }
  const copy = () => ({ devices: { requests: [...requests] } })
  return [
    convert('resourceclaims', copy()).devices.requests,
    convert('resourceclaimtemplates', { spec: copy() }).spec.devices.requests,
  ]
}

function check(way: Way, title: string, from: Loose, to: Loose): void {
  for (const apiVersion of apiVersions)
    test(`${title}, ${way} of ${apiVersion}`, () => {
      for (const requests of converted(way, apiVersion, [from])) assert.deepEqual(requests, [to])
    })
}

const cel = { cel: { expression: 'true' } }
const alternatives = [{ name: 's', deviceClassName: 'small', allocationMode: 'All' }]
/** A request of v1beta1, and the same in v1. */
const rows: [title: string, flat: Loose, nested: Loose][] = [
  [
    'all fields of a request',
    {
      name: 'a',
      deviceClassName: 'large',
      selectors: [cel],
      allocationMode: 'ExactCount',
      count: 2,
      adminAccess: false,
      tolerations: [{ key: 'k', operator: 'Exists' }],
      capacity: { requests: { memory: '1Gi' } },
      derivedAttributes: [{ name: 'a.b/c', expression: '1' }],
    },
    {
      name: 'a',
      exactly: {
        deviceClassName: 'large',
        selectors: [cel],
        allocationMode: 'ExactCount',
        count: 2,
        adminAccess: false,
        tolerations: [{ key: 'k', operator: 'Exists' }],
        capacity: { requests: { memory: '1Gi' } },
        derivedAttributes: [{ name: 'a.b/c', expression: '1' }],
      },
    },
  ],
  [
    'alternatives',
    { name: 'a', deviceClassName: '', firstAvailable: alternatives },
    { name: 'a', firstAvailable: alternatives },
  ],
  [
    'a class and alternatives, which validation rejects',
    { name: 'a', deviceClassName: 'large', firstAvailable: alternatives },
    { name: 'a', exactly: { deviceClassName: 'large' }, firstAvailable: alternatives },
  ],
  ['nothing but a name', { name: 'a', deviceClassName: '' }, { name: 'a' }],
  [
    'access of an administrator without a class',
    { name: 'a', deviceClassName: '', adminAccess: false },
    { name: 'a', exactly: { deviceClassName: '', adminAccess: false } },
  ],
]
for (const [title, flat, nested] of rows) {
  check('toHub', title, flat, nested)
  check('fromHub', title, nested, flat)
}

for (const field of ['selectors', 'tolerations', 'derivedAttributes']) {
  const request = { name: 'a', deviceClassName: '' }
  rememberEmpty(request, field)
  const exactly = { deviceClassName: '' }
  check('toHub', `an empty list of ${field}`, request, { name: 'a', exactly })
}
