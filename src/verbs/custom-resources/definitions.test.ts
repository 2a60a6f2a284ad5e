/**
 * The cost of one more definition, counted in reads of other definitions, must not grow with their
 * number.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { KubeObject } from '#api/object-meta.ts'
import type { ApiClient } from '#client/client.ts'
import { Catalog } from '#kinds/catalog.ts'
import type { Resource } from '#kinds/kind.ts'
import type { Follower } from '#kinds/reader.ts'
import type { Server } from '#verbs/server.ts'
import { Definitions } from './definitions.ts'

/** Definitions that count how often they are read. */
function fixture() {
  const catalog = new Catalog([])
  let follower: Follower | undefined
  let written = 0
  const looks = new Map<string, number>()
  const published: string[] = []
  const resource = { convert: (objects: KubeObject[]) => objects } as unknown as Resource
  const kind = { group: 'apiextensions.k8s.io', version: 'v1', plural: 'x', resource }
  const server = {
    catalog: Object.assign(catalog, { find: () => kind }),
    cache: { drop: () => {} },
    clock: { now: () => 0 },
    release: 22,
    reader: {
      follow: async (_group: string, _plural: string, follow: Follower) => {
        follower = follow
        return () => {}
      },
    },
  } as unknown as Server
  const client = {
    async update(_ref: unknown, object: KubeObject) {
      written++
      return object
    },
  } as unknown as ApiClient
  const definitions = new Definitions({
    server,
    client,
    remover: () => client,
    resourceOf: ({ spec }) => ({ group: spec.group, plural: 'x', kinds: [] }) as never,
    report: (message, error) => assert.fail(`${message}: ${error}`),
    published: (name, reason) => published.push(`${reason} ${name}`),
  })
  const define = (group: string, plural: string) => {
    const name = `${plural}.${group}`
    const spec = { group, names: { plural, kind: plural, listKind: `${plural}List` }, versions: [] }
    const definition = {
      metadata: { name, uid: name },
      status: undefined,
      get spec() {
        looks.set(group, (looks.get(group) ?? 0) + 1)
        return spec
      },
    }
    follower?.changed(definition as unknown as KubeObject)
  }
  const settled = async () => {
    for (let last = -1; last !== written; ) {
      last = written
      for (let i = 0; i < 5; i++) await new Promise(setImmediate)
    }
    return written
  }
  const reported = (change: 'changed' | 'deleted', definition: object) =>
    follower?.[change](definition as KubeObject)
  return { definitions, define, settled, looks, published, reported }
}

test('a new definition causes reads only in its own group', async () => {
  const { definitions, define, settled, looks } = fixture()
  await definitions.start()
  for (let i = 0; i < 40; i++) define(`g${i % 4}.example.com`, `gears${i}`)
  assert.equal(await settled(), 40)
  looks.clear()
  define('g1.example.com', 'gears40')
  assert.equal(await settled(), 41)
  assert.deepEqual([...looks.keys()], ['g1.example.com'])
  looks.clear()
  define('h.example.com', 'gears41')
  await settled()
  assert.deepEqual([...looks.keys()], ['h.example.com'])
  definitions.stop()
})

test('changes to what a definition publishes are reported once each', async () => {
  const { definitions, published, reported } = fixture()
  await definitions.start()
  const condition = (type: string, status = 'True') => ({ type, status })
  const gears = (generation: number, ...conditions: object[]) => ({
    metadata: { name: 'gears.g', uid: 'u', generation },
    spec: { group: 'g', names: { plural: 'gears', kind: 'Gear' }, versions: [] },
    status: { conditions, acceptedNames: { plural: 'gears', kind: 'Gear' } },
  })
  const established = [condition('NamesAccepted'), condition('Established')]
  const rows: [change: 'changed' | 'deleted', definition: object, reasons: string[]][] = [
    ['changed', gears(1), []],
    ['changed', gears(1, ...established), ['add gears.g']],
    ['changed', gears(1, ...established), []],
    ['changed', gears(2, ...established), ['update gears.g']],
    ['changed', gears(2, ...established, condition('Terminating')), []],
    ['deleted', gears(2), ['remove gears.g']],
    ['deleted', gears(2), []],
  ]
  for (const [change, definition, reasons] of rows) {
    published.length = 0
    reported(change, definition)
    assert.deepEqual(published, reasons, JSON.stringify([change, definition]))
  }
  definitions.stop()
})
