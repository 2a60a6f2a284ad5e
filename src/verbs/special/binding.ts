/**
 * Binds a pod to a node. This is the scheduler's only write, and the only way to set spec.nodeName
 * after creation.
 */
import { type FieldError, notSupported, required } from '#api/field-error.ts'
import { refuseUnfitName } from '#api/name-parameter.ts'
import type { Loose } from '#api/object-meta.ts'
import { change, releaseOf } from '#api/releases/change.ts'
import {
  type ApiError,
  badRequest,
  conflict,
  invalidObject,
  notFound,
  preconditionFailed,
  preconditionProblem,
} from '#api/status-error.ts'
import type { Answer } from '#verbs/answer.ts'
import { currentObject } from '#verbs/current.ts'
import { conformAs } from '#verbs/decode.ts'
import { keyOf, type Server, type Target, timestamp, type WriteRequest } from '#verbs/server.ts'
import { raceTriesMax, writeOver } from '#verbs/write-over.ts'
import { admitBody, afterAdmission } from './admit.ts'
import { claimBody } from './body-owners.ts'

const bindsByVersion = change('a binding can name the uid and version of its pod', { since: 23 })
const bindsReadyPods = change('a pod with scheduling gates cannot be bound', { since: 26 })

export async function bindPod(server: Server, request: WriteRequest): Promise<Answer> {
  const binding = conformAs(server, 'v1', 'Binding', request)
  const bound = binding.metadata.name ?? ''
  const name = request.target.name || bound
  claimBody(server, request, binding)
  await admitBody(server, request, binding, name, () => {
    if ((binding.metadata?.name ?? '') !== name)
      throw badRequest('name in URL does not match name in Binding object')
    const errors = bindingErrors(binding)
    if (errors.length > 0) throw invalidObject({ group: '', kind: 'Binding' }, name, errors)
  })
  refuseUnfitName(name)
  const pods = server.catalog.find('', 'v1', 'pods')
  if (pods === undefined) throw notFound({ group: '', plural: 'pods' }, name)
  const target: Target = { ...request.target, kind: pods, name, subresource: 'binding' }
  if ((await currentObject(server, target)) === undefined)
    throw notFound({ group: '', plural: 'pods' }, name)
  await writeOver(
    afterAdmission(server),
    { ...request, target },
    {
      creates: false,
      unconditional: true,
      // Concurrent changes of the pod do not matter to the scheduler, so lost races are retried.
      retries: raceTriesMax,
      make: (pod) => {
        requirePreconditions(server, target, pod as Loose, binding)
        return assign(server, pod as Loose, binding, name)
      },
    },
  )
  return created
}

const created: Answer = {
  is: 'value',
  status: 201,
  value: { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', code: 201 },
}

function bindingErrors({ target }: Loose): FieldError[] {
  const errors: FieldError[] = []
  if (target?.kind !== undefined && target.kind !== '' && target.kind !== 'Node') {
    errors.push(notSupported('target.kind', target.kind, ['Node', '<empty>']))
  }
  if (!target?.name) errors.push(required('target.name'))
  return errors
}

function requirePreconditions(
  { release }: Server,
  { kind, namespace, name }: Target,
  { metadata }: Loose,
  { metadata: { uid, resourceVersion } }: Loose,
): void {
  if (!releaseOf(release).has(bindsByVersion)) return
  const expect = (what: 'UID' | 'ResourceVersion', wanted: string, found: string) => {
    if (!wanted || wanted === found) return
    const why = preconditionFailed(what, wanted, found)
    throw conflict(kind, name, preconditionProblem(keyOf(kind, namespace, name), why))
  }
  expect('UID', uid, metadata.uid)
  expect('ResourceVersion', resourceVersion, metadata.resourceVersion)
}

function assign(
  { clock, feature, release }: Server,
  pod: Loose,
  binding: Loose,
  name: string,
): never {
  const now = timestamp(clock)
  const refuse = (why: string): ApiError =>
    conflict({ group: '', plural: 'pods/binding' }, name, why)
  if (pod.metadata.deletionTimestamp !== undefined) {
    throw refuse(`pod ${name} is being deleted, cannot be assigned to a host`)
  }
  if (pod.spec.nodeName) {
    throw refuse(`pod ${name} is already assigned to node "${pod.spec.nodeName}"`)
  }
  if (pod.spec.schedulingGates?.length && releaseOf(release).has(bindsReadyPods))
    throw refuse(`pod ${name} has non-empty .spec.schedulingGates`)
  pod.spec.nodeName = binding.target.name
  const { annotations, labels } = binding.metadata
  if (annotations !== undefined)
    pod.metadata.annotations = { ...pod.metadata.annotations, ...annotations }
  if (labels !== undefined && feature('PodTopologyLabelsAdmission'))
    pod.metadata.labels = { ...pod.metadata.labels, ...labels }
  pod.status ??= {}
  if (feature('ClearingNominatedNodeNameAfterBinding')) delete pod.status.nominatedNodeName
  const conditions: Loose[] = (pod.status.conditions ??= [])
  const at = conditions.findIndex(({ type }) => type === 'PodScheduled')
  const before = conditions[at]
  // Replaces the whole condition, because an earlier reason for not scheduling the pod is obsolete.
  conditions.splice(at === -1 ? conditions.length : at, 1, {
    type: 'PodScheduled',
    status: 'True',
    lastProbeTime: null,
    lastTransitionTime: before?.status === 'True' ? before.lastTransitionTime : now,
  })
  return pod as never
}
