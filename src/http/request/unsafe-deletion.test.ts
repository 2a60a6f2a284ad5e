/** Deletion of unreadable objects: the permission, the failures, and that readable objects stay. */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import type { Attributes, Decision } from '#access/authorize.ts'
import type { HttpParts } from '#http/parts.ts'
import { type Served, startServed } from '#http/served.fixture.ts'

const option = 'ignoreStoreReadErrorWithClusterBreakingPotential'
const unsafe = `${option}=true`
const maps = '/api/v1/namespaces/default/configmaps'
const keyOf = (name: string) => `/registry/configmaps/default/${name}`

const servers = new Map<number, Served>()
async function at(release: number): Promise<Served> {
  const made = servers.get(release) ?? (await startServed({ release }))
  servers.set(release, made)
  return made
}
after(async () => {
  for (const served of servers.values()) await served.stop()
})

async function breakObject({ verbs }: Served, name: string): Promise<void> {
  const { storage } = verbs.server
  await verbs.create('configmaps', { metadata: { name } })
  const ifRevision = (await storage.get(keyOf(name))).value?.revision ?? 0
  assert.ok((await storage.put(keyOf(name), Buffer.from('{"broken'), { ifRevision })).ok)
  await verbs.settled()
}

interface Row {
  readonly name: string
  readonly broken?: boolean
  readonly query?: string
  readonly body?: object
  readonly release?: number
  readonly mayNot?: boolean
  readonly status: number
  readonly message?: string
  /** Whether the object is in the store afterwards. */
  readonly stays: boolean
}

const setTogether = (field: string) =>
  `DeleteOptions.meta.k8s.io "" is invalid: ${option}: Invalid value: true: cannot be set together with .${field}`
const rows: Row[] = [
  { name: 'a', broken: true, status: 200, stays: false },
  { name: 'b', broken: true, query: '', body: { [option]: true }, status: 200, stays: false },
  { name: 'c', broken: true, query: `${unsafe}&dryRun=All`, status: 200, stays: true },
  { name: 'd', broken: true, query: '', status: 500, stays: true },
  { name: 'e', broken: true, release: 36, status: 500, stays: true },
  {
    name: 'f',
    status: 409,
    message: `Operation cannot be fulfilled on configmaps "f": StorageError: invalid object, Code: 4, Key: ${keyOf('f')}, ResourceVersion: 0, AdditionalErrorMsg: unsafe deletion is not allowed because the object is decodable from storage`,
    stays: true,
  },
  {
    name: 'g',
    broken: true,
    query: `${unsafe}&gracePeriodSeconds=0`,
    status: 422,
    message: setTogether('gracePeriodSeconds'),
    stays: true,
  },
  {
    name: 'h',
    broken: true,
    query: `${unsafe}&propagationPolicy=Orphan`,
    status: 422,
    message: setTogether('propagationPolicy'),
    stays: true,
  },
  {
    name: 'i',
    broken: true,
    mayNot: true,
    status: 403,
    message:
      'configmaps "i" is forbidden: not permitted to do "unsafe-delete-ignore-read-errors", reason: why',
    stays: true,
  },
]
for (const row of rows) {
  const { name, broken, query = unsafe, body, release = 37, mayNot, status, message, stays } = row
  test(`1.${release}: deletion of ${name} with ${query || JSON.stringify(body)}`, async () => {
    const served = await at(release)
    if (broken) await breakObject(served, name)
    else await served.verbs.create('configmaps', { metadata: { name } })
    const authorize = ({ verb }: Attributes): Decision =>
      mayNot && verb.startsWith('unsafe')
        ? { decision: 'deny', reason: 'why' }
        : { decision: 'allow', reason: '' }
    const authorizer = { ...served.parts.authorizer, authorize } as HttpParts['authorizer']
    const requested = body === undefined ? {} : { body: JSON.stringify(body) }
    const parts = { ...served.parts, authorizer }
    const answer = await served.ask('DELETE', `${maps}/${name}?${query}`, requested, parts)
    assert.equal(answer.status, status, answer.text)
    if (message !== undefined) assert.equal(answer.json.message, message)
    const { value } = await served.verbs.server.storage.get(keyOf(name))
    assert.equal(value !== undefined, stays)
  })
}

test('deletecollection cannot ignore read errors', async () => {
  const { json } = await (await at(37)).ask('DELETE', `${maps}?${unsafe}`)
  assert.match(json.message, /: is not allowed with DELETECOLLECTION, try again after removing/)
})

test('the deletion of a missing object returns 404', async () => {
  const answer = await (await at(37)).ask('DELETE', `${maps}/missing?${unsafe}`)
  assert.deepEqual([answer.status, answer.json.message], [404, 'configmaps "missing" not found'])
})
