/** Evicts a pod: deletes it unless a PodDisruptionBudget forbids that. */
import { LabelSelectorError } from '#api/label-requirement.ts'
import { matchesLabels, selectorOf } from '#api/label-selector.ts'
import type { KubeObject, Loose } from '#api/object-meta.ts'
import { releaseOf, change } from '#api/releases/change.ts'
import { ApiError, badRequest, conflict, notFound } from '#api/status-error.ts'
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
import { beingProcessed, takeDisruption } from './disruption-budget.ts'

const evictionsAreStable = change('evictions are of policy/v1', { since: 22 })

const validatesBeforeLookup = change(
  'validating plugins see an eviction before the pod is looked up',
  { since: 19 },
)

const comparesNames = change('an eviction without a name is rejected because names differ', {
  since: 16,
})

const ignoresUncountedPods = change('evictions of pending or terminating pods use no budget', {
  since: 19,
})

const ignoresUnreadyPods = change(
  'evictions of unready pods use no budget while enough pods are healthy',
  { since: 20 },
)

const reportsUsedUp = change('the status of a used up budget gets a condition', { since: 21 })

/** The field manager of the server's own writes. */
const ownName = 'kube-apiserver'

export async function evict(serving: Server, request: WriteRequest): Promise<Answer> {
  const raw = request.body() as Loose
  const isBeta =
    raw?.apiVersion === 'policy/v1beta1' || !releaseOf(serving.release).has(evictionsAreStable)
  const eviction = conformAs(serving, isBeta ? 'policy/v1beta1' : 'policy/v1', 'Eviction', request)
  if (releaseOf(serving.release).has(evictionsAreStable)) eviction.apiVersion = 'policy/v1'
  const { target } = request
  claimBody(serving, request, eviction)
  await admitBody(serving, request, eviction, target.name, async () => {
    if (!eviction.metadata?.name && !releaseOf(serving.release).has(comparesNames))
      throw badRequest('Name parameter required.')
    if (eviction.metadata?.name !== target.name)
      throw badRequest('name in URL does not match name in Eviction object')
    if (releaseOf(serving.release).has(validatesBeforeLookup)) return
    const found = await currentObject(serving, { ...target, subresource: '' })
    if (found === undefined) throw notFound(target.kind, target.name)
  })
  const server = afterAdmission(serving)
  const podTarget: Target = { ...target, subresource: '' }
  if ((await currentObject(server, podTarget)) === undefined)
    throw notFound(target.kind, target.name)
  // deleteOptions is part of an Eviction, so its kind and apiVersion are ignored.
  const requested = deleteOptionsFrom({ ...eviction.deleteOptions, kind: '' }, server.release)
  const options: DeleteOptions = {
    ...requested,
    dryRun: requested.dryRun || request.options.dryRun,
  }
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

/**
 * A pod that no budget counts must be unchanged when it is deleted, because it may have become
 * countable.
 */
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

/**
 * Deletes the pod. If `found` is set, the pod must be unchanged; returns the conflict if it is not.
 */
async function deletePod(
  server: Server,
  request: DeleteRequest,
  found: KubeObject | undefined,
): Promise<ApiError | undefined> {
  const { deleteOptions } = request
  const isFree = found === undefined || deleteOptions.resourceVersion !== undefined
  const resourceVersion = isFree ? deleteOptions.resourceVersion : found.metadata.resourceVersion
  const options = { ...deleteOptions, resourceVersion }
  try {
    const marked =
      server.feature('PodDisruptionConditions') && !options.dryRun
        ? await markDisrupted(server, request, options)
        : resourceVersion
    await remove(server, { ...request, deleteOptions: { ...options, resourceVersion: marked } })
    return undefined
  } catch (error) {
    if (isFree || !(error instanceof ApiError) || error.code !== 409) throw error
    return error
  }
}

/**
 * Sets the DisruptionTarget condition before the deletion, so that controllers can distinguish
 * evictions from failures. Returns the resourceVersion that the deletion requires, if any.
 */
async function markDisrupted(
  server: Server,
  { target, ...request }: DeleteRequest,
  { uid, resourceVersion }: DeleteOptions,
): Promise<string | undefined> {
  const now = timestamp(server.clock)
  const pod = { group: '', plural: 'Pod' }
  const marking = { ...request, target: { ...target, subresource: 'status' } }
  const { name } = target
  const answer = await writeOver(server, marking, {
    creates: false,
    unconditional: true,
    retries: raceTriesMax,
    make(live) {
      const { metadata } = live as KubeObject
      if (uid !== undefined && uid !== metadata.uid) {
        const why = `the UID in the precondition (${uid}) does not match the UID in record (${metadata.uid}). The object might have been deleted and then recreated`
        throw conflict(pod, name, why)
      }
      if (resourceVersion !== undefined && resourceVersion !== metadata.resourceVersion) {
        const why = `the ResourceVersion in the precondition (${resourceVersion}) does not match the ResourceVersion in record (${metadata.resourceVersion}). The object might have been modified`
        throw conflict(pod, name, why)
      }
      return withDisruption(copyData(live as KubeObject), now)
    },
  })
  if (resourceVersion === undefined) return undefined
  return answer.is === 'object' ? String(answer.view.revision) : resourceVersion
}

function withDisruption(pod: KubeObject, now: string): KubeObject {
  const status = (pod.status ??= {})
  const conditions: Loose[] = (status.conditions ??= [])
  const type = 'DisruptionTarget'
  const at = conditions.findIndex((one) => one.type === type)
  const before = at === -1 ? undefined : conditions[at]
  conditions.splice(at === -1 ? conditions.length : at, 1, {
    type,
    status: 'True',
    lastProbeTime: before?.lastProbeTime ?? null,
    lastTransitionTime: before?.status === 'True' ? before.lastTransitionTime : now,
    reason: 'EvictionByEvictionAPI',
    message: 'Eviction API: evicting',
  })
  return pod
}

/** How budgets count a pod. `over`: it has ended or is being deleted. `waits`: it is pending. */
function stateOf({ status, metadata }: KubeObject, release: number): 'over' | 'waits' | 'counts' {
  if (status?.phase === 'Succeeded' || status?.phase === 'Failed') return 'over'
  if (!releaseOf(release).has(ignoresUncountedPods)) return 'counts'
  if (metadata.deletionTimestamp !== undefined) return 'over'
  return status?.phase === 'Pending' ? 'waits' : 'counts'
}

const isReady = ({ status }: KubeObject): boolean =>
  (status?.conditions ?? []).some(
    ({ type, status: is }: Loose) => type === 'Ready' && is === 'True',
  )

/**
 * Decreases the budget. If the budget permits the eviction of this unready pod without a decrease,
 * returns the name of the budget.
 */
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
  const [{ metadata, spec, status }] = budgets
  const release = releaseOf(server.release)
  if (
    !isReady(pod) &&
    spec?.unhealthyPodEvictionPolicy === 'AlwaysAllow' &&
    server.feature('PDBUnhealthyPodEvictionPolicy')
  ) {
    return metadata.name
  }
  const healthyEnough = status?.desiredHealthy > 0 && status.currentHealthy >= status.desiredHealthy
  const isLeft = releaseOf(server.release).has(ignoresUnreadyPods) && !isReady(pod) && healthyEnough
  if (isLeft) return metadata.name
  const resource = server.catalog.resource('policy', 'poddisruptionbudgets')
  const kind = resource?.kindOf('policy/v1') ?? resource?.kinds[0]
  if (kind === undefined) return undefined
  // The server changes the budget, not the client that requested the eviction.
  const taking = {
    ...request,
    target: { kind, namespace, name: metadata.name as string, subresource: 'status' },
    options: { ...request.options, fieldManager: ownName },
  }
  await writeOver(server, taking, {
    creates: false,
    unconditional: true,
    // Concurrent evictions change the same budget, so a lost race is retried with the new state.
    retries: raceTriesMax,
    async make(budget) {
      const now = timestamp(server.clock)
      const left = takeDisruption(copyData(budget as KubeObject), pod, now, release)
      if (left.status.disruptionsAllowed === 0 && releaseOf(server.release).has(reportsUsedUp))
        setNoneLeft(left.status, now)
      await claimFields(server, taking, left, budget)
      return left
    },
  })
  return undefined
}

/** An invalid selector matches no pods. */
function selects(selector: Loose | undefined, { metadata }: KubeObject): boolean {
  try {
    return matchesLabels(selectorOf(selector), metadata.labels)
  } catch (error) {
    if (error instanceof LabelSelectorError) return false
    throw error
  }
}

function setNoneLeft(status: Loose, now: string): void {
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
