import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { KubeObject, Loose } from '#api/object-meta.ts'
import type { TableColumns } from '#kinds/table-columns.ts'
import { horizontalPodAutoscalerColumns } from '#kinds/autoscaling/horizontal-pod-autoscaler/columns.ts'
import { certificateSigningRequestColumns } from '#kinds/certificates/certificate-signing-request/columns.ts'
import { componentStatusColumns } from '#kinds/core/component-status/columns.ts'
import { resourceQuotaColumns } from '#kinds/core/resource-quota/columns.ts'
import { withMore } from './column.ts'
import { configMapColumns } from '#kinds/core/config-map/columns.ts'
import { eventColumns } from '#kinds/core/event/columns.ts'
import { flowSchemaColumns } from '#kinds/flowcontrol/flow-schema/columns.ts'
import { priorityLevelConfigurationColumns } from '#kinds/flowcontrol/priority-level-configuration/columns.ts'
import { ingressColumns } from '#kinds/networking/ingress/columns.ts'
import { networkPolicyColumns } from '#kinds/networking/network-policy/columns.ts'
import { nodeColumns } from '#kinds/core/node/columns.ts'
import { podDisruptionBudgetColumns } from '#kinds/policy/pod-disruption-budget/columns.ts'
import { bindingColumns } from '#kinds/rbac/binding-columns.ts'
import { apiServiceColumns } from '#kinds/apiregistration/api-service/columns.ts'
import { endpointSliceColumns } from '#kinds/discovery/endpoint-slice/columns.ts'
import { endpointsColumns } from '#kinds/core/endpoints/columns.ts'
import { serviceColumns } from '#kinds/core/service/columns.ts'
import { csiDriverColumns } from '#kinds/storage/csi-driver/columns.ts'
import { persistentVolumeClaimColumns } from '#kinds/core/persistent-volume-claim/columns.ts'
import { persistentVolumeColumns } from '#kinds/core/persistent-volume/columns.ts'

const now = Date.parse('2024-01-01T01:00:00Z')
const made = (fields: Loose, meta: Loose = {}): KubeObject => ({
  metadata: { name: 'a', creationTimestamp: '2024-01-01T00:00:00Z', ...meta },
  ...fields,
})

const lb = (...ingress: Loose[]) => ({ status: { loadBalancer: { ingress } } })
const cases: [string, TableColumns, KubeObject, unknown[]][] = [
  [
    'config map',
    configMapColumns,
    made({ data: { a: '', b: '' }, binaryData: { c: '' } }),
    ['a', 3, '60m'],
  ],
  [
    'service',
    serviceColumns,
    made({
      spec: {
        type: 'LoadBalancer',
        clusterIPs: ['10.0.0.1'],
        externalIPs: ['9.9.9.9'],
        ports: [{ port: 80, nodePort: 30000, protocol: 'TCP' }],
        selector: { b: 'c', a: 'd' },
      },
      ...lb({ ip: '2.2.2.2' }, { hostname: '1.x' }),
    }),
    ['a', 'LoadBalancer', '10.0.0.1', '1.x,2.2.2.2,9.9.9.9', '80:30000/TCP', '60m', 'a=d,b=c'],
  ],
  [
    'a LoadBalancer service without addresses and ports',
    serviceColumns,
    made({ spec: { type: 'LoadBalancer' } }),
    ['a', 'LoadBalancer', '<none>', '<pending>', '<none>', '60m', '<none>'],
  ],
  [
    'endpoints',
    endpointsColumns,
    made({
      subsets: [
        { addresses: [{ ip: '1.1.1.1' }, { ip: '::1' }], ports: [{ port: 80 }, { port: 81 }] },
      ],
    }),
    ['a', '1.1.1.1:80,[::1]:80,1.1.1.1:81 + 1 more...', '60m'],
  ],
  [
    'endpoints of several subsets',
    endpointsColumns,
    made({
      subsets: [
        { notReadyAddresses: [{ ip: '1.1.1.9' }], ports: [{ port: 80 }] },
        { addresses: [{ ip: '1.1.1.1' }] },
        { addresses: [{ ip: '1.1.1.2' }], ports: [{ port: 80 }, { port: 81 }, { port: 82 }] },
      ],
    }),
    ['a', '1.1.1.1,1.1.1.2:80,1.1.1.2:81 + 1 more...', '60m'],
  ],
  [
    'endpoints of which there are more than could ever be shown',
    endpointsColumns,
    made({
      subsets: [
        {
          addresses: Array.from({ length: 30_000 }, () => ({ ip: '1.1.1.1' })),
          ports: Array.from({ length: 30_000 }, (_, i) => ({ port: i })),
        },
      ],
    }),
    ['a', '1.1.1.1:0,1.1.1.1:0,1.1.1.1:0 + 899999997 more...', '60m'],
  ],
  ['no endpoints', endpointsColumns, made({}), ['a', '<none>', '60m']],
  [
    'endpoint slice',
    endpointSliceColumns,
    made({
      addressType: 'IPv4',
      ports: [{ port: 80 }, { name: 'x' }, {}],
      endpoints: [{ addresses: ['a', 'b', 'c', 'd'] }],
    }),
    ['a', 'IPv4', '80,x,*', 'a,b,c + 1 more...', '60m'],
  ],
  [
    'ingress',
    ingressColumns,
    made({
      spec: { rules: [{ host: 'a' }, {}, { host: 'b' }, { host: 'c' }, { host: 'd' }], tls: [{}] },
      ...lb({ ip: '1.1.1.1' }),
    }),
    ['a', '<none>', 'a,b,c + 2 more...', '1.1.1.1', '80, 443', '60m'],
  ],
  [
    'network policy',
    networkPolicyColumns,
    made({ spec: { podSelector: { matchLabels: { a: 'b' } } } }),
    ['a', 'a=b', '60m'],
  ],
  [
    'node',
    nodeColumns,
    made(
      {
        spec: { unschedulable: true },
        status: {
          conditions: [{ type: 'Ready', status: 'False' }],
          nodeInfo: { kubeletVersion: 'v1' },
          addresses: [{ type: 'InternalIP', address: '1.1.1.1' }],
        },
      },
      { labels: { 'node-role.kubernetes.io/master': '', 'kubernetes.io/role': 'x' } },
    ),
    [
      'a',
      'NotReady,SchedulingDisabled',
      'master,x',
      '60m',
      'v1',
      '1.1.1.1',
      '<none>',
      '<unknown>',
      '<unknown>',
      '<unknown>',
    ],
  ],
  [
    'volume',
    persistentVolumeColumns,
    made({
      spec: {
        capacity: { storage: '1Gi' },
        accessModes: ['ReadWriteMany', 'ReadWriteOnce'],
        persistentVolumeReclaimPolicy: 'Retain',
        claimRef: { namespace: 'n', name: 'c' },
      },
      status: { phase: 'Bound' },
    }),
    ['a', '1Gi', 'RWO,RWX', 'Retain', 'Bound', 'n/c', '', '<unset>', '', '60m', '<unset>'],
  ],
  [
    'claim',
    persistentVolumeClaimColumns,
    made(
      { spec: { storageClassName: 'fast' }, status: { phase: 'Pending' } },
      { deletionTimestamp: 'x' },
    ),
    ['a', 'Terminating', '', '', '', 'fast', '<unset>', '60m', '<unset>'],
  ],
  [
    'driver',
    csiDriverColumns,
    made({ spec: { tokenRequests: [{ audience: 'x' }, { audience: 'y' }] } }),
    ['a', true, false, false, 'x,y', false, '<none>', '60m'],
  ],
  [
    'quota',
    resourceQuotaColumns,
    made({ status: { hard: { pods: '3', 'limits.cpu': '2', cpu: '1' }, used: { pods: '1' } } }),
    ['a', 'cpu: 0/1, pods: 1/3', 'limits.cpu: 0/2', '60m'],
  ],
  [
    'component',
    componentStatusColumns,
    made({ conditions: [{ type: 'Healthy', status: 'False', error: 'e' }] }),
    ['a', 'Unhealthy', '', 'e'],
  ],
  [
    'budget',
    podDisruptionBudgetColumns,
    made({ spec: { minAvailable: 1 } }),
    ['a', '1', 'N/A', 0, '60m'],
  ],
  [
    'autoscaler',
    horizontalPodAutoscalerColumns,
    made({
      spec: {
        maxReplicas: 3,
        scaleTargetRef: { kind: 'K', name: 'n' },
        metrics: [
          { type: 'Resource', resource: { name: 'cpu', target: { averageUtilization: 50 } } },
          { type: 'External', external: { target: { averageValue: '3' } } },
          { type: 'Pods', pods: { target: { averageValue: '1' } } },
        ],
      },
      status: { currentMetrics: [{ resource: { current: { averageUtilization: 7 } } }] },
    }),
    ['a', 'K/n', 'cpu: 7%/50%, <unknown>/3 (avg) + 1 more...', '<unset>', 3, 0, '60m'],
  ],
  [
    'event',
    eventColumns,
    made({
      involvedObject: { kind: 'Pod', name: 'p' },
      eventTime: '2024-01-01T00:59:30.000000Z',
      message: ' m\n',
      reportingComponent: 'c',
      reportingInstance: 'i',
    }),
    ['30s', '', '', 'pod/p', '', 'c, i', 'm', '30s', 1, 'a'],
  ],
  [
    'series',
    eventColumns,
    made({
      involvedObject: { kind: 'Node' },
      firstTimestamp: '2024-01-01T00:00:00Z',
      lastTimestamp: '2024-01-01T00:00:00Z',
      series: { count: 2, lastObservedTime: '2024-01-01T00:59:59Z' },
    }),
    ['1s', '', '', 'node', '', '', '', '60m', 3, 'a'],
  ],
  [
    'certificate request',
    certificateSigningRequestColumns,
    made({
      spec: { username: 'u', expirationSeconds: 3600 },
      status: { certificate: 'x', conditions: [{ type: 'Approved' }, { type: 'Failed' }] },
    }),
    ['a', '60m', '<none>', 'u', '60m', 'Approved,Failed,Issued'],
  ],
  [
    'API service',
    apiServiceColumns,
    made({
      spec: { service: { namespace: 'n', name: 's' } },
      status: { conditions: [{ type: 'Available', status: 'False', reason: 'R' }] },
    }),
    ['a', 'n/s', 'False (R)', '60m'],
  ],
  [
    'binding',
    bindingColumns,
    made({
      roleRef: { kind: 'Role', name: 'r' },
      subjects: [
        { kind: 'User', name: 'u' },
        { kind: 'ServiceAccount', namespace: 'n', name: 's' },
        { kind: 'User', name: 'v' },
      ],
    }),
    ['a', 'Role/r', '60m', 'u, v', '', 'n/s'],
  ],
  [
    'flow schema',
    flowSchemaColumns,
    made({ spec: { matchingPrecedence: 5, priorityLevelConfiguration: { name: 'p' } } }),
    ['a', 'p', 5, '<none>', '60m', '?'],
  ],
  [
    'priority level',
    priorityLevelConfigurationColumns,
    made({ spec: { type: 'Exempt' } }),
    ['a', 'Exempt', '<none>', '<none>', '<none>', '<none>', '60m'],
  ],
]
for (const [title, table, object, cells] of cases) {
  test(title, () => {
    assert.deepEqual(table.cells(object, now), cells)
    assert.equal(table.columns.length, cells.length)
  })
}

test('the first few values, and the number of the others', () => {
  assert.equal(withMore(['a', 'b'], 2, '-'), 'a,b')
  assert.equal(withMore(['a', 'b', 'c'], 2, '-'), 'a,b + 1 more...')
  assert.equal(withMore([], 2, '-'), '-')
})

test('flow schemas are listed in matching order', () => {
  const schema = (name: string, matchingPrecedence: number): KubeObject => ({
    ...made({ spec: { matchingPrecedence } }),
    metadata: { name },
  })
  const all = [schema('b', 5), schema('a', 10), schema('a', 5), schema('c', 1)]
  const names = all
    .toSorted((a, b) => flowSchemaColumns.order?.(a, b) ?? 0)
    .map(({ metadata, spec }) => `${metadata.name}${spec?.matchingPrecedence}`)
  assert.deepEqual(names, ['c1', 'a5', 'b5', 'a10'])
})
