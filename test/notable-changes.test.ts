/**
 * What the newer versions of kinds changed, sentence by sentence, on servers of two releases. 1.21
 * serves the versions before and after side by side, and 1.15 still serves the old versions of
 * workloads. Removals, defaults and what is missing in new objects are walked through by
 * releases.test.ts.
 */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { type RunningServer, startServer } from './running-server.ts'

type Body = Record<string, unknown>

const servers = new Map<number, RunningServer>()
before(async () => {
  for (const release of [15, 21]) {
    const flags = [`--emulated-version=1.${release}`, '--controllers=-*']
    servers.set(release, await startServer(flags))
  }
})
after(async () => {
  for (const server of servers.values()) await server.stop()
})

const namespaced = new Set([
  'endpointslices',
  'events',
  'poddisruptionbudgets',
  'ingresses',
  'daemonsets',
  'deployments',
  'statefulsets',
  'replicasets',
])
const pathOf = (apiVersion: string, plural: string) =>
  `${apiVersion === 'v1' ? '/api/' : '/apis/'}${apiVersion}${namespaced.has(plural) ? '/namespaces/default' : ''}/${plural}`
const at = (object: unknown, path: string): unknown =>
  path.split(/(?<!\\)\./).reduce<unknown>((one, step) => {
    return (one as Body | undefined)?.[step.replaceAll('\\.', '.')]
  }, object)

let made = 0
async function create(release: number, apiVersion: string, plural: string, body: Body) {
  const server = servers.get(release) as RunningServer
  const fixed = (body.metadata as { name?: string } | undefined)?.name
  const name = fixed ?? `made-${++made}`
  const metadata = { ...(body.metadata as Body), name }
  const answer = await server.ask('POST', pathOf(apiVersion, plural), { ...body, metadata })
  return { server, name, answer }
}

interface Seen {
  readonly says: string
  readonly release?: number
  readonly plural: string
  readonly written: [apiVersion: string, body: Body]
  /** Versions it is read in, and what is there: undefined is nothing. */
  readonly read: Record<string, Body>
}

const labels = { app: 'web' }
const selector = { matchLabels: labels }
const template = { metadata: { labels }, spec: { containers: [{ name: 'c', image: 'i' }] } }
const topology = { 'kubernetes.io/hostname': 'n', 'topology.kubernetes.io/zone': 'z', other: 'o' }
const now = '2020-01-02T03:04:05Z'
const coreEvent = {
  involvedObject: { kind: 'Pod', name: 'p', namespace: 'default' },
  firstTimestamp: now,
  lastTimestamp: now,
  count: 3,
  source: { component: 'c', host: 'h' },
  type: 'Normal',
}
const names = (plural: string) => ({ plural, kind: plural[0]?.toUpperCase() + plural.slice(1) })
const columns = [{ name: 'C', type: 'string', JSONPath: '.spec.c' }]

const seen: readonly Seen[] = [
  {
    says: 'EndpointSlice: nodeName and zone instead of keys of the topology, the rest is deprecatedTopology',
    plural: 'endpointslices',
    written: [
      'discovery.k8s.io/v1beta1',
      { addressType: 'IPv4', endpoints: [{ addresses: ['10.1.2.3'], nodeName: 'n', topology }] },
    ],
    read: {
      'discovery.k8s.io/v1': {
        'endpoints.0.nodeName': 'n',
        'endpoints.0.zone': 'z',
        'endpoints.0.topology': undefined,
        'endpoints.0.deprecatedTopology': { other: 'o' },
      },
      'discovery.k8s.io/v1beta1': {
        'endpoints.0.topology': topology,
        'endpoints.0.zone': undefined,
      },
    },
  },
  {
    says: 'EndpointSlice: deprecatedTopology is not writable',
    plural: 'endpointslices',
    written: [
      'discovery.k8s.io/v1',
      {
        addressType: 'IPv4',
        endpoints: [{ addresses: ['10.1.2.3'], zone: 'z', deprecatedTopology: { a: 'b' } }],
      },
    ],
    read: {
      'discovery.k8s.io/v1': {
        'endpoints.0.zone': 'z',
        'endpoints.0.deprecatedTopology': undefined,
      },
      'discovery.k8s.io/v1beta1': {
        'endpoints.0.topology': { 'topology.kubernetes.io/zone': 'z' },
      },
    },
  },
  {
    says: 'Event: what the core calls involvedObject, firstTimestamp, lastTimestamp, count and source',
    plural: 'events',
    written: ['v1', coreEvent],
    read: {
      'events.k8s.io/v1': {
        regarding: coreEvent.involvedObject,
        involvedObject: undefined,
        deprecatedFirstTimestamp: now,
        deprecatedLastTimestamp: now,
        deprecatedCount: 3,
        'deprecatedSource.component': 'c',
        'deprecatedSource.host': 'h',
      },
      'events.k8s.io/v1beta1': { deprecatedCount: 3 },
    },
  },
  {
    says: 'PodDisruptionBudget: an empty selector of policy/v1 selects all pods, and v1beta1 cannot express it',
    plural: 'poddisruptionbudgets',
    written: ['policy/v1', { spec: { minAvailable: 1, selector: {} } }],
    read: {
      'policy/v1': { 'spec.selector': {} },
      'policy/v1beta1': {
        'spec.selector.matchExpressions.0.operator': 'DoesNotExist',
        'spec.selector.matchExpressions.0.key':
          'pdb.kubernetes.io/deprecated-v1beta1-empty-selector-match',
      },
    },
  },
  {
    says: 'PodDisruptionBudget: an empty selector of policy/v1beta1 selects none',
    plural: 'poddisruptionbudgets',
    written: ['policy/v1beta1', { spec: { minAvailable: 1, selector: {} } }],
    read: {
      'policy/v1beta1': { 'spec.selector': {} },
      'policy/v1': { 'spec.selector.matchExpressions.0.operator': 'Exists' },
    },
  },
  {
    says: 'PodDisruptionBudget: an unset selector is unset in both',
    plural: 'poddisruptionbudgets',
    written: ['policy/v1beta1', { spec: { minAvailable: 1 } }],
    read: {
      'policy/v1beta1': { 'spec.selector': undefined },
      'policy/v1': { 'spec.selector': undefined },
    },
  },
  {
    says: 'CustomResourceDefinition: version, validation, subresources, columns and the webhook move',
    plural: 'customresourcedefinitions',
    written: [
      'apiextensions.k8s.io/v1beta1',
      {
        metadata: { name: 'moved.example.com' },
        spec: {
          group: 'example.com',
          version: 'v1',
          names: names('moved'),
          validation: { openAPIV3Schema: { type: 'object' } },
          subresources: { status: {} },
          additionalPrinterColumns: columns,
          preserveUnknownFields: false,
          conversion: {
            strategy: 'Webhook',
            webhookClientConfig: { url: 'https://a.example.com/' },
            conversionReviewVersions: ['v1'],
          },
        },
      },
    ],
    read: {
      'apiextensions.k8s.io/v1': {
        'spec.scope': 'Namespaced',
        'spec.version': undefined,
        'spec.validation': undefined,
        'spec.subresources': undefined,
        'spec.additionalPrinterColumns': undefined,
        'spec.versions.0.name': 'v1',
        'spec.versions.0.schema.openAPIV3Schema.type': 'object',
        'spec.versions.0.subresources.status': {},
        'spec.versions.0.additionalPrinterColumns.0.jsonPath': '.spec.c',
        'spec.versions.0.additionalPrinterColumns.0.JSONPath': undefined,
        'spec.conversion.webhookClientConfig': undefined,
        'spec.conversion.conversionReviewVersions': undefined,
        'spec.conversion.webhook.clientConfig.url': 'https://a.example.com/',
        'spec.conversion.webhook.conversionReviewVersions': ['v1'],
      },
    },
  },
  {
    says: 'Ingress: backend becomes defaultBackend, serviceName and servicePort become service.name and service.port',
    plural: 'ingresses',
    written: [
      'networking.k8s.io/v1beta1',
      {
        spec: {
          backend: { serviceName: 's', servicePort: 80 },
          rules: [{ http: { paths: [{ backend: { serviceName: 't', servicePort: 'web' } }] } }],
        },
      },
    ],
    read: {
      'networking.k8s.io/v1': {
        'spec.backend': undefined,
        'spec.defaultBackend': { service: { name: 's', port: { number: 80 } } },
        'spec.rules.0.http.paths.0.backend': { service: { name: 't', port: { name: 'web' } } },
        'spec.rules.0.http.paths.0.pathType': 'ImplementationSpecific',
      },
      'extensions/v1beta1': { 'spec.backend': { serviceName: 's', servicePort: 80 } },
    },
  },
  {
    says: 'Deployment: apps/v1 has no rollbackTo',
    release: 15,
    plural: 'deployments',
    written: ['extensions/v1beta1', { spec: { rollbackTo: { revision: 2 }, template } }],
    read: {
      'apps/v1': { 'spec.rollbackTo': undefined, 'spec.selector': selector },
      'apps/v1beta2': { 'spec.rollbackTo': undefined },
    },
  },
  {
    says: 'DaemonSet: apps/v1 has no templateGeneration',
    release: 15,
    plural: 'daemonsets',
    written: ['extensions/v1beta1', { spec: { template } }],
    read: {
      'extensions/v1beta1': { 'spec.templateGeneration': 1 },
      'apps/v1': { 'spec.templateGeneration': undefined, 'spec.selector': selector },
    },
  },
]
for (const { says, release = 21, plural, written, read } of seen) {
  test(says, async () => {
    const { server, name, answer } = await create(release, written[0], plural, written[1])
    assert.equal(answer.status, 201, answer.text)
    for (const [apiVersion, expected] of Object.entries(read)) {
      const shown = await server.ask('GET', `${pathOf(apiVersion, plural)}/${name}`)
      assert.equal(shown.status, 200, shown.text)
      for (const [path, value] of Object.entries(expected)) {
        assert.deepEqual(at(shown.body, path), value, `${apiVersion} ${path}`)
      }
    }
  })
}

const newEvent = {
  eventTime: '2020-01-02T03:04:05.000000Z',
  type: 'Normal',
  reason: 'R',
  action: 'A',
  reportingController: 'a.b/c',
  reportingInstance: 'i',
  regarding: { kind: 'Pod', name: 'p', namespace: 'default' },
}
const without = (body: Body, field: string) =>
  Object.fromEntries(Object.entries(body).filter(([name]) => name !== field))
const webhook = {
  name: 'a.example.com',
  clientConfig: { url: 'https://a.example.com/' },
  sideEffects: 'None',
  admissionReviewVersions: ['v1'],
}
const definition = (spec: Body): Body => ({
  metadata: { name: 'refused.example.com' },
  spec: { group: 'example.com', scope: 'Namespaced', names: names('refused'), ...spec },
})
const version = (schema: unknown) => ({ name: 'v1', served: true, storage: true, schema })

/** What is refused, and the field the refusal names; undefined: it is taken. */
const refusals: readonly [says: string, string, string, Body, field: string | undefined][] = [
  ...['action', 'reason', 'reportingController', 'reportingInstance'].map(
    (field): [string, string, string, Body, string] => [
      `Event: ${field} is required`,
      'events.k8s.io/v1',
      'events',
      without(newEvent, field),
      field,
    ],
  ),
  ...Object.entries({
    deprecatedFirstTimestamp: now,
    deprecatedLastTimestamp: now,
    deprecatedCount: 1,
    deprecatedSource: { component: 'c' },
  }).map(([field, value]): [string, string, string, Body, string] => [
    `Event: ${field} is not permitted in new events`,
    'events.k8s.io/v1',
    'events',
    { ...newEvent, [field]: value },
    // Named as the core names it.
    field.replace(/deprecated(.)/, (_, first: string) => first.toLowerCase()),
  ]),
  ['Event: all that is needed', 'events.k8s.io/v1', 'events', newEvent, undefined],
  ...['Some', 'Unknown'].map((sideEffects): [string, string, string, Body, string] => [
    `webhooks: side effects ${sideEffects} are not permitted`,
    'admissionregistration.k8s.io/v1',
    'validatingwebhookconfigurations',
    { webhooks: [{ ...webhook, sideEffects }] },
    'webhooks[0].sideEffects',
  ]),
  [
    'webhooks: NoneOnDryRun is permitted, and reviews of v1beta1',
    'admissionregistration.k8s.io/v1',
    'validatingwebhookconfigurations',
    {
      webhooks: [{ ...webhook, sideEffects: 'NoneOnDryRun', admissionReviewVersions: ['v1beta1'] }],
    },
    undefined,
  ],
  [
    'CustomResourceDefinition: preserveUnknownFields is disallowed',
    'apiextensions.k8s.io/v1',
    'customresourcedefinitions',
    definition({
      preserveUnknownFields: true,
      versions: [version({ openAPIV3Schema: { type: 'object' } })],
    }),
    'spec.preserveUnknownFields',
  ],
  [
    'CustomResourceDefinition: schemas are structural',
    'apiextensions.k8s.io/v1',
    'customresourcedefinitions',
    definition({ versions: [version({ openAPIV3Schema: { properties: { a: {} } } })] }),
    'spec.validation.openAPIV3Schema.type',
  ],
]
for (const [says, apiVersion, plural, body, field] of refusals) {
  test(says, async () => {
    const { answer } = await create(21, apiVersion, plural, body)
    assert.equal(answer.status, field === undefined ? 201 : 422, answer.text)
    if (field === undefined) return
    const fields = answer.body.details.causes.map((cause: { field: string }) => cause.field)
    assert.ok(fields.includes(field), answer.text)
  })
}

const fixed = /spec\.selector: Invalid value: .*field is immutable/
const forbidden = /spec: Forbidden: updates to statefulset spec for fields other than/
/** Versions a selector is changed in: refused in these words, taken, or not served for the kind. */
const selectors: readonly [plural: string, Record<string, RegExp | 'taken' | 'unserved'>][] = [
  [
    'daemonsets',
    {
      'apps/v1': fixed,
      'apps/v1beta2': fixed,
      'apps/v1beta1': 'unserved',
      'extensions/v1beta1': 'taken',
    },
  ],
  [
    'deployments',
    {
      'apps/v1': fixed,
      'apps/v1beta2': fixed,
      'apps/v1beta1': 'taken',
      'extensions/v1beta1': 'taken',
    },
  ],
  [
    'statefulsets',
    {
      'apps/v1': forbidden,
      'apps/v1beta2': forbidden,
      'apps/v1beta1': forbidden,
      'extensions/v1beta1': 'unserved',
    },
  ],
  [
    'replicasets',
    {
      'apps/v1': fixed,
      'apps/v1beta2': fixed,
      'apps/v1beta1': 'unserved',
      'extensions/v1beta1': 'taken',
    },
  ],
]
const other = { ...labels, b: 'c' }
for (const [plural, outcomes] of selectors) {
  const specOf = (chosen: Body) => ({
    ...(plural === 'statefulsets' ? { serviceName: 's' } : {}),
    selector: { matchLabels: chosen },
    template: { ...template, metadata: { labels: chosen } },
  })
  for (const [apiVersion, outcome] of Object.entries(outcomes)) {
    test(`${plural}: the selector in ${apiVersion} (${outcome})`, async () => {
      const { server, name, answer } = await create(15, 'apps/v1', plural, { spec: specOf(labels) })
      assert.equal(answer.status, 201, answer.text)
      const changed = { metadata: { name }, spec: specOf(other) }
      const put = await server.ask('PUT', `${pathOf(apiVersion, plural)}/${name}`, changed)
      const status = outcome === 'taken' ? 200 : outcome === 'unserved' ? 404 : 422
      assert.equal(put.status, status, put.text)
      if (outcome instanceof RegExp) assert.match(put.body.message, outcome)
      const { body } = await server.ask('GET', `${pathOf('apps/v1', plural)}/${name}`)
      const kept = outcome === 'taken' ? other : labels
      assert.deepEqual(body.spec.selector.matchLabels, kept)
    })
  }
}

test('SubjectAccessReview: group becomes groups', async () => {
  const server = servers.get(21) as RunningServer
  const resourceAttributes = { verb: 'get', resource: 'pods' }
  const review = async (apiVersion: string, field: string) => {
    const spec = { user: 'u', [field]: ['system:masters'], resourceAttributes }
    const answer = await server.ask('POST', pathOf(apiVersion, 'subjectaccessreviews'), { spec })
    return answer.body.status.allowed
  }
  const allowed = await Promise.all([
    review('authorization.k8s.io/v1', 'groups'),
    review('authorization.k8s.io/v1', 'group'),
    review('authorization.k8s.io/v1beta1', 'group'),
    review('authorization.k8s.io/v1beta1', 'groups'),
  ])
  assert.deepEqual(allowed, [true, false, true, false])
})

test('before 1.20 objects and their subresources are shown with the requested path', async () => {
  const { server, name } = await create(15, 'apps/v1', 'deployments', {
    spec: { selector, template },
  })
  for (const below of ['', '/status', '/scale']) {
    const path = `${pathOf('apps/v1', 'deployments')}/${name}${below}`
    const { body } = await server.ask('GET', path)
    assert.equal(body.metadata.selfLink, path)
  }
})
