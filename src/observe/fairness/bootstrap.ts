/**
 * The default flow schemas and priority levels: two mandatory ones of each, and the suggested ones.
 * This file contains only data; the specs of mandatory objects are validated by their kinds.
 */
import type { Loose } from '#api/object-meta.ts'
import { exemptHasShares, levelsLend, sharesField } from '#api/priority-shares.ts'
import { change, type Release, releaseOf } from '#api/releases/change.ts'

export interface FlowObject {
  readonly name: string
  readonly spec: Loose
  readonly mandatory: boolean
}

const suggestsWorkloads = change('workload-low has more seats than global-default', { since: 20 })
const nodesComeFirst = change('updates of nodes and leases have the priority level node-high', {
  since: 22,
})
const globalIsForAll = change('the flow schema global-default is for all users', { since: 19 })
const electionNeedsLeases = change('leader election has a flow schema for leases alone', {
  since: 24,
})
const electionByEndpoints = change('flow schemas know leader election by endpoints', { until: 33 })
const endpointController = change('the endpoint controller has a flow schema', {
  since: 24,
  until: 33,
})

const level = (name: string, spec: Loose, mandatory = false): FlowObject => ({
  name,
  spec,
  mandatory,
})

export function priorityLevels(release: number): FlowObject[] {
  const old = !releaseOf(release).has(suggestsWorkloads)
  const emulated = releaseOf(release)
  const field = sharesField(emulated)
  const lend = (lendablePercent: number) => emulated.has(levelsLend) && { lendablePercent }
  const rejecting = {
    type: 'Limited',
    limited: { [field]: old ? 1 : 5, ...lend(0), limitResponse: { type: 'Reject' } },
  }
  const exempt = { nominalConcurrencyShares: 0, lendablePercent: 0 }
  const limited = (shares: number, percent: number, queues: number, handSize: number): Loose => ({
    type: 'Limited',
    limited: {
      [field]: shares,
      ...lend(percent),
      limitResponse: { type: 'Queue', queuing: { queues, handSize, queueLengthLimit: 50 } },
    },
  })
  return [
    level('catch-all', rejecting, true),
    level('exempt', { type: 'Exempt', ...(emulated.has(exemptHasShares) && { exempt }) }, true),
    level('system', limited(30, 33, 64, 6)),
    ...(releaseOf(release).has(nodesComeFirst) ? [level('node-high', limited(40, 25, 64, 6))] : []),
    level('leader-election', limited(10, 0, 16, 4)),
    level('workload-high', limited(40, 50, 128, 6)),
    level('workload-low', limited(old ? 20 : 100, 90, 128, 6)),
    level('global-default', limited(old ? 100 : 20, 50, 128, 6)),
  ]
}

const group = (name: string): Loose => ({ kind: 'Group', group: { name } })
const user = (name: string): Loose => ({ kind: 'User', user: { name } })
const systemAccounts: Loose = {
  kind: 'ServiceAccount',
  serviceAccount: { namespace: 'kube-system', name: '*' },
}
const everybody = [group('system:unauthenticated'), group('system:authenticated')]

const resources = (
  verbs: string[],
  apiGroups: string[],
  names: string[],
  namespaces: string[],
  clusterScope: boolean,
): Loose => ({
  verbs,
  apiGroups,
  resources: names,
  ...(clusterScope && { clusterScope }),
  namespaces,
})

const anything = {
  resourceRules: [resources(['*'], ['*'], ['*'], ['*'], true)],
  nonResourceRules: [{ verbs: ['*'], nonResourceURLs: ['*'] }],
}

function schema(
  name: string,
  priorityLevel: string,
  matchingPrecedence: number,
  distinguisher: 'ByUser' | 'ByNamespace' | '',
  rule: Loose,
  mandatory = false,
): FlowObject {
  return {
    name,
    mandatory,
    spec: {
      priorityLevelConfiguration: { name: priorityLevel },
      matchingPrecedence,
      ...(distinguisher !== '' && { distinguisherMethod: { type: distinguisher } }),
      rules: [rule],
    },
  }
}

const electing = ['get', 'create', 'update']
const leases = resources(electing, ['coordination.k8s.io'], ['leases'], ['*'], false)
const locks = (namespace: string) =>
  resources(electing, [''], ['endpoints', 'configmaps'], [namespace], false)

/**
 * Two schemas for the leader election of controllers, one per kind of lock object that releases
 * use.
 */
function electionSchemas(release: Release, managers: Loose[]): FlowObject[] {
  const controllers = ['endpoint-controller', 'endpointslicemirroring-controller'].map((name) => ({
    kind: 'ServiceAccount',
    serviceAccount: { namespace: 'kube-system', name },
  }))
  const system = release.has(electionNeedsLeases) ? [leases] : [locks('kube-system'), leases]
  return [
    schema('system-leader-election', 'leader-election', 100, 'ByUser', {
      subjects: managers,
      resourceRules: system,
    }),
    ...(release.has(endpointController)
      ? [
          schema('endpoint-controller', 'workload-high', 150, 'ByUser', {
            subjects: [user('system:kube-controller-manager'), ...controllers],
            resourceRules: [resources(electing, [''], ['endpoints'], ['*'], false)],
          }),
        ]
      : []),
    ...(release.has(electionByEndpoints)
      ? [
          schema('workload-leader-election', 'leader-election', 200, 'ByUser', {
            subjects: [systemAccounts],
            resourceRules: [locks('*'), leases],
          }),
        ]
      : []),
  ]
}

export function flowSchemas(release: number): FlowObject[] {
  const nodes = [group('system:nodes')]
  const ofNodes = [
    resources(['*'], [''], ['nodes', 'nodes/status'], ['*'], true),
    resources(['*'], ['coordination.k8s.io'], ['leases'], ['*'], false),
  ]
  const managers = [
    user('system:kube-controller-manager'),
    user('system:kube-scheduler'),
    systemAccounts,
  ]
  const accounts = [group('system:serviceaccounts')]
  const probes = {
    subjects: everybody,
    nonResourceRules: [{ verbs: ['get'], nonResourceURLs: ['/healthz', '/readyz', '/livez'] }],
  }
  const high = (name: string, precedence: number, subject: Loose) =>
    schema(name, 'workload-high', precedence, 'ByNamespace', { subjects: [subject], ...anything })
  return [
    schema('exempt', 'exempt', 1, '', { subjects: [group('system:masters')], ...anything }, true),
    schema('catch-all', 'catch-all', 10_000, 'ByUser', { subjects: everybody, ...anything }, true),
    schema('system-nodes', 'system', 500, 'ByUser', { subjects: nodes, ...anything }),
    ...(releaseOf(release).has(nodesComeFirst)
      ? [
          schema('system-node-high', 'node-high', 400, 'ByUser', {
            subjects: nodes,
            resourceRules: ofNodes,
          }),
        ]
      : []),
    schema('probes', 'exempt', 2, '', probes),
    ...electionSchemas(releaseOf(release), managers),
    high('kube-controller-manager', 800, user('system:kube-controller-manager')),
    high('kube-scheduler', 800, user('system:kube-scheduler')),
    high('kube-system-service-accounts', 900, systemAccounts),
    schema('service-accounts', 'workload-low', 9000, 'ByUser', { subjects: accounts, ...anything }),
    schema('global-default', 'global-default', 9900, 'ByUser', {
      subjects: releaseOf(release).has(globalIsForAll) ? everybody : accounts,
      ...anything,
    }),
  ]
}
