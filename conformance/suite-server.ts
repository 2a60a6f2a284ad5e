/** The server that Kubernetes' conformance suite runs against: controllers, and one ready node. */
import type { RunningServer } from '../test/running-server.ts'

const workloads = [
  'deployment',
  'replicaset',
  'replicationcontroller',
  'cronjob',
  'endpoint',
  'endpointslice',
  'endpointslicemirroring',
]

export const suiteFlags = [
  '--emulated-version=1.37',
  `--controllers=*,${workloads.join()}`,
  '--allow-privileged=true',
  // On loopback alone there would be no Endpoints of the server.
  '--advertise-address=192.0.2.1',
  '--service-cluster-ip-range=10.0.0.0/16',
]

const amounts = { cpu: '8', memory: '32Gi', pods: '110', 'ephemeral-storage': '100Gi' }

/** The suite waits for a node that is ready and has no taints. */
export async function readyNode(server: RunningServer): Promise<void> {
  const time = '2030-01-01T00:00:00Z'
  const metadata = {
    name: 'node-1',
    labels: { 'kubernetes.io/hostname': 'node-1', 'kubernetes.io/os': 'linux' },
  }
  const condition = {
    type: 'Ready',
    status: 'True',
    reason: 'KubeletReady',
    lastHeartbeatTime: time,
    lastTransitionTime: time,
  }
  const node = { apiVersion: 'v1', kind: 'Node', metadata }
  const made = await server.ask('POST', '/api/v1/nodes', node)
  // A new node has a taint until it is ready.
  const { taints: _, ...spec } = made.body.spec
  const path = '/api/v1/nodes/node-1'
  const free = await server.ask('PUT', path, { ...made.body, spec })
  const status = {
    conditions: [condition],
    capacity: amounts,
    allocatable: amounts,
    addresses: [{ type: 'InternalIP', address: '127.0.0.1' }],
  }
  const written = await server.ask('PUT', `${path}/status`, { ...free.body, status })
  if (written.status !== 200) throw new Error(`the node could not be made: ${written.text}`)
}
