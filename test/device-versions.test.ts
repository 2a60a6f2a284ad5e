/**
 * Claims, templates and slices of resource.k8s.io in three versions of one server. Each version
 * shows what a client wrote in another. Applies in several versions own the same fields.
 */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { type RunningServer, startServer } from './running-server.ts'

const versions = ['v1beta1', 'v1beta2', 'v1']
const isFlat = (version: string) => version === 'v1beta1'
const group = '/apis/resource.k8s.io'

let server: RunningServer
before(async () => {
  const betas = 'resource.k8s.io/v1beta1=true,resource.k8s.io/v1beta2=true'
  const flags = ['--emulated-version=1.37', '--controllers=-*', `--runtime-config=${betas}`]
  server = await startServer(flags)
})
after(() => server.stop())

const alternatives = [{ name: 's', deviceClassName: 'c', allocationMode: 'All' }]
const exactly = { deviceClassName: 'c', allocationMode: 'ExactCount', count: 2 }
const claimOf = (version: string) => ({
  devices: {
    requests: isFlat(version)
      ? [
          { name: 'r', ...exactly },
          { name: 'o', deviceClassName: '', firstAvailable: alternatives },
        ]
      : [
          { name: 'r', exactly },
          { name: 'o', firstAvailable: alternatives },
        ],
  },
})
const sliceOf = (version: string) => {
  const fields = { attributes: { model: { string: 'm' } }, capacity: { memory: { value: '1Gi' } } }
  const pool = { name: 'p', generation: 1, resourceSliceCount: 1 }
  const device = isFlat(version) ? { name: 'a', basic: fields } : { name: 'a', ...fields }
  return { driver: 'd.example.com', pool, allNodes: true, devices: [device] }
}

interface Row {
  readonly plural: string
  readonly kind: string
  readonly place: string
  readonly specOf: (version: string) => object
  /** The fields whose owners an apply records. */
  readonly owned: object
}
const place = '/namespaces/default'
const rows: readonly Row[] = [
  {
    plural: 'resourceclaims',
    kind: 'ResourceClaim',
    place,
    specOf: claimOf,
    owned: { 'f:spec': { 'f:devices': { 'f:requests': {} } } },
  },
  {
    plural: 'resourceclaimtemplates',
    kind: 'ResourceClaimTemplate',
    place,
    specOf: (version) => ({ metadata: { labels: { a: 'b' } }, spec: claimOf(version) }),
    owned: {
      'f:spec': {
        'f:metadata': { 'f:labels': { 'f:a': {} } },
        'f:spec': { 'f:devices': { 'f:requests': {} } },
      },
    },
  },
  {
    plural: 'resourceslices',
    kind: 'ResourceSlice',
    place: '',
    specOf: sliceOf,
    owned: {
      'f:spec': {
        'f:allNodes': {},
        'f:devices': {},
        'f:driver': {},
        'f:pool': { 'f:generation': {}, 'f:name': {}, 'f:resourceSliceCount': {} },
      },
    },
  },
]
const applied = { 'content-type': 'application/apply-patch+yaml' }

for (const { plural, kind, place: at, specOf, owned } of rows) {
  const path = (version: string, name = '') => `${group}/${version}${at}/${plural}${name}`
  const apply = (version: string, spec: object, manager: string) =>
    server.ask(
      'PATCH',
      `${path(version, '/applied')}?fieldManager=${manager}`,
      { apiVersion: `resource.k8s.io/${version}`, kind, metadata: { name: 'applied' }, spec },
      applied,
    )

  for (const written of versions)
    test(`${plural} written in ${written} are read in every version`, async () => {
      const metadata = { name: `w-${written}` }
      const made = await server.ask('POST', path(written), { metadata, spec: specOf(written) })
      assert.equal(made.status, 201, made.text)
      for (const version of versions) {
        const read = await server.ask('GET', path(version, `/w-${written}`))
        assert.deepEqual(read.body.spec, specOf(version), version)
        const list = await server.ask('GET', path(version))
        const [item] = list.body.items.filter(
          (one: typeof read.body) => one.metadata.name === metadata.name,
        )
        assert.deepEqual(item.spec, specOf(version), version)
      }
    })

  test(`${plural} applied in v1beta1, then in v1`, async () => {
    const first = await apply('v1beta1', specOf('v1beta1'), 'm')
    assert.equal(first.status, 201, first.text)
    const second = await apply('v1', specOf('v1'), 'm')
    assert.equal(second.status, 200, second.text)
    assert.deepEqual(second.body.spec, specOf('v1'))
    // The same values are no conflict, in whatever version another manager applies them.
    const other = await apply('v1beta2', specOf('v1beta2'), 'other')
    assert.equal(other.status, 200, other.text)
    const owners = other.body.metadata.managedFields.map(
      ({ manager, apiVersion, fieldsV1 }: Record<string, unknown>) => [
        manager,
        apiVersion,
        fieldsV1,
      ],
    )
    assert.deepEqual(owners.sort(), [
      ['m', 'resource.k8s.io/v1', owned],
      ['other', 'resource.k8s.io/v1beta2', owned],
    ])
  })
}

test('another value of a device is a conflict in every version', async () => {
  const spec = { ...sliceOf('v1'), devices: [{ name: 'b' }] }
  const body = { apiVersion: 'resource.k8s.io/v1', kind: 'ResourceSlice', spec }
  const path = `${group}/v1/resourceslices/applied?fieldManager=third`
  const answer = await server.ask('PATCH', path, { ...body, metadata: {} }, applied)
  assert.equal(answer.status, 409, answer.text)
  assert.match(answer.body.message, /conflicts? with/)
})

/** The causes of the errors for one request of a claim in v1beta1. */
const refused: [title: string, request: object, causes: string[]][] = [
  ['nothing but a name', {}, ['spec.devices.requests[0]']],
  [
    'an empty list',
    { selectors: [] },
    [
      'spec.devices.requests[0].exactly.deviceClassName',
      'spec.devices.requests[0].exactly.allocationMode',
    ],
  ],
  [
    'a mode that does not exist',
    { deviceClassName: 'c', allocationMode: 'Some' },
    ['spec.devices.requests[0].allocationMode'],
  ],
]
for (const [title, request, causes] of refused)
  test(`a request of v1beta1 with ${title} is invalid`, async () => {
    const requests = [{ name: 'r', ...request }]
    const body = { metadata: { name: 'refused' }, spec: { devices: { requests } } }
    const answer = await server.ask('POST', `${group}/v1beta1${place}/resourceclaims`, body)
    assert.equal(answer.status, 422, answer.text)
    const found = answer.body.details.causes.map(({ field }: { field: string }) => field)
    assert.deepEqual(found, causes)
  })

test('a changed template is shown with the Go names of its fields', async () => {
  const requests = [{ name: 'r', deviceClassName: 'c', selectors: [{ cel: { expression: '1' } }] }]
  const body = { spec: { spec: { devices: { requests } } } }
  const type = { 'content-type': 'application/merge-patch+json' }
  const path = `${group}/v1beta1${place}/resourceclaimtemplates/w-v1`
  const { message } = (await server.ask('PATCH', path, body, type)).body
  assert.ok(message.includes('"Exactly":{"DeviceClassName":"c","Selectors":[{"CEL":'), message)
})
