/** Table columns of Node. */
import { byCodePoint } from '#api/go-syntax.ts'
import type { KubeObject, Loose } from '#api/object-meta.ts'
import { ageOf } from '#kinds/all-kinds/age.ts'
import { ageColumn, column, nameColumn, wideColumn } from '#kinds/all-kinds/column.ts'
import type { TableColumns } from '#kinds/table-columns.ts'

const rolePrefix = 'node-role.kubernetes.io/'

function rolesOf(node: KubeObject): string {
  const labels = node.metadata.labels ?? {}
  const roles = new Set<string>()
  for (const key of Object.keys(labels)) {
    if (key.startsWith(rolePrefix) && key !== rolePrefix) roles.add(key.slice(rolePrefix.length))
    else if (key === 'kubernetes.io/role' && labels[key]) roles.add(labels[key])
  }
  return [...roles].sort(byCodePoint).join(',') || '<none>'
}

function statusOf(node: KubeObject): string {
  const ready = (node.status?.conditions ?? []).findLast((c: Loose) => c.type === 'Ready')
  const words = [ready ? (ready.status === 'True' ? 'Ready' : 'NotReady') : 'Unknown']
  if (node.spec?.unschedulable) words.push('SchedulingDisabled')
  return words.join(',')
}

const addressOf = (node: KubeObject, type: string): string =>
  (node.status?.addresses ?? []).find((a: Loose) => a.type === type)?.address ?? '<none>'

const columns = [
  nameColumn,
  column('Status', 'Whether the node is ready and takes pods.'),
  column('Roles', 'What the node is for.'),
  ageColumn,
  column('Version', 'Version of its kubelet.'),
  wideColumn('Internal-IP', 'Address within the cluster.'),
  wideColumn('External-IP', 'Address from outside.'),
  wideColumn('OS-Image', 'Its operating system.'),
  wideColumn('Kernel-Version', 'Its kernel.'),
  wideColumn('Container-Runtime', 'What runs its containers.'),
]

const columnsWith = (kernelOf: (info: Loose) => string): TableColumns => ({
  columns,
  cells: (object, now) => {
    const info = object.status?.nodeInfo ?? {}
    return [
      object.metadata.name,
      statusOf(object),
      rolesOf(object),
      ageOf(object, now),
      info.kubeletVersion ?? '',
      addressOf(object, 'InternalIP'),
      addressOf(object, 'ExternalIP'),
      info.osImage || '<unknown>',
      kernelOf(info),
      info.containerRuntimeVersion || '<unknown>',
    ]
  },
})

const kernelOf = ({ kernelVersion }: Loose): string => kernelVersion || '<unknown>'

export const nodeColumns = columnsWith((info) =>
  info.architecture ? `${kernelOf(info)} (${info.architecture})` : kernelOf(info),
)
export const nodeColumnsBefore36 = columnsWith(kernelOf)
