/** The Lease of a server: its name, labels and renewal, and the Leases of lost servers. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { checkBoundaries } from '#api/releases/boundary.suite.ts'
import { releaseOf } from '#api/releases/change.ts'
import { type Fixture, startVerbs } from '#verbs/fixture.suite.ts'
import { localClient } from '#verbs/local-client.ts'
import { IdentityLease, identityLabel, identityOf } from './identity-lease.ts'
import { trackTokens } from './token-tracking.ts'

checkBoundaries(
  (release, host: string) => [
    identityOf(host, releaseOf(release)),
    identityLabel(releaseOf(release)),
  ],
  [
    [
      'the name of a Lease',
      [26, 27],
      'vm',
      ['kube-apiserver-lphjr5z7h3imqn7sokpnsue3ha', 'k8s.io/component'],
      ['apiserver-wlv32tlttr4jl3gtroqexyxapa', 'apiserver.kubernetes.io/identity'],
    ],
  ],
)

const administrator = { name: 'admin', uid: '', groups: ['system:masters'], extra: {} }
const leases = { group: 'coordination.k8s.io', version: 'v1', plural: 'leases' }
const configMaps = { group: '', version: 'v1', plural: 'configmaps' }
const startMs = Date.UTC(2026, 0, 1)

let verbs: Fixture
before(async () => {
  verbs = await startVerbs()
})
after(() => verbs.stop())

function leaseOf(hostname: string, nowMs: () => number, isAlone = false) {
  return new IdentityLease({
    client: localClient(verbs.server, administrator, 'kube-apiserver'),
    release: releaseOf(37),
    hostname,
    peerAddress: '192.0.2.1:6443',
    isAlone,
    newUid: () => 'u',
    nowMs,
    report: assert.fail,
  })
}

test('a Lease is created, renewed, and deleted an hour after its last renewal', async () => {
  const client = localClient(verbs.server, administrator, 'kube-apiserver')
  let nowMs = startMs
  const mine = leaseOf('vm', () => nowMs)
  const lost = leaseOf('other', () => nowMs)
  await mine.renew()
  await lost.renew()
  nowMs += 3_600_000
  await mine.renew()
  await mine.collect()
  assert.equal((await client.list(leases, 'kube-system')).items.length, 2)
  nowMs += 1
  await mine.collect()
  const [left, ...more] = (await client.list(leases, 'kube-system')).items
  assert.deepEqual(more, [])
  const { name, labels, annotations } = left?.metadata ?? {}
  assert.deepEqual(
    [name, labels, annotations, left?.['spec']],
    [
      'apiserver-wlv32tlttr4jl3gtroqexyxapa',
      { 'apiserver.kubernetes.io/identity': 'kube-apiserver', 'kubernetes.io/hostname': 'vm' },
      { 'kubernetes.io/peer-advertise-address': '192.0.2.1:6443' },
      {
        holderIdentity: 'apiserver-wlv32tlttr4jl3gtroqexyxapa_u',
        leaseDurationSeconds: 3600,
        renewTime: '2026-01-01T01:00:00.000000Z',
      },
    ],
  )
})

test('a server that is alone with its store renews its Lease after twenty minutes', async () => {
  const client = localClient(verbs.server, administrator, 'kube-apiserver')
  let nowMs = startMs
  const lease = leaseOf('alone', () => nowMs, true)
  const renewTime = async () => {
    await lease.renew()
    const there = await client.get(leases, 'kube-system', identityOf('alone', releaseOf(37)))
    return there['spec'].renewTime
  }
  assert.equal(await renewTime(), '2026-01-01T00:00:00.000000Z')
  nowMs += 1_199_999
  assert.equal(await renewTime(), '2026-01-01T00:00:00.000000Z')
  nowMs += 1
  assert.equal(await renewTime(), '2026-01-01T00:20:00.000000Z')
})

test('the day since which tokens are tracked is kept, and repaired if it is no day', async () => {
  const client = localClient(verbs.server, administrator, 'kube-apiserver')
  const name = 'kube-apiserver-legacy-service-account-token-tracking'
  const since = async () => (await client.get(configMaps, 'kube-system', name))['data']
  await trackTokens(client, startMs)
  await trackTokens(client, startMs + 86_400_000)
  assert.deepEqual(await since(), { since: '2026-01-01' })
  const metadata = { name, namespace: 'kube-system' }
  await client.update(configMaps, { metadata, data: { since: 'ever', more: 'x' } })
  await trackTokens(client, startMs + 86_400_000)
  assert.deepEqual(await since(), { since: '2026-01-02', more: 'x' })
})
