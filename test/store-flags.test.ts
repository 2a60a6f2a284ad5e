/**
 * That flags about queries, caching and metrics of the store have the effect they promise. A row is
 * a flag.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { EtcdServer, etcdVersion } from '../src/storage/etcd/etcd-server.fixture.ts'
import { startServer } from './running-server.ts'
import { core, maps, specify, Wire } from './specification.fixture.ts'

const metrics = async (on: Wire) => (await on.expect(200, 'GET', '/metrics')).text

/** How often the store was queried for one object of a type. */
const gets = async (on: Wire, type: string) => {
  const name = `etcd_request_duration_seconds_count{operation="get",type="*core.${type}"} `
  const line = (await metrics(on)).split('\n').find((one) => one.startsWith(name))
  return Number(line?.slice(name.length) ?? 0)
}

specify(
  'the store',
  [
    '--controllers=-*',
    '--watch-cache-sizes=configmaps#0,secrets#30000',
    '--watch-cache-sizes=widgets.example.com#0',
    '--etcd-count-metric-poll-period=0',
  ],
  [
    [
      '--watch-cache-sizes',
      'what has none is read from the store, also in lists',
      async (on) => {
        await on.map('read')
        const before = await gets(on, 'ConfigMap')
        for (let i = 0; i < 5; i++) await on.expect(200, 'GET', `${maps}/read`)
        assert.equal((await gets(on, 'ConfigMap')) - before, 5)
        const { body } = await on.expect(200, 'GET', maps)
        assert.ok(body.items.some((one: Named) => one.metadata.name === 'read'))
      },
    ],
    [
      '--watch-cache-sizes',
      'of others so many changes are remembered, and they are read from memory',
      async (on) => {
        const secrets = `${core}/namespaces/default/secrets`
        await on.expect(201, 'POST', secrets, { metadata: { name: 'read' } })
        await on.expect(200, 'GET', `${secrets}/read`)
        const before = await gets(on, 'Secret')
        for (let i = 0; i < 5; i++) await on.expect(200, 'GET', `${secrets}/read`)
        assert.equal(await gets(on, 'Secret'), before)
        const capacity = /^(apiserver_)?watch_cache_capacity\{.*"secrets".*\} 30000$/m
        assert.match(await metrics(on), capacity)
      },
    ],
    [
      '--etcd-count-metric-poll-period',
      'nothing is counted',
      async (on) =>
        assert.doesNotMatch(await metrics(on), /^(apiserver_storage_objects|etcd_obj)/m),
    ],
  ],
)

interface Named {
  readonly metadata: { readonly name: string }
}

const skip = etcdVersion() === undefined && 'etcd is not installed'

const intervals: [flags: string[], isMeasured: boolean][] = [
  [[], true],
  [['--etcd-db-metric-poll-interval=1s'], true],
  [['--etcd-db-metric-poll-interval=0'], false],
]
test('--etcd-db-metric-poll-interval', { skip }, async () => {
  const etcd = await EtcdServer.start()
  try {
    for (const [flags, isMeasured] of intervals) {
      const server = await startServer([`--etcd-servers=${etcd.endpoint}`, ...flags])
      const text = await metrics(new Wire(server))
      const name = `etcd_db_total_size_in_bytes{endpoint="${etcd.endpoint}"} `
      const line = text.split('\n').find((one) => one.startsWith(name))
      assert.equal(line !== undefined, isMeasured, flags.join(' '))
      if (isMeasured) assert.ok(Number(line?.slice(name.length)) > 10_000, line)
      await server.stop()
    }
  } finally {
    await etcd.dispose()
  }
})
