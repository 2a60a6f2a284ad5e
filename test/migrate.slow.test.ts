/**
 * The state on its way from SQLite to etcd and back, and a backup of etcd: what clients read stays
 * the same.
 */
import assert from 'node:assert/strict'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { EtcdServer, etcdVersion } from '../src/storage/etcd/etcd-server.fixture.ts'
import { run, startServer } from './running-server.ts'

const skip = etcdVersion() === undefined ? 'there is no etcd on PATH' : false
const place = mkdtempSync(join(tmpdir(), 'binnacle-migrate-'))
const maps = '/api/v1/namespaces/default/configmaps'
let etcd: EtcdServer
before(async () => {
  if (!skip) etcd = await EtcdServer.start()
})
after(async () => {
  await etcd?.dispose()
  rmSync(place, { recursive: true, force: true })
})

async function binnacle(args: string[], code = 0): Promise<string> {
  const { code: ended, said } = await run(args).ended()
  assert.equal(ended, code, said)
  return said
}

/** Objects without their revision, which etcd counts anew. */
async function objectsOf(flags: string[], dataDir: string): Promise<string[]> {
  const server = await startServer(['--controllers=-*', ...flags], dataDir)
  try {
    const lists = [maps, '/api/v1/namespaces', '/apis/example.com/v1/widgets']
    const answers = await Promise.all(lists.map((path) => server.ask('GET', path)))
    return answers.flatMap(({ body, text }) => {
      assert.ok(body.items, text)
      return body.items.map((item: { metadata: { resourceVersion?: string } }) => {
        delete item.metadata.resourceVersion
        return JSON.stringify(item)
      })
    })
  } finally {
    await server.stop()
  }
}

const definition = {
  metadata: { name: 'widgets.example.com' },
  spec: {
    group: 'example.com',
    names: { plural: 'widgets', kind: 'Widget' },
    scope: 'Namespaced',
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: {
          openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
        },
      },
    ],
  },
}

test('SQLite → etcd → archive → etcd, and → SQLite', { skip }, async () => {
  const dataDir = join(place, 'data')
  const here = `--data-dir=${dataDir}`
  const server = await startServer(['--storage-backend=sqlite', '--controllers=-*'], dataDir)
  for (let i = 0; i < 700; i++)
    await server.ask('POST', maps, { metadata: { name: `map-${i}` }, data: { i: `${i}` } })
  await server.ask('POST', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', definition)
  const widget = { apiVersion: 'example.com/v1', kind: 'Widget', metadata: { name: 'a' } }
  for (let answer = 0; answer !== 201; ) {
    const path = '/apis/example.com/v1/namespaces/default/widgets'
    answer = (await server.ask('POST', path, widget)).status
  }
  const both = [`--etcd-servers=${etcd.endpoint}`, here]
  const way = (from: string, to: string) => ['migrate', '--from', from, '--to', to]
  assert.match(await binnacle([...way('sqlite', 'etcd3'), ...both], 1), /in use by another server/)
  await server.stop()
  const before = await objectsOf(['--storage-backend=sqlite'], dataDir)

  assert.match(await binnacle([...way('sqlite', 'etcd3'), ...both]), /^migrated \d+ objects /m)
  assert.deepEqual(await objectsOf(both, dataDir), before)
  assert.match(await binnacle([...way('sqlite', 'etcd3'), ...both], 1), /has \d+ keys under/)
  assert.match(await binnacle(['verify', ...both]), /: no problem\n$/)

  const archive = join(place, 'etcd.tar')
  await binnacle(['backup', archive, ...both])
  const elsewhere = join(place, 'elsewhere')
  const prefix = '--etcd-prefix=/elsewhere'
  const other = [`--etcd-servers=${etcd.endpoint}`, `--data-dir=${elsewhere}`]
  const said = await binnacle(['restore', archive, ...other, prefix], 1)
  assert.match(said, /the source has no keys under \/elsewhere\//)
  await binnacle(['restore', archive, `--data-dir=${elsewhere}`])
  assert.deepEqual(await objectsOf(['--storage-backend=sqlite'], elsewhere), before)

  const back = join(place, 'back')
  await binnacle([
    ...way('etcd3', 'sqlite'),
    `--etcd-servers=${etcd.endpoint}`,
    `--data-dir=${back}`,
  ])
  assert.match(await binnacle(['verify', `--data-dir=${back}`]), /: no problem\n$/)
  assert.deepEqual(await objectsOf(['--storage-backend=sqlite'], back), before)
})

test('etcd → SQLite is refused while a server runs, also on loopback', { skip }, async () => {
  const prefix = '--etcd-prefix=/running'
  const flags = [`--etcd-servers=${etcd.endpoint}`, prefix]
  const one = await startServer(['--controllers=-*', ...flags], join(place, 'one'))
  const two = await startServer(['--controllers=-*', ...flags], join(place, 'two'))
  const target = join(place, 'target')
  const way = ['migrate', '--from', 'etcd3', '--to', 'sqlite', ...flags, `--data-dir=${target}`]
  const refused = await binnacle(way, 1)
  for (const { url } of [one, two])
    assert.match(refused, new RegExp(`servers run on this etcd \\(.*${url} on `))
  assert.ok(!existsSync(target), refused)
  await one.stop()
  const half = await binnacle(way, 1)
  assert.ok(half.includes(two.url) && !half.includes(one.url), half)
  await two.stop()
  assert.match(await binnacle(way), /^migrated etcd at revision /m)
})
