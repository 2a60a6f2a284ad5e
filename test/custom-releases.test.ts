/** What servers of several releases answer about custom kinds, before and since a change. */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { ReleaseServers } from './release-servers.fixture.ts'
import type { Answer, RunningServer } from './running-server.ts'

const servers = new ReleaseServers()
after(() => servers.stop())

const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
const group = 'gears.example.com'
const gears = `/apis/${group}/v1/gears`
interface Definition {
  readonly metadata: { readonly name: string }
  readonly spec: { readonly group: string; readonly names: { readonly plural: string } }
}

const definition = {
  metadata: { name: `gears.${group}` },
  spec: {
    group,
    scope: 'Cluster',
    names: {
      plural: 'gears',
      singular: 'gear',
      kind: 'Gear',
      listKind: 'GearList',
      shortNames: ['gr'],
    },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        subresources: {
          scale: { specReplicasPath: '.spec.size', statusReplicasPath: '.status.size' },
        },
        schema: {
          openAPIV3Schema: {
            type: 'object',
            properties: { spec: { type: 'object', properties: { size: { type: 'integer' } } } },
          },
        },
      },
    ],
  },
}
const gear = (name: string, apiVersion = `${group}/v1`) => ({
  apiVersion,
  kind: 'Gear',
  metadata: { name },
  spec: { size: 1 },
})

async function defined(release: number, what: Definition = definition): Promise<RunningServer> {
  const { metadata, spec } = what
  const server = await servers.of(release)
  if ((await server.ask('GET', `${definitions}/${metadata.name}`)).status === 200) return server
  assert.equal((await server.ask('POST', definitions, what)).status, 201)
  const objects = `/apis/${spec.group}/v1/${spec.names.plural}`
  for (let i = 0; (await server.ask('GET', objects)).status !== 200; i++) {
    assert.ok(i < 500)
    await new Promise((done) => setTimeout(done, 20))
  }
  return server
}

const table = { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' }

async function columns(release: number): Promise<unknown> {
  const server = await defined(release)
  const { body } = await server.ask('GET', `${definitions}/gears.${group}`, undefined, table)
  return [
    body.columnDefinitions.map(({ name }: { name: string }) => name).join(' '),
    body.rows[0].cells.filter(
      (_: unknown, i: number) => i !== 3 && body.columnDefinitions.length > 2,
    ),
  ]
}

test('tables of definitions, before and since 1.37', async () => {
  assert.deepEqual(await columns(36), ['Name Created At', []])
  assert.deepEqual(await columns(37), [
    'Name Scope Versions Created At Group Kind ShortNames Established',
    [`gears.${group}`, 'Cluster', 'v1(storage)', group, 'Gear', 'gr', true],
  ])
})

async function ownersOfScale(release: number): Promise<unknown> {
  const server = await defined(release)
  await server.ask('POST', gears, gear('scaled'))
  const type = { 'content-type': 'application/merge-patch+json' }
  const change = { spec: { replicas: 5 } }
  const { status } = await server.ask('PATCH', `${gears}/scaled/scale`, change, type)
  assert.equal(status, 200)
  const { body } = await server.ask('GET', `${gears}/scaled`)
  return body.metadata.managedFields
    .filter(({ subresource }: { subresource?: string }) => subresource === 'scale')
    .map(({ fieldsV1 }: { fieldsV1: unknown }) => fieldsV1)
}

test('owners of replicas that a scale set, before and since 1.27', async () => {
  assert.deepEqual(await ownersOfScale(26), [])
  assert.deepEqual(await ownersOfScale(27), [{ 'f:spec': { 'f:size': {} } }])
})

test('all fields of an object in a version that the kind does not have are unknown', async () => {
  const server = await defined(37)
  const post = (query: string): Promise<Answer> =>
    server.ask('POST', `${gears}?${query}`, gear('other', `${group}/v2`))
  const warned = await post('fieldValidation=Warn')
  assert.equal(warned.status, 400)
  assert.equal(warned.headers?.warning, '299 - "unknown field \\"spec\\""')
  assert.match(warned.body.message, /does not match the expected API version/)
  const strict = await post('fieldValidation=Strict')
  assert.match(strict.body.message, /strict decoding error: unknown field "spec"$/)
  assert.equal((await post('fieldValidation=Ignore')).headers?.warning, undefined)
})

const version = (name: string, storage: boolean) => ({
  ...definition.spec.versions[0],
  name,
  storage,
  subresources: { status: {} },
})
const inTwoVersions: Definition = {
  metadata: { name: `cogs.${group}` },
  spec: {
    ...definition.spec,
    names: { plural: 'cogs', singular: 'cog', kind: 'Cog', listKind: 'CogList' },
    versions: [version('v1', true), version('v2', false)],
  } as Definition['spec'],
}

/** The owners after a write to the status in v1 of an object whose spec was applied in v2. */
async function ownersOfSpec(release: number): Promise<unknown> {
  const server = await defined(release, inTwoVersions)
  const spec = { size: 1 }
  const applied = { apiVersion: `${group}/v2`, kind: 'Cog', metadata: { name: 'c' }, spec }
  const type = { 'content-type': 'application/apply-patch+yaml' }
  const path = `/apis/${group}/v2/cogs/c?fieldManager=two`
  const made = (await server.ask('PATCH', path, applied, type)).body
  const { resourceVersion } = made.metadata
  const change = {
    apiVersion: `${group}/v1`,
    kind: 'Cog',
    metadata: { name: 'c', resourceVersion },
  }
  const { body } = await server.ask('PUT', `/apis/${group}/v1/cogs/c/status`, change)
  return body.metadata.managedFields?.map(({ fieldsV1 }: { fieldsV1: unknown }) => fieldsV1)
}

test('owners in another version of the spec when the status is written, before and since 1.35', async () => {
  assert.deepEqual(await ownersOfSpec(34), undefined)
  assert.deepEqual(await ownersOfSpec(35), [{ 'f:spec': { 'f:size': {} } }])
})
