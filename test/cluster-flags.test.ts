/**
 * That flags about the place of a server among others, and about what it leaves to them, have the
 * effect they promise.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { until } from '#base/until.fixture.ts'
import { EtcdServer, etcdVersion } from '../src/storage/etcd/etcd-server.fixture.ts'
import { freePort, type RunningServer, startServer } from './running-server.ts'
import { core, maps, specify } from './specification.fixture.ts'

const endpoints = `${core}/namespaces/default/endpoints/kubernetes`

specify(
  'a server that leaves things to others',
  [
    '--endpoint-reconciler-type=none',
    '--advertise-address=192.0.2.55',
    '--enable-garbage-collector=false',
    '--admission-control=NamespaceLifecycle',
  ],
  [
    [
      '--endpoint-reconciler-type',
      'nobody says where the kubernetes service leads',
      async (on) => {
        await on.expect(200, 'GET', `${core}/namespaces/default/services/kubernetes`)
        await on.expect(404, 'GET', endpoints)
      },
    ],
    [
      '--enable-garbage-collector',
      'nothing waits for dependents, and they stay',
      async (on) => {
        await on.map('owner')
        const { body } = await on.expect(200, 'GET', `${maps}/owner`)
        const owner = { apiVersion: 'v1', kind: 'ConfigMap', name: 'owner', uid: body.metadata.uid }
        await on.map('owned', { metadata: { ownerReferences: [owner] } })
        const options = { propagationPolicy: 'Foreground' }
        await on.expect(200, 'DELETE', `${maps}/owner`, options)
        await on.expect(404, 'GET', `${maps}/owner`)
        // What the collector does it does within a second.
        await new Promise((resolve) => setTimeout(resolve, 2000))
        await on.expect(200, 'GET', `${maps}/owned`)
      },
    ],
    [
      '--admission-control',
      'these plugins are on and no others, and it is told that the flag is old',
      async (on) => {
        const pods = `${core}/namespaces/default/pods`
        const spec = { containers: [{ name: 'c', image: 'i' }] }
        const { body } = await on.expect(201, 'POST', pods, { metadata: { name: 'p' }, spec })
        assert.equal(body.spec.tolerations, undefined)
        const elsewhere = pods.replace('default', 'nowhere')
        await on.expect(404, 'POST', elsewhere, { metadata: { name: 'p' }, spec })
        assert.match(on.server.said(), /--admission-control is deprecated/)
      },
    ],
  ],
)

const refused: [flags: string[], words: RegExp][] = [
  [['--admission-control=Nope'], /admission-control plugin "Nope" is unknown; known are /],
  [
    ['--admission-control=Priority', '--enable-admission-plugins=Priority'],
    /--admission-control does not go with --enable-admission-plugins/,
  ],
]
for (const [flags, words] of refused)
  test(`${flags.join(' ')} cannot be`, () => assert.rejects(startServer(flags), words))

const skip = etcdVersion() === undefined && 'etcd is not installed'

const led = async (server: RunningServer): Promise<string[]> => {
  const { body } = await server.ask('GET', endpoints)
  const [subset] = body.subsets ?? []
  return subset?.addresses?.map(({ ip }: { ip: string }) => ip) ?? []
}

test('--endpoint-reconciler-type=master-count, --apiserver-count', { skip }, async () => {
  const etcd = await EtcdServer.start()
  const at = (address: string) =>
    startServer([
      `--etcd-servers=${etcd.endpoint}`,
      '--controllers=-*',
      '--endpoint-reconciler-type=master-count',
      '--apiserver-count=2',
      `--advertise-address=${address}`,
    ])
  try {
    const one = await at('192.0.2.1')
    assert.deepEqual(await led(one), ['192.0.2.1'])
    const two = await at('192.0.2.2')
    assert.deepEqual(await led(two), ['192.0.2.1', '192.0.2.2'])
    const three = await at('192.0.2.3')
    const last = await led(three)
    assert.ok(last.length === 2 && last.includes('192.0.2.3'), last.join())
    await three.stop()
    await two.stop()
    await until('who left is not led to', async () => (await led(one)).join() === '192.0.2.1')
    await one.stop()
  } finally {
    await etcd.dispose()
  }
})

test('--permit-port-sharing: several servers on one port, where all permit it', async () => {
  const port = await freePort()
  const at = (...flags: string[]) => startServer([`--secure-port=${port}`, ...flags])
  const one = await at('--permit-port-sharing')
  try {
    await assert.rejects(at(), /another program listens on port/)
    const two = await at('--permit-port-sharing')
    await two.stop()
    assert.equal((await one.ask('GET', '/readyz')).status, 200)
  } finally {
    await one.stop()
  }
})
