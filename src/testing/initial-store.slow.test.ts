/** A cluster that starts with prepared objects has the same state as one that writes them. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ClusterHost, seededTime } from './cluster-host.ts'
import { type InitialStore, initialStoreOf } from './initial-store.ts'

const release = '1.37'

interface Started {
  readonly revision: number
  /** The text of each object, without what differs between any two servers. */
  readonly objects: ReadonlyMap<string, string>
  readonly uids: ReadonlySet<string>
  readonly initial: InitialStore
}

const own = /"(uid|resourceVersion|creationTimestamp|time|lastTransitionTime)":"[^"]*"/g

async function started(seed: number | undefined, initial?: InitialStore): Promise<Started> {
  const options = { controllers: ['-*'], ...(seed !== undefined && { seed }) }
  const host = new ClusterHost(options, undefined, initial)
  await host.start()
  await using first = host.first()
  const saved = first.snapshot().storage.save()
  const objects = new Map<string, string>()
  const uids = new Set<string>()
  for (const [key, , bytes] of saved.items) {
    const text = `${Buffer.from(bytes)}`
    for (const [, uid = ''] of text.matchAll(/"uid":"([^"]*)"/g)) uids.add(uid)
    if (text.startsWith('{') && !/\/(leases|configmaps)\//.test(key))
      objects.set(key.replace(/apiserver-\w+$/, ''), text.replaceAll(own, ''))
    else objects.set(key.replace(/apiserver-\w+$/, ''), '')
  }
  const revision = first.revision
  return { revision, objects, uids, initial: initialStoreOf(saved, release, seededTime) }
}

test('the state is the same, with uids and times of its own', async () => {
  const written = await started(1)
  const { initial } = written
  assert.ok(initial.items.length > 150, `${initial.items.length}`)
  const prepared = await started(undefined, initial)
  assert.deepEqual([...prepared.objects.keys()].sort(), [...written.objects.keys()].sort())
  for (const [key, text] of written.objects) assert.equal(prepared.objects.get(key), text, key)
  assert.deepEqual(
    [...prepared.uids].filter((uid) => written.uids.has(uid)),
    [],
  )
  const times = JSON.stringify(prepared.initial.items).split(seededTime).length - 1
  assert.equal(times, 0)
})

test('a seed gives the same uids again', async () => {
  const { initial } = await started(1)
  const [one, two] = [await started(7, initial), await started(7, initial)]
  assert.deepEqual(one.uids, two.uids)
  assert.equal(one.revision, two.revision)
})

test('options that change the initial objects are obeyed', async () => {
  const { initial } = await started(1)
  const rows: [options: object, key: RegExp, isThere: boolean][] = [
    [{ emulatedVersion: '1.22' }, /servicecidrs/, false],
    [{}, /servicecidrs/, true],
    [{ serviceClusterIpRange: ['10.9.0.0/16'] }, /ipaddresses\/10\.9\.0\.1$/, true],
  ]
  for (const [options, key, isThere] of rows) {
    const host = new ClusterHost({ controllers: ['-*'], ...options }, undefined, initial)
    await host.start()
    await using first = host.first()
    const { items } = first.snapshot().storage.save()
    assert.equal(
      items.some(([one]) => key.test(one)),
      isThere,
      JSON.stringify(options),
    )
  }
})
