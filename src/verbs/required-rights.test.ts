/** The permissions for the allocation of a claim and for what drivers report about its devices. */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import type { Attributes } from '#access/authorize.ts'
import type { KubeObject, Loose } from '#api/object-meta.ts'
import { ApiError } from '#api/status-error.ts'
import { startVerbs } from './fixture.suite.ts'
import { patch } from './patch.ts'
import type { Server } from './server.ts'
import { update } from './update.ts'

type Verbs = Awaited<ReturnType<typeof startVerbs>>
const all = new Map<number, Verbs>()
for (const release of [35, 36, 37])
  all.set(release, await startVerbs(undefined, undefined, release))
after(() => Promise.all([...all.values()].map((verbs) => verbs.stop())))

const plural = 'resourceclaims'
const result = { request: 'r', driver: 'a.b', pool: 'p', device: 'd' }
const onNode = {
  nodeSelectorTerms: [{ matchFields: [{ key: 'metadata.name', operator: 'In', values: ['n'] }] }],
}
const allocation = { devices: { results: [result] }, nodeSelector: onNode }
const devices = [{ driver: 'a.b', pool: 'p', device: 'd', data: { x: 1 } }]
const account = {
  name: 'system:serviceaccount:ns:driver',
  uid: '',
  groups: [],
  extra: { 'authentication.kubernetes.io/node-name': ['n'] },
}
const ann = { name: 'ann', uid: '', groups: [], extra: {} }

let count = 0

/** Writes a status over another one, and returns what was authorized, and the error. */
async function writeStatus(
  release: number,
  [before, status]: [Loose, Loose],
  { user = ann, may = [] as string[], patches = false },
) {
  const { server, create, update: write, target, request } = all.get(release) as Verbs
  const asked: string[] = []
  const authorizer = {
    name: 'one',
    authorize({ verb, subresource, namespace, name }: Attributes) {
      const line = `${verb} ${subresource} ${namespace}/${name}`
      asked.push(line)
      const decision = may.includes(line) ? ('allow' as const) : ('none' as const)
      return { decision, reason: 'no role' }
    },
  }
  const guarded = { ...server, access: { authorizer } } as unknown as Server
  const yes = { name: 'yes', authorize: () => ({ decision: 'allow' as const, reason: '' }) }
  Object.assign(server, { access: { authorizer: yes } })
  const name = `c${++count}`
  const spec = { devices: { requests: [{ name: 'r', exactly: { deviceClassName: 'x' } }] } }
  const made = await create(plural, { metadata: { name }, spec } as never)
  const old = await write(plural, { ...made, status: before } as KubeObject, 'status')
  const at = target(plural, name, 'status')
  try {
    if (patches) {
      const patchBytes = Buffer.from(JSON.stringify({ status }))
      await patch(guarded, { ...request(at), user, patchType: 'merge', patchBytes } as never)
    } else await update(guarded, { ...request(at, { ...old, status } as never), user })
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    return [...asked, error.message.slice(error.message.indexOf('status.'))]
  }
  return asked
}

const bind = 'update binding /'
const anywhere = 'update driver default/a.b'.replace('update', 'arbitrary-node:update')
const here = anywhere.replace('arbitrary', 'associated')
const noBinding =
  'status.allocation: Forbidden: changing status.allocation or status.reservedFor requires resource="resourceclaims/binding", verb="update" permission: resourceclaims.resource.k8s.io is forbidden: User "ann" cannot update resource "resourceclaims/binding" in API group "resource.k8s.io" at the cluster scope: no role'
const noDriver =
  'status.devices: Forbidden: changing status.devices requires resource="resourceclaims/driver", verb="[arbitrary-node:update]" permission: resourceclaims.resource.k8s.io "a.b" is forbidden: User "ann" cannot arbitrary-node:update resource "resourceclaims/driver" in API group "resource.k8s.io" in the namespace "default": no role'

type Row = [
  what: string,
  release: number,
  states: [Loose, Loose],
  by: Parameters<typeof writeStatus>[2],
  expected: string[],
]
const rows: Row[] = [
  ['before 1.36', 35, [{}, { allocation }], {}, []],
  ['an allocation', 36, [{}, { allocation }], {}, [bind, noBinding]],
  ['an allocation with the permission', 37, [{}, { allocation }], { may: [bind] }, [bind]],
  ['nothing new', 37, [{ allocation }, { allocation }], {}, []],
  ['a device', 37, [{ allocation }, { allocation, devices }], {}, [anywhere, noDriver]],
  [
    'a device with the permission',
    37,
    [{ allocation }, { allocation, devices }],
    { may: [anywhere] },
    [anywhere],
  ],
  [
    'a device, by a driver on its node',
    37,
    [{ allocation }, { allocation, devices }],
    { user: account, may: [here] },
    [here],
  ],
  [
    'a device, by a driver that may write everywhere',
    37,
    [{ allocation }, { allocation, devices }],
    { user: account, may: [anywhere] },
    [here, anywhere],
  ],
  [
    'a device that is removed',
    37,
    [{ allocation, devices }, { allocation }],
    { may: [anywhere] },
    [anywhere],
  ],
  ['no allocation any more', 37, [{ allocation, devices }, {}], { may: [bind] }, [bind]],
  [
    'a patch',
    37,
    [{}, { allocation }],
    { patches: true, may: ['patch binding /'] },
    ['patch binding /'],
  ],
]
for (const [what, release, states, by, expected] of rows)
  test(`the permissions for the status of a claim as 1.${release}: ${what}`, async () => {
    assert.deepEqual(await writeStatus(release, states, by), expected)
  })
