/** A pod asked to leave: deleted, unless a disruption budget says that it must stay for now. */
import { matchesLabels, selectorOf } from '#api/label-selector.ts'
import type { KubeObject, Loose } from '#api/object-meta.ts'
import { ApiError, badRequest, notFound } from '#api/status-error.ts'
import type { Answer } from '#verbs/answer.ts'
import { currentObject } from '#verbs/current.ts'
import { conformAs } from '#verbs/decode.ts'
import { remove } from '#verbs/delete.ts'
import { type DeleteOptions, deleteOptionsFrom } from '#verbs/delete-options.ts'
import type { Server, Target, WriteRequest } from '#verbs/server.ts'
import { timestamp } from '#verbs/server.ts'
import { raceTriesMax, writeOver } from '#verbs/write-over.ts'
import { admitBody, afterAdmission } from './admit.ts'
import { claimBody } from './body-owners.ts'

/** The first release that has evictions of policy/v1, and shows all of them as such. */
const stableSince = 22

/** The first release in which those that only look are asked before the pod is looked for. */
const admittedFirstSince = 19

/** The first release in which the name is compared with that of the path before the pod is looked for. */
const nameComparedSince = 16

/** Pods remembered in a budget's status while their deletion is under way. */
const disruptedPodsMax = 2000

export async function evict(serving: Server, request: WriteRequest): Promise<Answer> {
  const raw = request.body() as Loose
  const isBeta = raw?.apiVersion === 'policy/v1beta1' || serving.release < stableSince
  const eviction = conformAs(serving, isBeta ? 'policy/v1beta1' : 'policy/v1', 'Eviction', request)
  if (serving.release >= stableSince) eviction.apiVersion = 'policy/v1'
  const { target } = request
  claimBody(serving, request, eviction)
  await admitBody(serving, request, eviction, target.name, async () => {
    if (!eviction.metadata?.name && serving.release < nameComparedSince)
      throw badRequest('Name parameter required.')
    if (eviction.metadata?.name !== target.name)
      throw badRequest('name in URL does not match name in Eviction object')
    if (serving.release >= admittedFirstSince) return
    const found = await currentObject(serving, { ...target, subresource: '' })
    if (found === undefined) throw notFound(target.kind, target.name)
  })
  const server = afterAdmission(serving)
  const podTarget: Target = { ...target, subresource: '' }
  const pod = (await currentObject(server, podTarget))?.object
  if (pod === undefined) throw notFound(target.kind, target.name)
  // A part of another body is of no kind, whatever it calls itself.
  const asked = deleteOptionsFrom({ ...eviction.deleteOptions, kind: '' }, server.release)
  const options: DeleteOptions = { ...asked, dryRun: asked.dryRun || request.options.dryRun }
  if (!ignoresBudgets(pod)) await takeFromBudget(server, request, pod, options)
  await remove(server, {
    ...request,
    target: podTarget,
    deleteOptions: options,
    options: { ...request.options, dryRun: options.dryRun },
  })
  return {
    is: 'value',
    status: 201,
    value: { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', code: 201 },
  }
}

function ignoresBudgets({ status, metadata }: KubeObject): boolean {
  return (
    ['Succeeded', 'Failed', 'Pending'].includes(status?.phase) ||
    metadata.deletionTimestamp !== undefined
  )
}

const isReady = ({ status }: KubeObject): boolean =>
  (status?.conditions ?? []).some(
    ({ type, status: is }: Loose) => type === 'Ready' && is === 'True',
  )

async function takeFromBudget(
  server: Server,
  request: WriteRequest,
  pod: KubeObject,
  options: DeleteOptions,
): Promise<void> {
  const { namespace } = request.target
  const all = await server.reader.list('policy', 'poddisruptionbudgets', namespace)
  const budgets = all.filter(
    ({ spec }) => spec?.selector && matchesLabels(selectorOf(spec.selector), pod.metadata.labels),
  )
  if (budgets.length === 0) return
  if (budgets.length > 1) {
    throw new ApiError(
      500,
      '',
      'This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.',
    )
  }
  const [{ metadata, status }] = budgets
  const healthyEnough = status?.desiredHealthy > 0 && status.currentHealthy >= status.desiredHealthy
  if (!isReady(pod) && healthyEnough) return
  const [kind] = server.catalog.resource('policy', 'poddisruptionbudgets')?.kinds ?? []
  if (kind === undefined) return
  await writeOver(
    server,
    {
      ...request,
      target: { kind, namespace, name: metadata.name as string, subresource: 'status' },
      options: { ...request.options, dryRun: options.dryRun },
    },
    {
      creates: false,
      unconditional: true,
      // Others are evicted under the same budget: whoever comes second takes from what is left.
      retries: raceTriesMax,
      make: (budget) => decrement(budget as KubeObject, pod, timestamp(server.clock)),
    },
  )
}

function decrement(budget: KubeObject, pod: KubeObject, now: string): KubeObject {
  const { name, generation = 0 } = budget.metadata
  const status = (budget.status ??= {})
  const refuse = (cause: string, retryAfterSeconds?: number) =>
    new ApiError(
      429,
      'TooManyRequests',
      "Cannot evict pod as it would violate the pod's disruption budget.",
      {
        causes: [{ reason: 'DisruptionBudget', message: cause }],
        ...(retryAfterSeconds !== undefined && { retryAfterSeconds }),
      },
    )
  if ((status.observedGeneration ?? 0) < generation) {
    throw refuse(`The disruption budget ${name} is still being processed by the server.`, 10)
  }
  if ((status.disruptionsAllowed ?? 0) < 0) {
    throw new ApiError(
      403,
      'Forbidden',
      `poddisruptionbudgets.policy "${name}" is forbidden: pdb disruptions allowed is negative`,
    )
  }
  if (Object.keys(status.disruptedPods ?? {}).length > disruptedPodsMax) {
    throw new ApiError(
      403,
      'Forbidden',
      `poddisruptionbudgets.policy "${name}" is forbidden: DisruptedPods map too big - too many evictions not confirmed by PDB controller`,
    )
  }
  if ((status.disruptionsAllowed ?? 0) === 0) {
    throw refuse(
      `The disruption budget ${name} needs ${status.desiredHealthy ?? 0} healthy pods and has ${status.currentHealthy ?? 0} currently`,
    )
  }
  status.disruptionsAllowed--
  status.disruptedPods = { ...status.disruptedPods, [pod.metadata.name as string]: now }
  return budget
}
