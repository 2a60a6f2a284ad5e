import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { KubeObject, Loose } from '#api/object-meta.ts'
import { until } from '#base/until.fixture.ts'
import type { ApiClient } from '#client/client.ts'
import { type Cluster, core, startCluster } from '#controllers/cluster.suite.ts'
import { replicaSetController } from '#controllers/replicaset/replicaset.ts'
import { deployments, replicaSets } from '#controllers/resources.ts'
import { deploymentController } from './deployment.ts'
import { replicaSetName, templateHash } from './template-hash.ts'

const pods = core('pods')
const labels = { app: 'web' }
const template = (image: string) => ({
  metadata: { labels },
  spec: { containers: [{ name: 'c', image }] },
})
const deployment = (replicas: number, more: Loose = {}): KubeObject => ({
  metadata: { name: 'web', namespace: 'default', annotations: { cause: 'test' } },
  spec: { replicas, selector: { matchLabels: labels }, template: template('one'), ...more },
})

async function withCluster(check: (cluster: Cluster) => Promise<void>) {
  const cluster = await startCluster({ release: 37 })
  try {
    cluster.run(deploymentController, replicaSetController)
    await check(cluster)
    assert.deepEqual(cluster.complaints, [])
  } finally {
    await cluster.stop()
  }
}

const live = (client: ApiClient) => client.get(deployments, 'default', 'web')
const change = (client: ApiClient, spec: Loose) =>
  client.patch(deployments, 'default', 'web', { spec })
const setsOf = async (client: ApiClient) =>
  (await client.list(replicaSets, 'default')).items.sort((a, b) => revision(a) - revision(b))
const revision = ({ metadata }: KubeObject) =>
  Number(metadata.annotations?.['deployment.kubernetes.io/revision'])
const reasonOf = ({ status }: KubeObject, type: string) =>
  (status?.conditions ?? []).find((one: Loose) => one.type === type)?.reason

/** What a kubelet does: pods run, and deleted pods end. */
async function actAsKubelet({ client }: Cluster) {
  for (const pod of (await client.list(pods, 'default')).items) {
    const { name = '', deletionTimestamp } = pod.metadata
    if (deletionTimestamp !== undefined) {
      await client.delete(pods, 'default', name, { gracePeriodSeconds: 0 }).catch(() => {})
    } else if (pod.status?.phase !== 'Running') {
      const lastTransitionTime = '2030-01-01T00:00:00Z'
      const conditions = [{ type: 'Ready', status: 'True', lastTransitionTime }]
      await client
        .update(pods, { ...pod, status: { phase: 'Running', conditions } }, 'status')
        .catch(() => {})
    }
  }
}

const untilComplete = (cluster: Cluster, replicas: number) =>
  until(`${replicas} are available`, async () => {
    await actAsKubelet(cluster)
    const { status = {}, metadata } = await live(cluster.client)
    return (
      status.observedGeneration === metadata.generation &&
      (status.replicas ?? 0) === replicas &&
      (status.updatedReplicas ?? 0) === replicas &&
      (status.availableReplicas ?? 0) === replicas
    )
  })

for (const type of ['RollingUpdate', 'Recreate'])
  test(`a deployment is rolled out and resized by ${type}`, () =>
    withCluster(async (cluster) => {
      const { client } = cluster
      await client.create(deployments, 'default', deployment(3, { strategy: { type } }))
      await untilComplete(cluster, 3)
      await change(client, { template: template('two') })
      await untilComplete(cluster, 3)
      const [first, second] = await setsOf(client)
      assert.deepEqual([first?.spec?.replicas, second?.spec?.replicas], [0, 3])
      assert.equal(second?.metadata.annotations?.cause, 'test')
      assert.equal(revision(await live(client)), 2)
      await change(client, { replicas: 5 })
      await untilComplete(cluster, 5)
      await change(client, { template: template('one') })
      await untilComplete(cluster, 5)
      const [, back] = await setsOf(client)
      assert.equal(back?.metadata.uid, first?.metadata.uid)
      assert.equal(revision(back as KubeObject), 3)
      await until(
        'it has progressed',
        async () => reasonOf(await live(client), 'Progressing') === 'NewReplicaSetAvailable',
      )
    }))

test('old replica sets beyond the limit are deleted', () =>
  withCluster(async (cluster) => {
    const { client } = cluster
    await client.create(deployments, 'default', deployment(1, { revisionHistoryLimit: 1 }))
    for (const image of ['one', 'two', 'three']) {
      await change(client, { template: template(image) })
      await untilComplete(cluster, 1)
    }
    await until('two are left', async () => (await setsOf(client)).length === 2)
    assert.deepEqual((await setsOf(client)).map(revision), [2, 3])
  }))

test('a paused deployment makes no new replica set until it is resumed', () =>
  withCluster(async (cluster) => {
    const { client } = cluster
    await client.create(deployments, 'default', deployment(1))
    await untilComplete(cluster, 1)
    await change(client, { paused: true, template: template('two') })
    await until(
      'it is paused',
      async () => reasonOf(await live(client), 'Progressing') === 'DeploymentPaused',
    )
    await change(client, { replicas: 2 })
    await until(
      'its replica set grows',
      async () => (await setsOf(client))[0]?.spec?.replicas === 2,
    )
    assert.equal((await setsOf(client)).length, 1)
    await change(client, { paused: false })
    await untilComplete(cluster, 2)
    assert.equal((await setsOf(client)).length, 2)
  }))

test('a name that another replica set has is avoided', () =>
  withCluster(async ({ client }) => {
    const wanted = await client.create(deployments, 'default', deployment(0, { paused: true }))
    const name = replicaSetName('web', templateHash(wanted.spec?.template, undefined))
    const others = { app: 'other' }
    await client.create(replicaSets, 'default', {
      metadata: { name, namespace: 'default' },
      spec: {
        replicas: 0,
        selector: { matchLabels: others },
        template: { ...template('one'), metadata: { labels: others } },
      },
    })
    await change(client, { paused: false })
    await until('it has another', async () => (await setsOf(client)).length === 2)
    assert.equal((await live(client)).status?.collisionCount, 1)
  }))

test('a rollout that makes no progress misses its deadline', () =>
  withCluster(async ({ client }) => {
    const spec = { progressDeadlineSeconds: 1, minReadySeconds: 0 }
    await client.create(deployments, 'default', deployment(1, spec))
    await until(
      'it is late',
      async () => reasonOf(await live(client), 'Progressing') === 'ProgressDeadlineExceeded',
    )
  }))
