/**
 * Plugins for PodGroups, whose pods are scheduled together. A new group gets a finalizer that keeps
 * it until all its pods are deleted. In 1.36 two plugins check references of groups and jobs.
 */
import type { KubeObject, Loose, OwnerReference } from '#api/object-meta.ts'
import type { ObjectReader } from '#kinds/reader.ts'
import type { AdmissionPlugin, AdmissionRequest } from './admission.ts'
import { isMain } from './match.ts'
import { refusal } from './refusal.ts'

const group = 'scheduling.k8s.io'
const protection = 'scheduling.k8s.io/podgroup-protection'

const isNewGroup = (request: AdmissionRequest): boolean =>
  request.operation === 'CREATE' && isMain(request, group, 'podgroups')

export const podGroupProtection: AdmissionPlugin = {
  name: 'PodGroupProtection',
  mutate(request) {
    if (!isNewGroup(request)) return
    const { metadata } = request.object as KubeObject
    if (metadata.finalizers?.includes(protection)) return
    metadata.finalizers = [...(metadata.finalizers ?? []), protection]
  },
}

export const podGroupWorkloadExists: AdmissionPlugin = {
  name: 'PodGroupWorkloadExists',
  validate(request, reader) {
    const wanted = request.object?.spec?.podGroupTemplateRef?.workload
    if (isNewGroup(request) && wanted) return requireTemplate(request, wanted, reader)
  },
}

async function requireTemplate(
  request: AdmissionRequest,
  { workloadName, podGroupTemplateName }: Loose,
  reader: ObjectReader,
): Promise<void> {
  const workload = await reader.get(group, 'workloads', request.namespace, workloadName)
  const refuse = (why: string) => refusal(request, `PodGroup rejected: ${why}`)
  if (workload === undefined) throw refuse(`Workload "${workloadName}" not found`)
  if (workload.metadata.deletionTimestamp !== undefined)
    throw refuse(`Workload "${workloadName}" is being deleted`)
  const templates: Loose[] = workload.spec.podGroupTemplates ?? []
  if (templates.some(({ name }) => name === podGroupTemplateName)) return
  throw refuse(`PodGroupTemplate "${podGroupTemplateName}" not found in Workload "${workloadName}"`)
}

/**
 * The JobValidation plugin: the parallelism of a job is immutable if its pods are scheduled
 * together.
 */
export const jobValidation: AdmissionPlugin = {
  name: 'JobValidation',
  validate(request, reader) {
    if (request.operation !== 'UPDATE' || !isMain(request, 'batch', 'jobs')) return
    const [next, old] = [request.object as KubeObject, request.old as KubeObject]
    if (next.spec.parallelism !== old.spec.parallelism) return refuseGang(request, old, reader)
  },
}

async function refuseGang(
  request: AdmissionRequest,
  job: KubeObject,
  reader: ObjectReader,
): Promise<void> {
  const name: string | undefined = job.spec.template?.spec?.schedulingGroup?.podGroupName
  const groups = (await reader.list(group, 'podgroups', request.namespace)).filter(
    ({ metadata }) =>
      name === undefined
        ? metadata.ownerReferences?.some((owner) => isControlledBy(owner, job))
        : metadata.name === name,
  )
  const gang = groups.find(({ spec }) => spec.schedulingPolicy?.gang)
  if (gang === undefined) return
  throw refusal(
    request,
    `cannot change parallelism for a Job referencing gang-scheduled PodGroup "${gang.metadata.name}"`,
  )
}

const isControlledBy = ({ controller, uid }: OwnerReference, { metadata }: KubeObject): boolean =>
  controller === true && uid === metadata.uid
