/**
 * One data directory, walked up through every release: what an old release wrote in versions that
 * are gone later is there through their replacements. Each release serves, defaults, stores and
 * warns as its own tables say.
 */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { readFactsFile } from '#server/facts-reader.ts'
import { loadFacts } from '#kinds/facts.ts'
import { openSqliteStorage } from '#storage/sqlite/sqlite.ts'
import { type RunningServer, startServer } from './running-server.ts'

const facts = loadFacts(readFactsFile)
const releases = [15, 16, 17, 18, 19, 20, 21, 22]
const newest = 22

interface Row {
  readonly plural: string
  readonly namespaced: boolean
  /** Old version → first release that no longer serves it. */
  readonly old: Readonly<Record<string, number>>
  readonly replacement: string
  /** First release that serves the replacement. */
  readonly since: number
  /** An object of the first old version served; absent: never stored. */
  readonly body?: Readonly<Record<string, unknown>>
  /** First release that serves the first old version, where that is not the oldest. */
  readonly from?: number
  readonly name?: string
}

const labels = { app: 'web' }
const template = { metadata: { labels }, spec: { containers: [{ name: 'c', image: 'nginx:1' }] } }
const selector = { matchLabels: labels }
const webhook = { name: 'a.example.com', clientConfig: { url: 'https://a.example.com/' } }
const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'view' }
const request = Buffer.from(
  '-----BEGIN CERTIFICATE REQUEST-----\nMIHGMG0CAQAwCzEJMAcGA1UEAwwAMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE\n-----END CERTIFICATE REQUEST-----\n',
).toString('base64')
const psp = {
  spec: {
    seLinux: { rule: 'RunAsAny' },
    runAsUser: { rule: 'RunAsAny' },
    fsGroup: { rule: 'RunAsAny' },
    supplementalGroups: { rule: 'RunAsAny' },
  },
}
const backend = { serviceName: 's', servicePort: 80 }
const gone = 99

// Every row of what was removed, or is to be: old versions, when they went, and what is there
// instead since when.
const rows: readonly Row[] = [
  {
    plural: 'cronjobs',
    namespaced: true,
    old: { 'batch/v1beta1': gone },
    replacement: 'batch/v1',
    since: 21,
    body: {
      spec: {
        schedule: '* * * * *',
        jobTemplate: { spec: { template: { spec: { ...template.spec, restartPolicy: 'Never' } } } },
      },
    },
  },
  {
    plural: 'endpointslices',
    namespaced: true,
    old: { 'discovery.k8s.io/v1beta1': gone },
    replacement: 'discovery.k8s.io/v1',
    since: 21,
    from: 17,
    body: {
      addressType: 'IPv4',
      endpoints: [
        {
          addresses: ['10.1.2.3'],
          topology: { 'kubernetes.io/hostname': 'n', 'topology.kubernetes.io/zone': 'z' },
        },
      ],
    },
  },
  {
    plural: 'events',
    namespaced: true,
    old: { 'events.k8s.io/v1beta1': gone },
    replacement: 'events.k8s.io/v1',
    since: 19,
    body: {
      eventTime: '2020-01-02T03:04:05.000000Z',
      reportingController: 'a.b/c',
      reportingInstance: 'i',
      action: 'A',
      reason: 'R',
      regarding: { kind: 'Pod', name: 'p', namespace: 'default' },
      type: 'Normal',
    },
  },
  {
    plural: 'poddisruptionbudgets',
    namespaced: true,
    old: { 'policy/v1beta1': gone },
    replacement: 'policy/v1',
    since: 21,
    body: { spec: { minAvailable: 1, selector } },
  },
  {
    plural: 'podsecuritypolicies',
    namespaced: false,
    old: { 'extensions/v1beta1': 16, 'policy/v1beta1': gone },
    replacement: 'policy/v1beta1',
    since: 15,
    body: psp,
  },
  {
    plural: 'runtimeclasses',
    namespaced: false,
    old: { 'node.k8s.io/v1beta1': gone },
    replacement: 'node.k8s.io/v1',
    since: 20,
    body: { handler: 'h' },
  },
  {
    plural: 'mutatingwebhookconfigurations',
    namespaced: false,
    old: { 'admissionregistration.k8s.io/v1beta1': 22 },
    replacement: 'admissionregistration.k8s.io/v1',
    since: 16,
    body: { webhooks: [webhook] },
  },
  {
    plural: 'validatingwebhookconfigurations',
    namespaced: false,
    old: { 'admissionregistration.k8s.io/v1beta1': 22 },
    replacement: 'admissionregistration.k8s.io/v1',
    since: 16,
    body: { webhooks: [webhook] },
  },
  {
    plural: 'customresourcedefinitions',
    namespaced: false,
    name: 'gears.example.com',
    old: { 'apiextensions.k8s.io/v1beta1': 22 },
    replacement: 'apiextensions.k8s.io/v1',
    since: 16,
    body: {
      spec: {
        group: 'example.com',
        version: 'v1',
        names: { plural: 'gears', kind: 'Gear' },
        validation: { openAPIV3Schema: { type: 'object' } },
      },
    },
  },
  {
    plural: 'apiservices',
    namespaced: false,
    name: 'v1.walked.example.com',
    old: { 'apiregistration.k8s.io/v1beta1': 22 },
    replacement: 'apiregistration.k8s.io/v1',
    since: 15,
    body: {
      spec: {
        group: 'walked.example.com',
        version: 'v1',
        groupPriorityMinimum: 100,
        versionPriority: 10,
        insecureSkipTLSVerify: true,
        service: { name: 's', namespace: 'n' },
      },
    },
  },
  {
    plural: 'tokenreviews',
    namespaced: false,
    old: { 'authentication.k8s.io/v1beta1': 22 },
    replacement: 'authentication.k8s.io/v1',
    since: 15,
  },
  {
    plural: 'localsubjectaccessreviews',
    namespaced: true,
    old: { 'authorization.k8s.io/v1beta1': 22 },
    replacement: 'authorization.k8s.io/v1',
    since: 15,
  },
  {
    plural: 'selfsubjectaccessreviews',
    namespaced: false,
    old: { 'authorization.k8s.io/v1beta1': 22 },
    replacement: 'authorization.k8s.io/v1',
    since: 15,
  },
  {
    plural: 'subjectaccessreviews',
    namespaced: false,
    old: { 'authorization.k8s.io/v1beta1': 22 },
    replacement: 'authorization.k8s.io/v1',
    since: 15,
  },
  {
    plural: 'certificatesigningrequests',
    namespaced: false,
    old: { 'certificates.k8s.io/v1beta1': 22 },
    replacement: 'certificates.k8s.io/v1',
    since: 19,
  },
  {
    plural: 'leases',
    namespaced: true,
    old: { 'coordination.k8s.io/v1beta1': 22 },
    replacement: 'coordination.k8s.io/v1',
    since: 15,
    body: { spec: { holderIdentity: 'h' } },
  },
  {
    plural: 'ingresses',
    namespaced: true,
    old: { 'extensions/v1beta1': 22, 'networking.k8s.io/v1beta1': 22 },
    replacement: 'networking.k8s.io/v1',
    since: 19,
    body: {
      spec: {
        backend,
        rules: [
          {
            host: 'a.b',
            http: { paths: [{ path: '/x', backend: { serviceName: 's', servicePort: 'p' } }] },
          },
        ],
      },
    },
  },
  {
    plural: 'ingressclasses',
    namespaced: false,
    old: { 'networking.k8s.io/v1beta1': 22 },
    replacement: 'networking.k8s.io/v1',
    since: 19,
    from: 18,
    body: { spec: { controller: 'a.b/c' } },
  },
  {
    plural: 'clusterroles',
    namespaced: false,
    old: { 'rbac.authorization.k8s.io/v1beta1': 22 },
    replacement: 'rbac.authorization.k8s.io/v1',
    since: 15,
    body: { rules: [{ apiGroups: [''], resources: ['pods'], verbs: ['get'] }] },
  },
  {
    plural: 'clusterrolebindings',
    namespaced: false,
    old: { 'rbac.authorization.k8s.io/v1beta1': 22 },
    replacement: 'rbac.authorization.k8s.io/v1',
    since: 15,
    body: { roleRef },
  },
  {
    plural: 'roles',
    namespaced: true,
    old: { 'rbac.authorization.k8s.io/v1beta1': 22 },
    replacement: 'rbac.authorization.k8s.io/v1',
    since: 15,
    body: { rules: [{ apiGroups: [''], resources: ['pods'], verbs: ['get'] }] },
  },
  {
    plural: 'rolebindings',
    namespaced: true,
    old: { 'rbac.authorization.k8s.io/v1beta1': 22 },
    replacement: 'rbac.authorization.k8s.io/v1',
    since: 15,
    body: { roleRef },
  },
  {
    plural: 'priorityclasses',
    namespaced: false,
    old: { 'scheduling.k8s.io/v1beta1': 22 },
    replacement: 'scheduling.k8s.io/v1',
    since: 15,
    body: { value: 5 },
  },
  {
    plural: 'csidrivers',
    namespaced: false,
    old: { 'storage.k8s.io/v1beta1': 22 },
    replacement: 'storage.k8s.io/v1',
    since: 18,
    body: { spec: { attachRequired: true } },
  },
  {
    plural: 'csinodes',
    namespaced: false,
    old: { 'storage.k8s.io/v1beta1': 22 },
    replacement: 'storage.k8s.io/v1',
    since: 17,
    body: { spec: { drivers: [{ name: 'a.b', nodeID: 'n' }] } },
  },
  {
    plural: 'storageclasses',
    namespaced: false,
    old: { 'storage.k8s.io/v1beta1': 22 },
    replacement: 'storage.k8s.io/v1',
    since: 15,
    body: { provisioner: 'a.b/c' },
  },
  {
    plural: 'volumeattachments',
    namespaced: false,
    old: { 'storage.k8s.io/v1beta1': 22 },
    replacement: 'storage.k8s.io/v1',
    since: 15,
    body: { spec: { attacher: 'a', nodeName: 'n', source: { persistentVolumeName: 'p' } } },
  },
  {
    plural: 'networkpolicies',
    namespaced: true,
    old: { 'extensions/v1beta1': 16 },
    replacement: 'networking.k8s.io/v1',
    since: 15,
    body: { spec: { podSelector: selector } },
  },
  {
    plural: 'daemonsets',
    namespaced: true,
    old: { 'extensions/v1beta1': 16, 'apps/v1beta2': 16 },
    replacement: 'apps/v1',
    since: 15,
    body: { spec: { template } },
  },
  {
    plural: 'deployments',
    namespaced: true,
    old: { 'extensions/v1beta1': 16, 'apps/v1beta1': 16, 'apps/v1beta2': 16 },
    replacement: 'apps/v1',
    since: 15,
    body: { spec: { template } },
  },
  {
    plural: 'statefulsets',
    namespaced: true,
    old: { 'apps/v1beta1': 16, 'apps/v1beta2': 16 },
    replacement: 'apps/v1',
    since: 15,
    body: { spec: { serviceName: 's', template } },
  },
  {
    plural: 'replicasets',
    namespaced: true,
    old: { 'extensions/v1beta1': 16, 'apps/v1beta2': 16 },
    replacement: 'apps/v1',
    since: 15,
    body: { spec: { template } },
  },
]

const pathOf = (row: Row, apiVersion: string) =>
  `/apis/${apiVersion}${row.namespaced ? '/namespaces/default' : ''}/${row.plural}`
const nameOf = ({ name }: Row) => name ?? 'walked'
const firstOld = ({ old }: Row) => Object.keys(old)[0] as string

/** Whether a version of a row is served in a release, by the rows above. */
function isServed(row: Row, apiVersion: string, release: number): boolean {
  if (apiVersion === row.replacement && !(apiVersion in row.old)) return release >= row.since
  return release >= (row.from ?? 15) && release < (row.old[apiVersion] as number)
}

const directory = mkdtempSync(join(tmpdir(), 'binnacle-releases-'))
after(() => rmSync(directory, { recursive: true, force: true }))

const at = (release: number) =>
  startServer(
    [`--emulated-version=1.${release}`, '--storage-backend=sqlite', '--controllers=-*'],
    directory,
  )

/** What each object was when it was first read through its replacement. */
const seen = new Map<string, Found>()

for (const release of releases) {
  test(`1.${release}: serves its versions, and everything written before is there`, async () => {
    const server = await at(release)
    try {
      const version = await server.ask('GET', '/version')
      assert.equal(version.body.minor, String(release))
      await checkServed(server, release)
      for (const row of rows) {
        if (row.body === undefined) continue
        if ((row.from ?? 15) === release) await write(server, row)
        if ((row.from ?? 15) <= release) await checkThere(server, row, release)
      }
      await checkWarnings(server, release)
      await checkDefaults(server, release)
      await checkFilledIn(server, release)
    } finally {
      await server.stop()
    }
    await checkStored(release)
  })
}

async function checkServed(server: RunningServer, release: number): Promise<void> {
  const known = new Map<string, Set<string>>()
  for (const row of rows) {
    for (const apiVersion of [...Object.keys(row.old), row.replacement]) {
      if (!known.has(apiVersion)) {
        const { status, body } = await server.ask('GET', `/apis/${apiVersion}`)
        const names = status === 200 ? body.resources.map((one: { name: string }) => one.name) : []
        known.set(apiVersion, new Set(names))
      }
      const served = known.get(apiVersion)?.has(row.plural)
      assert.equal(served, isServed(row, apiVersion, release), `${apiVersion} ${row.plural}`)
    }
  }
}

async function write(server: RunningServer, row: Row): Promise<void> {
  const body = { metadata: { name: nameOf(row) }, ...row.body }
  const made = await server.ask('POST', pathOf(row, firstOld(row)), body)
  assert.equal(made.status, 201, `${row.plural}: ${made.text}`)
}

async function checkThere(server: RunningServer, row: Row, release: number): Promise<void> {
  for (const apiVersion of [...Object.keys(row.old), row.replacement]) {
    const read = await server.ask('GET', `${pathOf(row, apiVersion)}/${nameOf(row)}`)
    const served = isServed(row, apiVersion, release)
    assert.equal(read.status, served ? 200 : 404, `${apiVersion} ${row.plural}: ${read.text}`)
    if (!served) continue
    assert.equal(read.body.apiVersion, apiVersion)
    if (apiVersion !== row.replacement) continue
    const now = contentOf(read.body)
    const first = seen.get(row.plural) ?? now
    seen.set(row.plural, first)
    const added = fieldsAdded.filter(([plural, since]) => plural === row.plural && since <= release)
    const wanted = structuredClone(first)
    for (const [, , path, value] of added) setAt(wanted, path, value)
    assert.deepEqual(now, wanted, `${row.plural} as it was first seen, and what came since`)
  }
}

/** Fields that came with a default: what was stored before has it from that release on. */
const fieldsAdded: readonly [plural: string, since: number, path: string, value: unknown][] = [
  ['priorityclasses', 19, 'preemptionPolicy', 'PreemptLowerPriority'],
  ['csidrivers', 21, 'spec.storageCapacity', false],
  ['csidrivers', 20, 'spec.fsGroupPolicy', 'ReadWriteOnceWithFSType'],
  ['csidrivers', 21, 'spec.requiresRepublish', false],
]

const steps = (path: string) => path.split('.')
const valueAt = (object: Found, path: string): unknown =>
  steps(path).reduce((one, step) => one?.[step.replaceAll('|', '.')], object)
function setAt(object: Found, path: string, value: unknown): void {
  const last = steps(path).at(-1) as string
  const holder = steps(path)
    .slice(0, -1)
    .reduce((one, step) => one[step], object)
  holder[last] ??= value
}

// biome-ignore lint/suspicious/noExplicitAny: answers are looked into by paths
type Found = any

/** A signed one, without a requester and without requested names. */
const certificateRequest =
  'LS0tLS1CRUdJTiBDRVJUSUZJQ0FURSBSRVFVRVNULS0tLS0KTUlITk1IVUNBUUF3RXpFUk1BOEdBMVVFQXd3SWMyOXRaV0p2Wkhrd1dUQVRCZ2NxaGtqT1BRSUJCZ2dxaGtqTwpQUU1CQndOQ0FBUTMzMG16Uk1PenIrWHpUcFRBSEd3OGFjU0NEYTZqUWl6RkdRYjk5QnNOazJiRnlFQ3FjUEtPCldyd0RFaVFrWkJUZ1BhL2JGVE5VS0c0enZBY2lzRFBrb0FBd0NnWUlLb1pJemowRUF3SURTQUF3UlFJaEFLVGsKNFJPdm1rQzluRFhkVUFuYm1rMUFtU0ZTZFBKL1J3Y0g1dmRydmVvYkFpQXdWS0tPcWRjSTM5MURVcWxhWTdiWAorMkcrQkZHNHdKU2xNZWxtWm9CRERnPT0KLS0tLS1FTkQgQ0VSVElGSUNBVEUgUkVRVUVTVC0tLS0tCg=='
const address = '10.0.77.7'
/**
 * Objects of 1.15, and what each later release shows of them that they were not written with; `|`
 * stands for a dot in a name.
 */
const filledIn: readonly [
  path: string,
  body: Record<string, unknown>,
  fields: readonly [since: number, path: string, value: unknown][],
][] = [
  ['/api/v1/namespaces', {}, [[21, 'metadata.labels.kubernetes|io/metadata|name', 'filled']]],
  ['/api/v1/nodes', { spec: { podCIDR: '10.9.0.0/24' } }, [[16, 'spec.podCIDRs', ['10.9.0.0/24']]]],
  [
    '/api/v1/namespaces/default/services',
    { spec: { clusterIP: address, ports: [{ port: 80 }] } },
    [
      [20, 'spec.clusterIPs', [address]],
      [21, 'spec.ipFamilies', ['IPv4']],
      [21, 'spec.ipFamilyPolicy', 'SingleStack'],
      [22, 'spec.internalTrafficPolicy', 'Cluster'],
    ],
  ],
  [
    '/apis/batch/v1/namespaces/default/jobs',
    { spec: { template: { spec: { ...template.spec, restartPolicy: 'Never' } } } },
    [
      [22, 'spec.completionMode', 'NonIndexed'],
      [22, 'spec.suspend', false],
    ],
  ],
  [
    '/apis/apps/v1/namespaces/default/statefulsets',
    {
      spec: {
        selector,
        serviceName: 's',
        template,
        volumeClaimTemplates: [
          {
            metadata: { name: 'c' },
            spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
          },
        ],
      },
    },
    [
      [17, 'spec.volumeClaimTemplates.0.kind', 'PersistentVolumeClaim'],
      [17, 'spec.volumeClaimTemplates.0.apiVersion', 'v1'],
    ],
  ],
  [
    '/apis/apps/v1/namespaces/default/daemonsets',
    { spec: { selector, template } },
    [[21, 'spec.updateStrategy.rollingUpdate.maxSurge', 0]],
  ],
  [
    '/apis/certificates.k8s.io/v1beta1/certificatesigningrequests',
    { spec: { request: certificateRequest, usages: ['client auth'] } },
    [[18, 'spec.signerName', 'kubernetes.io/legacy-unknown']],
  ],
]

async function checkFilledIn(server: RunningServer, release: number): Promise<void> {
  for (const [path, body, fields] of filledIn) {
    if (release === 15) {
      const made = await server.ask('POST', path, { metadata: { name: 'filled' }, ...body })
      assert.equal(made.status, 201, `${path}: ${made.text}`)
    }
    const now =
      release === newest
        ? path.replace('certificates.k8s.io/v1beta1', 'certificates.k8s.io/v1')
        : path
    const one = await server.ask('GET', `${now}/filled`)
    const all = await server.ask('GET', `${now}?fieldSelector=metadata.name%3Dfilled`)
    for (const object of [one.body, all.body.items[0]]) {
      for (const [since, field, value] of fields) {
        const wanted = release < since ? undefined : value
        assert.deepEqual(valueAt(object, field), wanted, `${field} in 1.${release}`)
      }
    }
  }
}

/** What a release may not change: the spec and its like, and who the object is. */
function contentOf(object: Record<string, unknown>): unknown {
  const { apiVersion: _, kind: __, metadata, status: ___, ...content } = object
  const { uid, name } = metadata as { uid: string; name: string }
  return { uid, name, ...content }
}

/** Warnings began with 1.19, in the words of the version's own lifecycle. */
async function checkWarnings(server: RunningServer, release: number): Promise<void> {
  for (const row of rows) {
    for (const apiVersion of Object.keys(row.old)) {
      if (row.body === undefined || !isServed(row, apiVersion, release)) continue
      const { headers } = await server.ask('GET', pathOf(row, apiVersion))
      const expected = expectedWarning(row, apiVersion, release)
      assert.equal(
        headers?.warning,
        expected && `299 - "${expected}"`,
        `${apiVersion} ${row.plural}`,
      )
    }
  }
}

const warned: Readonly<Record<string, string>> = {
  'batch/v1beta1 cronjobs':
    'batch/v1beta1 CronJob is deprecated in v1.21+, unavailable in v1.25+; use batch/v1 CronJob',
  'discovery.k8s.io/v1beta1 endpointslices':
    'discovery.k8s.io/v1beta1 EndpointSlice is deprecated in v1.21+, unavailable in v1.25+; use discovery.k8s.io/v1 EndpointSlice',
  'policy/v1beta1 podsecuritypolicies':
    'policy/v1beta1 PodSecurityPolicy is deprecated in v1.21+, unavailable in v1.25+',
  'extensions/v1beta1 ingresses':
    'extensions/v1beta1 Ingress is deprecated in v1.14+, unavailable in v1.22+; use networking.k8s.io/v1 Ingress',
  'networking.k8s.io/v1beta1 ingresses':
    'networking.k8s.io/v1beta1 Ingress is deprecated in v1.19+, unavailable in v1.22+; use networking.k8s.io/v1 Ingress',
  'apiregistration.k8s.io/v1beta1 apiservices':
    'apiregistration.k8s.io/v1beta1 APIService is deprecated in v1.19+, unavailable in v1.22+; use apiregistration.k8s.io/v1 APIService',
  'rbac.authorization.k8s.io/v1beta1 roles':
    'rbac.authorization.k8s.io/v1beta1 Role is deprecated in v1.17+, unavailable in v1.22+; use rbac.authorization.k8s.io/v1 Role',
}

/** The words as written above where they are, else as the tables have them. */
function expectedWarning(row: Row, apiVersion: string, release: number): string | undefined {
  if (release < 19) return undefined
  const [group, version] = apiVersion.split('/')
  const fact = facts
    .resourcesOf(release)
    .find((one) => one.group === group && one.version === version && one.plural === row.plural)
  const { deprecated = '', removed = '', replacement } = fact?.lifecycle ?? {}
  if (deprecated === '' || Number(deprecated.split('.')[1]) > release) return undefined
  const words = warned[`${apiVersion} ${row.plural}`]
  if (words !== undefined) return words
  const use = replacement && `; use ${replacement.group}/${replacement.version} ${replacement.kind}`
  return `${apiVersion} ${fact?.kind} is deprecated in v${deprecated}+, unavailable in v${removed}+${use ?? ''}`
}

interface DefaultCase {
  readonly apiVersion: string
  readonly plural: string
  readonly namespaced?: boolean
  readonly first: number
  readonly last: number
  readonly body: Readonly<Record<string, unknown>>
  /** Steps to a value, and the value. */
  readonly expected: Readonly<Record<string, unknown>>
}

const controlled = { spec: { selector, template } }
const v1Webhook = { ...webhook, sideEffects: 'None', admissionReviewVersions: ['v1', 'v1beta1'] }
const deploymentOf = (
  apiVersion: string,
  revisions: unknown,
  deadline: unknown,
  step: unknown,
) => ({
  apiVersion,
  plural: 'deployments',
  namespaced: true,
  first: 15,
  last: apiVersion === 'apps/v1' ? newest : 15,
  body: controlled,
  expected: {
    'spec.revisionHistoryLimit': revisions,
    'spec.progressDeadlineSeconds': deadline,
    'spec.strategy.rollingUpdate.maxSurge': step,
    'spec.strategy.rollingUpdate.maxUnavailable': step,
  },
})
const maxInt32 = 2147483647

/** Defaults that differ between the versions of a kind. */
const defaultCases: readonly DefaultCase[] = [
  deploymentOf('extensions/v1beta1', maxInt32, maxInt32, 1),
  deploymentOf('apps/v1beta1', 2, 600, '25%'),
  deploymentOf('apps/v1beta2', 10, 600, '25%'),
  deploymentOf('apps/v1', 10, 600, '25%'),
  {
    apiVersion: 'extensions/v1beta1',
    plural: 'daemonsets',
    namespaced: true,
    first: 15,
    last: 15,
    body: controlled,
    expected: { 'spec.updateStrategy.type': 'OnDelete' },
  },
  {
    apiVersion: 'apps/v1beta2',
    plural: 'daemonsets',
    namespaced: true,
    first: 15,
    last: 15,
    body: controlled,
    expected: { 'spec.updateStrategy.type': 'RollingUpdate' },
  },
  {
    apiVersion: 'apps/v1',
    plural: 'daemonsets',
    namespaced: true,
    first: 15,
    last: newest,
    body: controlled,
    expected: { 'spec.updateStrategy.type': 'RollingUpdate', 'spec.templateGeneration': undefined },
  },
  {
    apiVersion: 'apps/v1beta1',
    plural: 'statefulsets',
    namespaced: true,
    first: 15,
    last: 15,
    body: controlled,
    expected: { 'spec.updateStrategy.type': 'OnDelete' },
  },
  {
    apiVersion: 'apps/v1',
    plural: 'statefulsets',
    namespaced: true,
    first: 15,
    last: newest,
    body: controlled,
    expected: { 'spec.updateStrategy.type': 'RollingUpdate' },
  },
  ...['mutating', 'validating'].flatMap((which) => [
    {
      apiVersion: 'admissionregistration.k8s.io/v1beta1',
      plural: `${which}webhookconfigurations`,
      first: 15,
      last: 21,
      body: { webhooks: [webhook] },
      expected: {
        'webhooks.0.failurePolicy': 'Ignore',
        'webhooks.0.matchPolicy': 'Exact',
        'webhooks.0.timeoutSeconds': 30,
        'webhooks.0.sideEffects': 'Unknown',
      },
    },
    {
      apiVersion: 'admissionregistration.k8s.io/v1',
      plural: `${which}webhookconfigurations`,
      first: 16,
      last: newest,
      body: { webhooks: [v1Webhook] },
      expected: {
        'webhooks.0.failurePolicy': 'Fail',
        'webhooks.0.matchPolicy': 'Equivalent',
        'webhooks.0.timeoutSeconds': 10,
      },
    },
  ]),
]

/**
 * What the new version refuses and the old one took: each is answered with what is missing or not
 * allowed.
 */
const refusals: readonly [
  apiVersion: string,
  plural: string,
  namespaced: boolean,
  since: number,
  body: Record<string, unknown>,
  field: string,
][] = [
  ['apps/v1', 'deployments', true, 15, { spec: { template } }, 'spec.selector'],
  ['apps/v1', 'daemonsets', true, 15, { spec: { template } }, 'spec.template.metadata.labels'],
  ['apps/v1', 'statefulsets', true, 15, { spec: { template } }, 'spec.selector'],
  ['apps/v1', 'replicasets', true, 15, { spec: { template } }, 'spec.selector'],
  [
    'admissionregistration.k8s.io/v1',
    'validatingwebhookconfigurations',
    false,
    16,
    { webhooks: [webhook] },
    'webhooks[0].sideEffects',
  ],
  [
    'admissionregistration.k8s.io/v1',
    'mutatingwebhookconfigurations',
    false,
    16,
    { webhooks: [{ ...v1Webhook, admissionReviewVersions: [] }] },
    'webhooks[0].admissionReviewVersions',
  ],
  [
    'admissionregistration.k8s.io/v1',
    'mutatingwebhookconfigurations',
    false,
    16,
    { webhooks: [v1Webhook, v1Webhook] },
    'webhooks[1].name',
  ],
  [
    'apiextensions.k8s.io/v1',
    'customresourcedefinitions',
    false,
    16,
    {
      spec: {
        group: 'example.com',
        names: { plural: 'refuseds', kind: 'Refused' },
        versions: [
          {
            name: 'v1',
            served: true,
            storage: true,
            schema: { openAPIV3Schema: { type: 'object' } },
          },
        ],
      },
    },
    'spec.scope',
  ],
  [
    'apiextensions.k8s.io/v1',
    'customresourcedefinitions',
    false,
    16,
    {
      spec: {
        scope: 'Namespaced',
        group: 'example.com',
        names: { plural: 'refuseds', kind: 'Refused' },
        versions: [{ name: 'v1', served: true, storage: true }],
      },
    },
    'spec.versions[0].schema.openAPIV3Schema',
  ],
  [
    'certificates.k8s.io/v1',
    'certificatesigningrequests',
    false,
    19,
    { spec: { request, usages: ['client auth'] } },
    'spec.signerName',
  ],
  [
    'certificates.k8s.io/v1',
    'certificatesigningrequests',
    false,
    19,
    { spec: { request, signerName: 'kubernetes.io/legacy-unknown', usages: ['client auth'] } },
    'spec.signerName',
  ],
  [
    'certificates.k8s.io/v1',
    'certificatesigningrequests',
    false,
    19,
    { spec: { request, signerName: 'a.b/c' } },
    'spec.usages',
  ],
  [
    'networking.k8s.io/v1',
    'ingresses',
    true,
    19,
    {
      spec: {
        rules: [
          {
            http: {
              paths: [{ path: '/', backend: { service: { name: 's', port: { number: 80 } } } }],
            },
          },
        ],
      },
    },
    'spec.rules[0].http.paths[0].pathType',
  ],
  [
    'events.k8s.io/v1',
    'events',
    true,
    19,
    { eventTime: '2020-01-02T03:04:05.000000Z', type: 'Odd' },
    'type',
  ],
  [
    'events.k8s.io/v1',
    'events',
    true,
    19,
    {
      eventTime: '2020-01-02T03:04:05.000000Z',
      type: 'Normal',
      reason: 'R',
      reportingController: 'a.b/c',
      reportingInstance: 'i',
    },
    'action',
  ],
]

async function checkDefaults(server: RunningServer, release: number): Promise<void> {
  const create = (apiVersion: string, plural: string, namespaced: boolean, body: object) => {
    const name = plural === 'customresourcedefinitions' ? 'refuseds.example.com' : 'd'
    const path = `/apis/${apiVersion}${namespaced ? '/namespaces/default' : ''}/${plural}?dryRun=All`
    return server.ask('POST', path, { metadata: { name }, ...body })
  }
  for (const {
    apiVersion,
    plural,
    namespaced = false,
    first,
    last,
    body,
    expected,
  } of defaultCases) {
    if (release < first || release > last) continue
    const made = await create(apiVersion, plural, namespaced, body)
    assert.equal(made.status, 201, `${apiVersion} ${plural}: ${made.text}`)
    for (const [path, value] of Object.entries(expected)) {
      const found = path.split('.').reduce((one, step) => one?.[step], made.body)
      assert.deepEqual(found, value, `${apiVersion} ${plural} ${path}`)
    }
  }
  for (const [apiVersion, plural, namespaced, since, body, field] of refusals) {
    if (release < since) continue
    const refused = await create(apiVersion, plural, namespaced, body)
    assert.equal(refused.status, 422, `${apiVersion} ${plural}: ${refused.text}`)
    const fields = refused.body.details.causes.map((cause: { field: string }) => cause.field)
    assert.ok(fields.includes(field), `${apiVersion} ${plural} ${field}: ${refused.text}`)
  }
}

/** What a release writes has the version its tables say. */
async function checkStored(release: number): Promise<void> {
  const storage = await openSqliteStorage({ directory })
  try {
    for (const row of rows) {
      if (row.body === undefined || (row.from ?? 15) !== release) continue
      const [group, version] = firstOld(row).split('/')
      const { storage: place } = facts
        .resourcesOf(release)
        .find(
          (one) => one.group === group && one.version === version && one.plural === row.plural,
        ) as { storage: { group: string; version: string; prefix: string } }
      const key = `/registry/${place.prefix}/${row.namespaced ? 'default/' : ''}${nameOf(row)}`
      const { value } = await storage.get(key)
      assert.ok(value, key)
      const { apiVersion } = JSON.parse(value.bytes.toString('utf8'))
      assert.equal(apiVersion, [place.group, place.version].filter(Boolean).join('/'), key)
    }
  } finally {
    await storage.close()
  }
}
