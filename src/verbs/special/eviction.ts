/** A pod asked to leave: deleted, unless a disruption budget says that it must stay for now. */
import { LabelSelectorError } from '#api/label-requirement.ts'
import { matchesLabels, selectorOf } from '#api/label-selector.ts'
import type { KubeObject, Loose } from '#api/object-meta.ts'
import { ApiError, badRequest, forbiddenRequest, notFound } from '#api/status-error.ts'
import { copyData } from '#base/copy-data.ts'
import type { Answer } from '#verbs/answer.ts'
import { currentObject } from '#verbs/current.ts'
import { conformAs } from '#verbs/decode.ts'
import { type DeleteRequest, remove } from '#verbs/delete.ts'
import { type DeleteOptions, deleteOptionsFrom } from '#verbs/delete-options.ts'
import { claimFields } from '#verbs/ownership.ts'
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

/** The first release that asks no budget of a pod that waits for its start, or is going. */
const leavesUncountedSince = 19

/** The first release that takes nothing from a budget for a pod that is not well while enough others are. */
const unreadyLeftSince = 20

/** The first release in which a budget says by a condition that nothing of it is left. */
const noneLeftToldSince = 21

/** What the server is called where it writes an object of its own accord. */
const ownName = 'kube-apiserver'

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
  if ((await currentObject(server, podTarget)) === undefined)
    throw notFound(target.kind, target.name)
  // A part of another body is of no kind, whatever it calls itself.
  const asked = deleteOptionsFrom({ ...eviction.deleteOptions, kind: '' }, server.release)
  const options: DeleteOptions = { ...asked, dryRun: asked.dryRun || request.options.dryRun }
  await deleteUnderBudget(server, {
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

/** A pod that no budget counts is deleted as it was found: it may have become one that counts meanwhile. */
async function deleteUnderBudget(server: Server, request: DeleteRequest): Promise<void> {
  const { target } = request
  for (let i = 0; ; i++) {
    const pod = (await currentObject(server, target))?.object
    if (pod === undefined) throw notFound(target.kind, target.name)
    const state = stateOf(pod, server.release)
    const uncountedBy = state === 'counts' ? await takeFromBudget(server, request, pod) : undefined
    const isAsFound = state === 'waits' || uncountedBy !== undefined
    const lost = await deletePod(server, request, isAsFound ? pod : undefined)
    if (lost === undefined) return
    if (uncountedBy !== undefined) throw beingProcessed(uncountedBy)
    if (i >= raceTriesMax) throw lost
  }
}

/** Answers by what race it was lost, where the pod must be as it was found. */
async function deletePod(
  server: Server,
  request: DeleteRequest,
  found: KubeObject | undefined,
): Promise<ApiError | undefined> {
  const { deleteOptions } = request
  const isFree = found === undefined || deleteOptions.resourceVersion !== undefined
  const resourceVersion = isFree ? deleteOptions.resourceVersion : found.metadata.resourceVersion
  try {
    await remove(server, { ...request, deleteOptions: { ...deleteOptions, resourceVersion } })
    return undefined
  } catch (error) {
    if (isFree || !(error instanceof ApiError) || error.code !== 409) throw error
    return error
  }
}

/** Whether budgets count a pod: of one that has ended or is going it makes no difference any more, of one that waits not yet. */
function stateOf({ status, metadata }: KubeObject, release: number): 'over' | 'waits' | 'counts' {
  if (status?.phase === 'Succeeded' || status?.phase === 'Failed') return 'over'
  if (release < leavesUncountedSince) return 'counts'
  if (metadata.deletionTimestamp !== undefined) return 'over'
  return status?.phase === 'Pending' ? 'waits' : 'counts'
}

const isReady = ({ status }: KubeObject): boolean =>
  (status?.conditions ?? []).some(
    ({ type, status: is }: Loose) => type === 'Ready' && is === 'True',
  )

/** Answers the name of the budget that has nothing to say, as its pod is not well and enough others are. */
async function takeFromBudget(
  server: Server,
  request: WriteRequest,
  pod: KubeObject,
): Promise<string | undefined> {
  const { namespace } = request.target
  const all = await server.reader.list('policy', 'poddisruptionbudgets', namespace)
  const budgets = all.filter(({ spec }) => selects(spec?.selector, pod))
  if (budgets.length === 0) return undefined
  if (budgets.length > 1) {
    throw new ApiError(
      500,
      '',
      'This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.',
    )
  }
  const [{ metadata, status }] = budgets
  const healthyEnough = status?.desiredHealthy > 0 && status.currentHealthy >= status.desiredHealthy
  const isLeft = server.release >= unreadyLeftSince && !isReady(pod) && healthyEnough
  if (isLeft) return metadata.name
  const resource = server.catalog.resource('policy', 'poddisruptionbudgets')
  const kind = resource?.kindOf('policy/v1') ?? resource?.kinds[0]
  if (kind === undefined) return undefined
  // It is this server that takes from the budget, and not who asked for the eviction.
  const taking = {
    ...request,
    target: { kind, namespace, name: metadata.name as string, subresource: 'status' },
    options: { ...request.options, fieldManager: ownName },
  }
  await writeOver(server, taking, {
    creates: false,
    unconditional: true,
    // Others are evicted under the same budget: whoever comes second takes from what is left.
    retries: raceTriesMax,
    async make(budget) {
      const now = timestamp(server.clock)
      const left = decrement(copyData(budget as KubeObject), pod, now)
      if (left.status.disruptionsAllowed === 0 && server.release >= noneLeftToldSince)
        tellNoneLeft(left.status, now)
      await claimFields(server, taking, left, budget)
      return left
    },
  })
  return undefined
}

/** A selector that cannot be selects nothing. */
function selects(selector: Loose | undefined, { metadata }: KubeObject): boolean {
  try {
    return matchesLabels(selectorOf(selector), metadata.labels)
  } catch (error) {
    if (error instanceof LabelSelectorError) return false
    throw error
  }
}

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

const beingProcessed = (name: string): ApiError =>
  refuse(`The disruption budget ${name} is still being processed by the server.`, 10)

const forbidden = (name: string, why: string): ApiError =>
  forbiddenRequest({ group: 'policy', plural: 'poddisruptionbudget' }, name, why)

function decrement(budget: KubeObject, pod: KubeObject, now: string): KubeObject {
  const { name = '', generation = 0 } = budget.metadata
  const status = (budget.status ??= {})
  if ((status.observedGeneration ?? 0) < generation) throw beingProcessed(name)
  if ((status.disruptionsAllowed ?? 0) < 0)
    throw forbidden(name, 'pdb disruptions allowed is negative')
  if (Object.keys(status.disruptedPods ?? {}).length > disruptedPodsMax) {
    const why = 'DisruptedPods map too big - too many evictions not confirmed by PDB controller'
    throw forbidden(name, why)
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

function tellNoneLeft(status: Loose, now: string): void {
  const conditions: Loose[] = (status.conditions ??= [])
  const type = 'DisruptionAllowed'
  const at = conditions.findIndex((one) => one.type === type)
  const before = conditions[at]
  conditions.splice(at === -1 ? conditions.length : at, 1, {
    type,
    status: 'False',
    observedGeneration: status.observedGeneration,
    lastTransitionTime: before?.status === 'False' ? before.lastTransitionTime : now,
    reason: 'InsufficientPods',
    message: '',
  })
}
