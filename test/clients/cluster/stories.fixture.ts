/**
 * What people expect of a cluster. Each story makes objects in a namespace of its own and waits for
 * what controllers and a scheduler do about them. The stories know nothing of which server,
 * controllers and scheduler these are.
 */
import assert from 'node:assert/strict'
import { generateKeyPairSync } from 'node:crypto'
import { Pkcs10CertificateRequestGenerator } from '@peculiar/x509'
import type { Answer } from '../../running-server.ts'
import type { Ask, Kubelets } from './kubelets.fixture.ts'
import { startMetrics } from './metrics.fixture.ts'

// biome-ignore lint/suspicious/noExplicitAny: objects of many kinds
type Any = any

export interface World {
  readonly ask: Ask
  readonly kubelets: Kubelets
}

/** Controllers resync, back off and share a machine with other tests. */
const patienceMs = 90_000

export async function until(what: string, isSo: () => Promise<unknown>): Promise<void> {
  const end = performance.now() + patienceMs
  let last: unknown
  while ((last = await isSo().catch((error: Error) => error)) instanceof Error || !last) {
    if (performance.now() > end) throw new Error(`waited in vain: ${what}: ${last}`)
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
}

const container = { name: 'c', image: 'one', resources: { requests: { cpu: '10m' } } }
const template = (labels: Record<string, string>, spec: object = {}) => ({
  metadata: { labels },
  spec: { containers: [container], ...spec },
})

/** One namespace, and short words for what is done in it. */
class Place {
  readonly namespace: string
  readonly #ask: Ask

  constructor(ask: Ask, namespace: string) {
    this.#ask = ask
    this.namespace = namespace
  }

  path(group: string, resource: string, name = ''): string {
    const root = group.includes('/') ? `/apis/${group}` : `/api/${group}`
    return `${root}/namespaces/${this.namespace}/${resource}${name && `/${name}`}`
  }

  async #done(method: string, path: string, body?: unknown, type?: string): Promise<Any> {
    const headers = type === undefined ? undefined : { 'content-type': type }
    const answer = await this.#ask(method, path, body, headers)
    assert.ok(answer.status < 300, `${method} ${path}: ${answer.status} ${answer.text}`)
    return answer.body
  }

  make = (group: string, resource: string, name: string, rest: object): Promise<Any> =>
    this.#done('POST', this.path(group, resource), { metadata: { name }, ...rest })

  get = (group: string, resource: string, name: string): Promise<Any> =>
    this.#done('GET', this.path(group, resource, name))

  change = (group: string, resource: string, name: string, patch: object): Promise<Any> =>
    this.#done('PATCH', this.path(group, resource, name), patch, 'application/merge-patch+json')

  ask = (method: string, path: string, body?: unknown): Promise<Answer> =>
    this.#ask(method, path, body)

  async remove(group: string, resource: string, name: string, options = {}): Promise<void> {
    await this.#done('DELETE', this.path(group, resource, name), options)
  }

  async list(group: string, resource: string, query = ''): Promise<Any[]> {
    return (await this.#done('GET', `${this.path(group, resource)}${query}`)).items
  }

  async isGone(group: string, resource: string, name: string): Promise<boolean> {
    return (await this.#ask('GET', this.path(group, resource, name))).status === 404
  }

  /** The pods of a label that are ready and stay. */
  async ready(label: string): Promise<Any[]> {
    const pods = await this.list('v1', 'pods', `?labelSelector=${label}`)
    return pods.filter(
      ({ metadata, status }) =>
        metadata.deletionTimestamp === undefined &&
        status.conditions?.some((c: Any) => c.type === 'Ready' && c.status === 'True'),
    )
  }
}

const deployment = (app: string, replicas: number, more: object = {}) => ({
  spec: { replicas, selector: { matchLabels: { app } }, template: template({ app }), ...more },
})

async function deployments(place: Place): Promise<void> {
  await place.make('apps/v1', 'deployments', 'web', deployment('web', 3))
  const status = async () => (await place.get('apps/v1', 'deployments', 'web')).status
  const settled = (replicas: number) => async () => {
    const { metadata, status } = await place.get('apps/v1', 'deployments', 'web')
    return (
      status.observedGeneration === metadata.generation &&
      status.availableReplicas === replicas &&
      status.updatedReplicas === replicas &&
      status.replicas === replicas
    )
  }
  await until('three pods', settled(3))
  const nodes = new Set((await place.ready('app=web')).map(({ spec }) => spec.nodeName))
  assert.equal(nodes.size, 2, 'the scheduler spreads them')
  assert.equal((await status()).conditions.length, 2)

  const image = (name: string) => ({
    spec: { template: { spec: { containers: [{ ...container, image: name }] } } },
  })
  await place.change('apps/v1', 'deployments', 'web', image('two'))
  await until('a rolling update', settled(3))
  const images = (await place.ready('app=web')).map(({ spec }) => spec.containers[0].image)
  assert.deepEqual(images, ['two', 'two', 'two'])
  const sets = await place.list('apps/v1', 'replicasets')
  const revisions = sets.map((s) => s.metadata.annotations['deployment.kubernetes.io/revision'])
  assert.deepEqual(revisions.sort(), ['1', '2'])

  await place.change('apps/v1', 'deployments', 'web', image('one'))
  await until('a rollback', settled(3))
  assert.equal((await place.list('apps/v1', 'replicasets')).length, 2, 'the first one is reused')

  const scaled = await place.ask('PUT', `${place.path('apps/v1', 'deployments', 'web')}/scale`, {
    apiVersion: 'autoscaling/v1',
    kind: 'Scale',
    metadata: { name: 'web', namespace: place.namespace },
    spec: { replicas: 5 },
  })
  assert.equal(scaled.status, 200, scaled.text)
  await until('five pods', settled(5))
  await place.change('apps/v1', 'deployments', 'web', { spec: { replicas: 0 } })
  await until('no pods', async () => (await place.list('v1', 'pods')).length === 0)
}

async function statefulSets(place: Place): Promise<void> {
  await place.make('apps/v1', 'statefulsets', 'db', {
    spec: { serviceName: 'db', ...deployment('db', 3).spec },
  })
  const names = async () => (await place.ready('app=db')).map(({ metadata }) => metadata.name)
  await until('three pods', async () => (await names()).join() === 'db-0,db-1,db-2')
  await place.change('apps/v1', 'statefulsets', 'db', {
    spec: { template: { metadata: { labels: { app: 'db', turn: '2' } } } },
  })
  await until('an update of each', async () => {
    const { status } = await place.get('apps/v1', 'statefulsets', 'db')
    return status.currentRevision === status.updateRevision && status.readyReplicas === 3
  })
  await until('all new', async () => (await place.ready('app=db,turn=2')).length === 3)
  assert.equal((await place.list('apps/v1', 'controllerrevisions')).length, 2)
  await place.remove('v1', 'pods', 'db-1')
  await until('the same name again', async () => (await names()).length === 3)
  await place.change('apps/v1', 'statefulsets', 'db', { spec: { replicas: 1 } })
  await until('only the first', async () => (await names()).join() === 'db-0')
}

async function daemonSets(place: Place): Promise<void> {
  const { selector, template } = deployment('agent', 0).spec as Any
  await place.make('apps/v1', 'daemonsets', 'agent', { spec: { selector, template } })
  const nodes = async () => (await place.ready('app=agent')).map(({ spec }) => spec.nodeName)
  await until('one on each node', async () => (await nodes()).sort().join() === 'node-a,node-b')
  await until('its status', async () => {
    const { status } = await place.get('apps/v1', 'daemonsets', 'agent')
    return status.numberAvailable === 2 && status.desiredNumberScheduled === 2
  })
  await place.change('apps/v1', 'daemonsets', 'agent', {
    spec: { template: { spec: { nodeSelector: { 'kubernetes.io/hostname': 'node-b' } } } },
  })
  await until('one node is left', async () => (await nodes()).join() === 'node-b')
}

const once = (more: object = {}, labels = {}) => ({
  spec: { template: template(labels, { restartPolicy: 'Never' }), ...more },
})

async function jobs(place: Place): Promise<void> {
  const condition = async (name: string, type: string) =>
    (await place.get('batch/v1', 'jobs', name)).status.conditions?.some(
      (c: Any) => c.type === type && c.status === 'True',
    )
  await place.make('batch/v1', 'jobs', 'work', once({ completions: 3, parallelism: 2 }))
  await until('three completions', () => condition('work', 'Complete'))
  assert.equal((await place.get('batch/v1', 'jobs', 'work')).status.succeeded, 3)
  await place.make('batch/v1', 'jobs', 'fails', once({ backoffLimit: 0 }, { fails: 'yes' }))
  await until('a failure', () => condition('fails', 'Failed'))
  const short = once({ ttlSecondsAfterFinished: 1, completionMode: 'Indexed', completions: 2 })
  await place.make('batch/v1', 'jobs', 'short', short)
  await until('its time to live', () => place.isGone('batch/v1', 'jobs', 'short'))
  await until('its pods to go', async () => {
    return (await place.list('v1', 'pods', '?labelSelector=job-name=short')).length === 0
  })
}

async function cronJobs(place: Place): Promise<void> {
  await place.make('batch/v1', 'cronjobs', 'tick', {
    spec: { schedule: '* * * * *', jobTemplate: once({}, { app: 'tick' }) },
  })
  await until('a run', async () => {
    const { status } = await place.get('batch/v1', 'cronjobs', 'tick')
    return status.lastScheduleTime !== undefined
  })
  await until('an end', async () => {
    const [job] = await place.list('batch/v1', 'jobs')
    return job?.status.succeeded === 1
  })
  const [job] = await place.list('batch/v1', 'jobs')
  assert.equal(job.metadata.ownerReferences[0].kind, 'CronJob')
  await place.change('batch/v1', 'cronjobs', 'tick', { spec: { suspend: true } })
}

async function services(place: Place): Promise<void> {
  await place.make('apps/v1', 'deployments', 'web', deployment('web', 2))
  const service = await place.make('v1', 'services', 'web', {
    spec: { selector: { app: 'web' }, ports: [{ port: 80, targetPort: 8080 }] },
  })
  assert.match(service.spec.clusterIP, /^10\./)
  const slices = () =>
    place.list('discovery.k8s.io/v1', 'endpointslices', '?labelSelector=kubernetes.io/service-name')
  const ready = async () =>
    (await slices()).flatMap((s) => s.endpoints ?? []).filter((e: Any) => e.conditions.ready)
  await until('two endpoints', async () => (await ready()).length === 2)
  await until('the older form', async () => {
    const { subsets } = await place.get('v1', 'endpoints', 'web')
    return subsets?.[0].addresses.length === 2 && subsets[0].ports[0].port === 8080
  })
  await place.change('apps/v1', 'deployments', 'web', { spec: { replicas: 1 } })
  await until('one endpoint', async () => (await ready()).length === 1)
  await place.remove('v1', 'services', 'web')
  await until('no slices', async () => (await slices()).length === 0)
}

async function budgets(place: Place): Promise<void> {
  await place.make('apps/v1', 'deployments', 'web', deployment('web', 2))
  await place.make('policy/v1', 'poddisruptionbudgets', 'web', {
    spec: { minAvailable: 1, selector: { matchLabels: { app: 'web' } } },
  })
  const allowed = async () =>
    (await place.get('policy/v1', 'poddisruptionbudgets', 'web')).status.disruptionsAllowed
  await until('one may go', async () => (await allowed()) === 1)
  await place.change('apps/v1', 'deployments', 'web', { spec: { replicas: 1 } })
  await until('none may go', async () => (await allowed()) === 0)
  await until('one pod', async () => (await place.list('v1', 'pods')).length === 1)
  const evict = async () => {
    const [pod] = await place.ready('app=web')
    const { name } = pod.metadata
    return place.ask('POST', `${place.path('v1', 'pods', name)}/eviction`, {
      apiVersion: 'policy/v1',
      kind: 'Eviction',
      metadata: { name },
    })
  }
  const refused = await evict()
  assert.equal(refused.status, 429, refused.text)
  assert.match(refused.body.message, /disruption budget/)
  await place.change('apps/v1', 'deployments', 'web', { spec: { replicas: 3 } })
  await until('two may go', async () => (await allowed()) === 2)
  assert.equal((await evict()).status, 201)
  await until('three again', async () => (await place.ready('app=web')).length === 3)
}

async function quotas(place: Place): Promise<void> {
  await place.make('v1', 'resourcequotas', 'few', {
    spec: { hard: { pods: '2', 'count/configmaps': '3', 'requests.cpu': '1' } },
  })
  const used = async () => (await place.get('v1', 'resourcequotas', 'few')).status.used
  await until('a first count', async () => (await used())?.pods === '0')
  await place.make('apps/v1', 'deployments', 'web', deployment('web', 4))
  await until('two pods, no more', async () => (await place.ready('app=web')).length === 2)
  const set = async () => (await place.list('apps/v1', 'replicasets'))[0].status
  await until('the reason', async () => /exceeded quota/.test((await set()).conditions[0].message))
  assert.equal((await used())['requests.cpu'], '20m')
  await place.change('v1', 'resourcequotas', 'few', { spec: { hard: { pods: '9' } } })
  await until('all four', async () => (await place.ready('app=web')).length === 4)
  await place.remove('apps/v1', 'deployments', 'web')
  await until('all given back', async () => (await used()).pods === '0')
}

/**
 * Pods without a controller: what a scheduler and the controllers of quotas and namespaces do is
 * enough for them.
 */
async function pods(place: Place): Promise<void> {
  await place.make('v1', 'resourcequotas', 'few', { spec: { hard: { pods: '3' } } })
  const used = async () => (await place.get('v1', 'resourcequotas', 'few')).status.used?.pods
  await until('a first count', async () => (await used()) === '0')
  // Nodes begin tainted, and the taint stays where the controller of nodes is missing.
  const spec = { containers: [container], tolerations: [{ operator: 'Exists' }] }
  for (const name of ['a', 'b', 'c']) {
    const pod = { metadata: { name, labels: { app: 'x' } }, spec }
    const made = await place.ask('POST', place.path('v1', 'pods'), pod)
    assert.equal(made.status, 201, made.text)
  }
  await until('three pods', async () => (await place.ready('app=x')).length === 3)
  const refused = await place.ask('POST', place.path('v1', 'pods'), {
    metadata: { name: 'd' },
    spec,
  })
  assert.equal(refused.status, 403, refused.text)
  await place.remove('v1', 'pods', 'a')
  await until('one is given back', async () => (await used()) === '2')
  const [bound] = await place.ready('app=x')
  assert.match(bound.spec.nodeName, /^node-[ab]$/)
}

async function namespaces(place: Place): Promise<void> {
  const name = `${place.namespace}-leaves`
  const path = `/api/v1/namespaces/${name}`
  await place.ask('POST', '/api/v1/namespaces', { metadata: { name } })
  await until('an account', async () => {
    return (await place.ask('GET', `${path}/serviceaccounts/default`)).status === 200
  })
  const made = await place.ask('POST', `/apis/apps/v1/namespaces/${name}/deployments`, {
    metadata: { name: 'web' },
    ...deployment('web', 2),
  })
  assert.equal(made.status, 201, made.text)
  await place.ask('POST', `${path}/configmaps`, {
    metadata: { name: 'held', finalizers: ['example.com/wait'] },
  })
  await until('pods', async () => (await place.ask('GET', `${path}/pods`)).body.items.length === 2)
  assert.equal((await place.ask('DELETE', path)).body.status.phase, 'Terminating')
  await until('what holds it', async () => {
    const { status } = (await place.ask('GET', path)).body
    return status.conditions?.some(
      (c: Any) => c.type === 'NamespaceFinalizersRemaining' && /example.com\/wait/.test(c.message),
    )
  })
  const held = (await place.ask('GET', `${path}/configmaps/held`)).body
  held.metadata.finalizers = []
  await place.ask('PUT', `${path}/configmaps/held`, held)
  await until('its end', async () => (await place.ask('GET', path)).status === 404)
}

async function volumes(place: Place): Promise<void> {
  const volume = `${place.namespace}-disk`
  const common = { accessModes: ['ReadWriteOnce'], storageClassName: '' }
  const disk = await place.ask('POST', '/api/v1/persistentvolumes', {
    metadata: { name: volume },
    spec: {
      ...common,
      capacity: { storage: '1Gi' },
      hostPath: { path: '/x' },
      persistentVolumeReclaimPolicy: 'Retain',
    },
  })
  assert.equal(disk.status, 201, disk.text)
  await place.make('v1', 'persistentvolumeclaims', 'data', {
    spec: { ...common, volumeName: volume, resources: { requests: { storage: '1Gi' } } },
  })
  const claim = () => place.get('v1', 'persistentvolumeclaims', 'data')
  const phase = async () =>
    (await place.ask('GET', `/api/v1/persistentvolumes/${volume}`)).body.status.phase
  await until('a bound claim', async () => (await claim()).status.phase === 'Bound')
  await until('a bound volume', async () => (await phase()) === 'Bound')
  await place.make('v1', 'pods', 'user', {
    spec: {
      containers: [container],
      volumes: [{ name: 'd', persistentVolumeClaim: { claimName: 'data' } }],
    },
  })
  await until('a pod that runs', async () => {
    return (await place.get('v1', 'pods', 'user')).status.phase === 'Running'
  })
  await place.remove('v1', 'persistentvolumeclaims', 'data')
  assert.ok((await claim()).metadata.deletionTimestamp, 'a claim in use stays')
  await place.remove('v1', 'pods', 'user')
  await until('the claim to go', () => place.isGone('v1', 'persistentvolumeclaims', 'data'))
  await until('a released volume', async () => (await phase()) === 'Released')
  await place.ask('DELETE', `/api/v1/persistentvolumes/${volume}`)
  await until('the volume to go', async () => {
    return (await place.ask('GET', `/api/v1/persistentvolumes/${volume}`)).status === 404
  })
}

async function ownership(place: Place): Promise<void> {
  for (const propagationPolicy of ['Foreground', 'Background', 'Orphan']) {
    const name = propagationPolicy.toLowerCase()
    await place.make('apps/v1', 'deployments', name, deployment(name, 2))
    await until('two pods', async () => (await place.ready(`app=${name}`)).length === 2)
    await place.remove('apps/v1', 'deployments', name, { propagationPolicy })
    await until(`${name}: gone`, () => place.isGone('apps/v1', 'deployments', name))
    const left = async (resource: string, group = 'v1') =>
      (await place.list(group, resource, `?labelSelector=app=${name}`)).length
    if (propagationPolicy === 'Orphan') {
      const [set] = await place.list('apps/v1', 'replicasets', `?labelSelector=app=${name}`)
      assert.equal(set.metadata.ownerReferences, undefined)
      assert.equal(await left('pods'), 2)
      continue
    }
    if (propagationPolicy === 'Foreground') {
      assert.equal(await left('replicasets', 'apps/v1'), 0, 'what is owned goes first')
    }
    await until(`${name}: no pods`, async () => (await left('pods')) === 0)
  }
}

async function certificates(place: Place): Promise<void> {
  const keys = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' }
  const made = await Pkcs10CertificateRequestGenerator.create({
    name: 'CN=somebody',
    keys: {
      privateKey: keys.privateKey.toCryptoKey(algorithm, true, ['sign']),
      publicKey: keys.publicKey.toCryptoKey(algorithm, true, ['verify']),
    } as never,
    signingAlgorithm: algorithm,
  })
  const all = '/apis/certificates.k8s.io/v1/certificatesigningrequests'
  const name = `${place.namespace}-somebody`
  const created = await place.ask('POST', all, {
    metadata: { name },
    spec: {
      request: Buffer.from(made.toString('pem')).toString('base64'),
      signerName: 'kubernetes.io/kube-apiserver-client',
      usages: ['client auth'],
    },
  })
  assert.equal(created.status, 201, created.text)
  created.body.status = { conditions: [{ type: 'Approved', status: 'True', reason: 'Known' }] }
  const approved = await place.ask('PUT', `${all}/${name}/approval`, created.body)
  assert.equal(approved.status, 200, approved.text)
  await until('a certificate', async () => {
    const { status } = (await place.ask('GET', `${all}/${name}`)).body
    return status.certificate !== undefined
  })
}

async function accounts(place: Place): Promise<void> {
  await place.make('v1', 'serviceaccounts', 'robot', {})
  const annotations = { 'kubernetes.io/service-account.name': 'robot' }
  await place.ask('POST', place.path('v1', 'secrets'), {
    metadata: { name: 'robot', annotations },
    type: 'kubernetes.io/service-account-token',
  })
  await until('a token', async () => (await place.get('v1', 'secrets', 'robot')).data?.token)
  const { token } = (await place.get('v1', 'secrets', 'robot')).data
  const review = await place.ask('POST', '/apis/authentication.k8s.io/v1/tokenreviews', {
    spec: { token: Buffer.from(token, 'base64').toString() },
  })
  const username = `system:serviceaccount:${place.namespace}:robot`
  assert.equal(review.body.status.user?.username, username, review.text)
  await place.remove('v1', 'serviceaccounts', 'robot')
  await until('the token to go', () => place.isGone('v1', 'secrets', 'robot'))
}

/** Custom owners and owned, which controllers only know from discovery. */
async function customKinds(place: Place): Promise<void> {
  const group = `${place.namespace}.example.com`
  const definition = {
    metadata: { name: `things.${group}` },
    spec: {
      group,
      scope: 'Namespaced',
      names: { plural: 'things', kind: 'Thing' },
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
  const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
  const defined = await place.ask('POST', definitions, definition)
  assert.equal(defined.status, 201, defined.text)
  const gv = `${group}/v1`
  const thing = { apiVersion: gv, kind: 'Thing' }
  await until('the kind', async () => {
    return (await place.ask('GET', place.path(gv, 'things'))).status === 200
  })
  const owner = await place.make(gv, 'things', 'owner', thing)
  const ownerReferences = [{ ...thing, name: 'owner', uid: owner.metadata.uid }]
  const made = await place.ask('POST', place.path('v1', 'configmaps'), {
    metadata: { name: 'owned', ownerReferences },
  })
  assert.equal(made.status, 201, made.text)
  await place.remove(gv, 'things', 'owner')
  await until('what it owned', () => place.isGone('v1', 'configmaps', 'owned'))
  await place.ask('DELETE', `${definitions}/things.${group}`)
}

/** With an API for metrics behind the server: what pods use makes more of them, and fewer. */
async function autoscaling(place: Place, { ask }: World): Promise<void> {
  const metrics = await startMetrics(ask)
  const registered = '/apis/apiregistration.k8s.io/v1/apiservices'
  const name = 'v1beta1.metrics.k8s.io'
  try {
    metrics.cpu = '20m'
    const { port } = metrics
    await place.make('v1', 'services', 'metrics', {
      spec: { type: 'ExternalName', externalName: 'localhost', ports: [{ port }] },
    })
    const registration = await ask('POST', registered, {
      metadata: { name },
      spec: {
        group: 'metrics.k8s.io',
        version: 'v1beta1',
        groupPriorityMinimum: 100,
        versionPriority: 100,
        insecureSkipTLSVerify: true,
        service: { namespace: place.namespace, name: 'metrics', port },
      },
    })
    assert.equal(registration.status, 201, registration.text)
    await place.make('apps/v1', 'deployments', 'web', deployment('web', 1))
    await place.make('autoscaling/v1', 'horizontalpodautoscalers', 'web', {
      spec: {
        scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' },
        minReplicas: 1,
        maxReplicas: 4,
        targetCPUUtilizationPercentage: 50,
      },
    })
    const pods = (count: number) => async () => (await place.ready('app=web')).length === count
    await until('four pods', pods(4))
    const { status } = await place.get('autoscaling/v1', 'horizontalpodautoscalers', 'web')
    assert.equal(status.currentCPUUtilizationPercentage, 200)
    metrics.cpu = '1m'
    await until('one pod', pods(1))
  } finally {
    await ask('DELETE', `${registered}/${name}`)
    metrics.stop()
  }
}

/** Last, for the others want both nodes. */
async function lostNode(place: Place, { kubelets, ask }: World): Promise<void> {
  const tolerations = ['not-ready', 'unreachable'].map((taint) => ({
    key: `node.kubernetes.io/${taint}`,
    operator: 'Exists',
    effect: 'NoExecute',
    tolerationSeconds: 1,
  }))
  await place.make('apps/v1', 'deployments', 'web', {
    spec: {
      replicas: 2,
      selector: { matchLabels: { app: 'web' } },
      template: template({ app: 'web' }, { tolerations }),
    },
  })
  await until('two pods', async () => (await place.ready('app=web')).length === 2)
  kubelets.silence('node-b')
  await until('a taint', async () => {
    const { spec } = (await ask('GET', '/api/v1/nodes/node-b')).body
    return spec.taints?.some((taint: Any) => taint.effect === 'NoExecute')
  })
  await until('both on the other node', async () => {
    const pods = await place.ready('app=web')
    return pods.length === 2 && pods.every(({ spec }) => spec.nodeName === 'node-a')
  })
  kubelets.wake('node-b')
  await until('the taint to go', async () => {
    return (await ask('GET', '/api/v1/nodes/node-b')).body.spec.taints === undefined
  })
}

const told: Record<string, (place: Place, world: World) => Promise<void>> = {
  deployments,
  statefulSets,
  daemonSets,
  jobs,
  cronJobs,
  services,
  budgets,
  quotas,
  pods,
  namespaces,
  volumes,
  ownership,
  certificates,
  accounts,
  customKinds,
  autoscaling,
  lostNode,
}

/** The stories by name. A story fails with what it waited for in vain. */
export const stories: Readonly<Record<string, (world: World) => Promise<void>>> =
  Object.fromEntries(
    Object.entries(told).map(([name, tell]) => [
      name,
      async (world: World) => {
        const namespace = name.toLowerCase()
        const path = `/api/v1/namespaces/${namespace}`
        await world.ask('POST', '/api/v1/namespaces', { metadata: { name: namespace } })
        await until('an account', async () => {
          return (await world.ask('GET', `${path}/serviceaccounts/default`)).status === 200
        })
        await tell(new Place(world.ask, namespace), world)
        await world.ask('DELETE', path)
        await until('an end', async () => (await world.ask('GET', path)).status === 404)
      },
    ]),
  )
