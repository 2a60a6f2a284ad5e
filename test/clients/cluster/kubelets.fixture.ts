/**
 * Nodes without machines: each is registered, keeps its status and lease fresh, and does for the
 * pods bound to it what a kubelet would: says that they run (those that are not to run for ever end
 * soon after) and lets go of those that are deleted. It never runs anything.
 */
import type { Answer } from '../../running-server.ts'

// biome-ignore lint/suspicious/noExplicitAny: objects of many kinds
type Any = any

export type Ask = (
  method: string,
  path: string,
  body?: unknown,
  headers?: Readonly<Record<string, string>>,
) => Promise<Answer>

export interface Kubelets {
  /** From now on the node sends nothing more, and its pods have no kubelet. */
  silence(node: string): void
  wake(node: string): void
  stop(): void
  /** What the server refused. */
  readonly refused: string[]
}

const heartbeatMs = 2000
const roundMs = 150
const runsMs = 500

const strategic = { 'content-type': 'application/strategic-merge-patch+json' }
const conditions = (types: readonly string[], isTrue: (type: string) => boolean) =>
  types.map((type) => ({ type, status: isTrue(type) ? 'True' : 'False' }))

const room = { cpu: '8', memory: '16Gi', pods: '110', 'ephemeral-storage': '100Gi' }

export function startKubelets(ask: Ask, nodes: readonly string[]): Kubelets {
  const refused: string[] = []
  const silent = new Set<string>()
  const told = new Set<string>()
  let addresses = 0
  let ends = false

  const must = async (method: string, path: string, body?: unknown, headers?: typeof strategic) => {
    const answer = await ask(method, path, body, headers)
    // What is deleted or changed in between is looked at again in the next round.
    if (answer.status >= 300 && answer.status !== 404 && answer.status !== 409) {
      refused.push(`${method} ${path}: ${answer.status} ${answer.text}`)
    }
    return answer
  }

  const beat = async (name: string) => {
    const labels = { 'kubernetes.io/hostname': name, 'kubernetes.io/os': 'linux' }
    const lastHeartbeatTime = new Date().toISOString().replace(/\.\d+/, '')
    const status = {
      capacity: room,
      allocatable: room,
      conditions: conditions(
        ['Ready', 'MemoryPressure', 'DiskPressure', 'PIDPressure'],
        (type) => type === 'Ready',
      ).map((condition) => ({ ...condition, reason: 'Said', lastHeartbeatTime })),
      addresses: [{ type: 'Hostname', address: name }],
    }
    if ((await ask('GET', `/api/v1/nodes/${name}`)).status === 404) {
      await must('POST', '/api/v1/nodes', { metadata: { name, labels } })
    }
    await must('PATCH', `/api/v1/nodes/${name}/status`, { status }, strategic)
    const leases = '/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases'
    const renewTime = new Date().toISOString().replace('Z', '000Z')
    const kept = await ask('GET', `${leases}/${name}`)
    if (kept.status === 200) {
      kept.body.spec.renewTime = renewTime
      await must('PUT', `${leases}/${name}`, kept.body)
    } else {
      const spec = { holderIdentity: name, leaseDurationSeconds: 40, renewTime }
      await must('POST', leases, { metadata: { name }, spec })
    }
  }

  const containers = (pod: Any, state: object, ready: boolean) =>
    pod.spec.containers.map(({ name, image }: Any) => ({
      name,
      image,
      imageID: image,
      ready,
      started: ready,
      restartCount: 0,
      state,
    }))

  const attend = async (pod: Any) => {
    const { name, namespace, uid, deletionTimestamp, labels } = pod.metadata
    const path = `/api/v1/namespaces/${namespace}/pods/${name}`
    if (deletionTimestamp !== undefined) {
      await must('DELETE', path, { gracePeriodSeconds: 0, preconditions: { uid } })
      return
    }
    if (told.has(uid)) return
    told.add(uid)
    const startedAt = new Date().toISOString().replace(/\.\d+/, '')
    const podIP = `10.8.${addresses >> 8}.${addresses++ & 255}`
    const types = ['Initialized', 'Ready', 'ContainersReady', 'PodScheduled']
    const running = {
      phase: 'Running',
      hostIP: '10.9.0.1',
      podIP,
      podIPs: [{ ip: podIP }],
      startTime: startedAt,
      conditions: conditions(types, () => true),
      containerStatuses: containers(pod, { running: { startedAt } }, true),
    }
    await must('PATCH', `${path}/status`, { status: running }, strategic)
    if (pod.spec.restartPolicy === 'Always') return
    await new Promise((resolve) => setTimeout(resolve, runsMs))
    const fails = labels?.fails === 'yes'
    const finishedAt = new Date().toISOString().replace(/\.\d+/, '')
    const terminated = { exitCode: fails ? 1 : 0, reason: 'Ended', startedAt, finishedAt }
    const over = {
      phase: fails ? 'Failed' : 'Succeeded',
      conditions: conditions(['Ready', 'ContainersReady'], () => false),
      containerStatuses: containers(pod, { terminated }, false),
    }
    await must('PATCH', `${path}/status`, { status: over }, strategic)
  }

  const loop = async (everyMs: number, round: () => Promise<void>) => {
    while (!ends) {
      await round().catch((error) => ends || refused.push(String(error)))
      await new Promise((resolve) => setTimeout(resolve, everyMs))
    }
  }
  const awake = (node: string) => nodes.includes(node) && !silent.has(node)
  for (const node of nodes) {
    loop(heartbeatMs, async () => {
      if (awake(node)) await beat(node)
    })
  }
  loop(roundMs, async () => {
    const { body } = await ask('GET', '/api/v1/pods?resourceVersion=0')
    for (const pod of body.items) {
      if (awake(pod.spec.nodeName)) attend(pod).catch((error) => refused.push(String(error)))
    }
  })
  return {
    silence: (node) => silent.add(node),
    wake: (node) => silent.delete(node),
    stop: () => {
      ends = true
    },
    refused,
  }
}
