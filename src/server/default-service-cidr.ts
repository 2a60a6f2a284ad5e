/**
 * The ServiceCIDR `kubernetes`, created from --service-cluster-ip-range. It is created if it does
 * not exist, and marked as ready. Its blocks are never replaced: services may have their addresses.
 */
import type { KubeObject, Loose } from '#api/object-meta.ts'
import { ApiError } from '#api/status-error.ts'
import type { ApiClient, ResourceRef } from '#client/client.ts'

export interface DefaultCidr {
  readonly resource: ResourceRef
  /** The block of the default family comes first. */
  readonly blocks: readonly string[]
  readonly nowMs: () => number
}

const name = 'kubernetes'
const manager = 'kubernetes-service-cidr-controller'

const hasReason = (error: unknown, reason: string) =>
  error instanceof ApiError && error.reason === reason

export async function ensureDefaultCidr(client: ApiClient, cidr: DefaultCidr): Promise<void> {
  const { resource, blocks } = cidr
  const there = await client.get(resource, '', name).catch((error) => {
    if (!hasReason(error, 'NotFound')) throw error
  })
  if (there !== undefined) return look(client, cidr, there)
  const made = { metadata: { name }, spec: { cidrs: [...blocks] } }
  const created = await client.create(resource, '', made).catch((error) => {
    if (!hasReason(error, 'AlreadyExists')) throw error
  })
  if (created !== undefined) await look(client, cidr, created)
}

async function look(client: ApiClient, cidr: DefaultCidr, there: KubeObject): Promise<void> {
  const { resource, blocks } = cidr
  const has: string[] = there.spec?.cidrs ?? []
  // A single-stack cluster becomes dual-stack.
  if (blocks.length === 2 && has.length === 1 && has[0] === blocks[0]) {
    await client.update(resource, { ...there, spec: { cidrs: [...blocks] } })
    return
  }
  if (there.metadata.deletionTimestamp !== undefined || has.join() !== blocks.join()) return
  const conditions: Loose[] = there.status?.conditions ?? []
  const status = conditions.find(({ type }) => type === 'Ready')?.status ?? 'Unknown'
  if (status === 'Unknown') await setReady(client, cidr)
}

async function setReady(client: ApiClient, { resource, nowMs }: DefaultCidr): Promise<void> {
  const condition = {
    type: 'Ready',
    status: 'True',
    message: 'Kubernetes default Service CIDR is ready',
    lastTransitionTime: new Date(nowMs()).toISOString().replace(/\.\d+/, ''),
  }
  const object = { metadata: { name }, status: { conditions: [condition] } }
  await client.apply(resource, object, manager, 'status')
}
