import assert from 'node:assert/strict'
import { test } from 'node:test'
import { checkBoundaries } from '#api/releases/boundary.suite.ts'
import type { KubeObject } from '#api/object-meta.ts'
import { conflict, modified } from '#api/status-error.ts'
import { until } from '#base/until.fixture.ts'
import { type Cluster, core, startCluster } from '#controllers/cluster.suite.ts'
import { unlessMissing } from '#controllers/queue-for.ts'
import { rootCertificatePublisher } from '#controllers/root-ca/publisher.ts'
import { tokenCleaner } from '#controllers/token-cleaner/token-cleaner.ts'
import { serviceAccountController } from './accounts.ts'
import { tokenController } from './tokens.ts'

const accounts = core('serviceaccounts')
const secrets = core('secrets')
const maps = core('configmaps')
const text = (base64: string) => Buffer.from(base64, 'base64').toString()

async function inCluster(
  release: number,
  run: (
    cluster: Cluster,
    find: (plural: string, namespace: string, name: string) => Promise<KubeObject | undefined>,
  ) => Promise<void>,
) {
  const cluster = await startCluster({ release })
  try {
    await run(cluster, (plural, namespace, name) =>
      unlessMissing(cluster.client.get(core(plural), namespace, name)),
    )
    assert.deepEqual(cluster.complaints, [])
  } finally {
    await cluster.stop()
  }
}

test('every namespace has a default account, made again when deleted', () =>
  inCluster(22, async ({ client, run }, find) => {
    run(serviceAccountController)
    await client.create(core('namespaces'), '', { metadata: { name: 'a' } })
    for (const namespace of ['default', 'kube-system', 'a']) {
      await until(namespace, async () =>
        Boolean(await find('serviceaccounts', namespace, 'default')),
      )
    }
    const first = await find('serviceaccounts', 'a', 'default')
    await client.delete(accounts, 'a', 'default')
    await until('a new one', async () => {
      const now = await find('serviceaccounts', 'a', 'default')
      return now !== undefined && now.metadata.uid !== first?.metadata.uid
    })
  }))

test('an account that a quota was in the way of is made all the same', async () => {
  let left = 2
  const cluster = await startCluster({
    wrap: (client) =>
      new Proxy(client, {
        get(of, name) {
          const call = Reflect.get(of, name).bind(of)
          if (name !== 'create') return call
          return async (...args: unknown[]) => {
            if (left-- > 0) throw conflict({ group: '', plural: 'resourcequotas' }, 'q', modified)
            return call(...args)
          }
        },
      }),
  })
  try {
    cluster.run(serviceAccountController)
    await until('all are made', async () => {
      return (await cluster.client.list(accounts, '')).items.length === 2
    })
    assert.deepEqual(cluster.complaints, [])
  } finally {
    await cluster.stop()
  }
})

test('every account has a token up to 1.23', () =>
  inCluster(22, async ({ client, run, surroundings }, find) => {
    run(tokenController)
    await client.create(accounts, 'default', { metadata: { name: 'robot' } })
    await until('a reference', async () =>
      Boolean((await find('serviceaccounts', 'default', 'robot'))?.secrets),
    )
    const account = await find('serviceaccounts', 'default', 'robot')
    assert.equal(account?.secrets.length, 1)
    const name: string = account?.secrets[0].name
    assert.match(name, /^robot-token-.{5}$/)
    const secret = (await find('secrets', 'default', name)) as KubeObject
    assert.equal(secret.type, 'kubernetes.io/service-account-token')
    assert.equal(text(secret.data.namespace), 'default')
    assert.equal(text(secret.data['ca.crt']), surroundings.rootCertificates)
    const claims = JSON.parse(text(text(secret.data.token).split('.')[1] as string))
    assert.equal(claims.sub, 'system:serviceaccount:default:robot')
    assert.equal(claims['kubernetes.io/serviceaccount/service-account.uid'], account?.metadata.uid)
    // A token that is deleted is replaced, and the old reference goes.
    await client.delete(secrets, 'default', name)
    await until('another token', async () => {
      const now = await find('serviceaccounts', 'default', 'robot')
      return now?.secrets?.length === 1 && now.secrets[0].name !== name
    })
    // An account that is deleted takes its tokens with it.
    await client.delete(accounts, 'default', 'robot')
    await until('no token', async () => (await client.list(secrets, 'default')).items.length === 0)
  }))

/** How many Secrets an account has after the controller filled another one for it. */
const tokensOf = async (release: number): Promise<number> => {
  let count = -1
  await inCluster(release, async ({ client, run }, find) => {
    run(tokenController)
    await client.create(accounts, 'default', { metadata: { name: 'robot' } })
    const annotations = { 'kubernetes.io/service-account.name': 'robot' }
    const type = 'kubernetes.io/service-account-token'
    await client.create(secrets, 'default', { metadata: { name: 'mine', annotations }, type })
    await until('a token', async () =>
      Boolean((await find('secrets', 'default', 'mine'))?.data?.token),
    )
    const references = async () => (await find('serviceaccounts', 'default', 'robot'))?.secrets
    if (release === 23) await until('a reference', async () => (await references()) !== undefined)
    count = (await references())?.length ?? 0
  })
  return count
}
checkBoundaries<string, number>(tokensOf, [['Secrets of an account', [23, 24], '', 1, 0]])

const descriptionOf = async (release: number): Promise<boolean> => {
  let isDescribed = false
  await inCluster(release, async ({ run }, find) => {
    run(rootCertificatePublisher)
    const map = () => find('configmaps', 'default', 'kube-root-ca.crt')
    await until('the map', async () => (await map()) !== undefined)
    isDescribed = 'kubernetes.io/description' in ((await map())?.metadata.annotations ?? {})
  })
  return isDescribed
}
checkBoundaries<string, boolean>(descriptionOf, [
  ['a description of the root certificates', [20, 21], '', false, true],
])

test('an account has a token however long its name', () =>
  inCluster(22, async ({ client, run }, find) => {
    run(tokenController)
    const name = 'r'.repeat(250)
    await client.create(accounts, 'default', { metadata: { name } })
    const references = async () => (await find('serviceaccounts', 'default', name))?.secrets ?? []
    await until('a reference', async () => (await references()).length === 1)
    const [{ name: secret }] = await references()
    assert.match(secret, /^r{58}[a-z0-9]{5}$/)
    await client.delete(secrets, 'default', secret)
    await until('another token', async () => (await references())[0]?.name !== secret)
    assert.equal((await references()).length, 1)
  }))

test('a Secret that requests a token gets one; one for a missing account is deleted', () =>
  inCluster(22, async ({ client, run }, find) => {
    run(tokenController)
    await client.create(accounts, 'default', { metadata: { name: 'robot' } })
    const asking = (name: string, account: string) => ({
      metadata: { name, annotations: { 'kubernetes.io/service-account.name': account } },
      type: 'kubernetes.io/service-account-token',
    })
    await client.create(secrets, 'default', asking('mine', 'robot'))
    await client.create(secrets, 'default', asking('ghost', 'nobody'))
    await until('a token', async () =>
      Boolean((await find('secrets', 'default', 'mine'))?.data?.token),
    )
    const mine = await find('secrets', 'default', 'mine')
    const account = await find('serviceaccounts', 'default', 'robot')
    assert.equal(
      mine?.metadata.annotations?.['kubernetes.io/service-account.uid'],
      account?.metadata.uid,
    )
    await until(
      'the ghost is gone',
      async () => (await find('secrets', 'default', 'ghost')) === undefined,
    )
  }))

test('the root certificates are in every namespace from 1.20, and put right', () =>
  inCluster(22, async ({ client, run, surroundings }, find) => {
    run(rootCertificatePublisher)
    const right = async () =>
      (await find('configmaps', 'default', 'kube-root-ca.crt'))?.data?.['ca.crt'] ===
      surroundings.rootCertificates
    await until('it is there', right)
    await client.patch(maps, 'default', 'kube-root-ca.crt', { data: { 'ca.crt': 'mine' } })
    await until('it is right again', right)
    await client.delete(maps, 'default', 'kube-root-ca.crt')
    await until('it is there again', right)
  }))

test('bootstrap tokens go when they end', () =>
  inCluster(22, async ({ client, run }, find) => {
    run(tokenCleaner)
    const token = (name: string, expiration: string) => ({
      metadata: { name },
      type: 'bootstrap.kubernetes.io/token',
      stringData: {
        'token-id': name.slice(-6),
        'token-secret': '0123456789abcdef',
        expiration,
      },
    })
    const inMs = (ms: number) => new Date(Date.now() + ms).toISOString()
    for (const [id, expiration] of [
      ['aaaaaa', inMs(600)],
      ['bbbbbb', inMs(3_600_000)],
      ['cccccc', '2999-01-01'],
    ] as const)
      await client.create(secrets, 'kube-system', token(`bootstrap-token-${id}`, expiration))
    assert.ok(await find('secrets', 'kube-system', 'bootstrap-token-aaaaaa'))
    await until('the first is gone', async () => {
      return (await find('secrets', 'kube-system', 'bootstrap-token-aaaaaa')) === undefined
    })
    await until('what ends at no time is gone', async () => {
      return (await find('secrets', 'kube-system', 'bootstrap-token-cccccc')) === undefined
    })
    assert.ok(await find('secrets', 'kube-system', 'bootstrap-token-bbbbbb'))
  }))
