/** Columns of Namespace, ResourceQuota, PriorityClass, Lease, ComponentStatus and StorageVersion. */
import { namesInOrder } from '#api/go-syntax.ts'
import type { KubeObject, Loose } from '#api/object-meta.ts'
import { ownValue } from '#kinds/own-key.ts'
import type { TableColumns } from '#kinds/table-columns.ts'
import { ageOf } from './age.ts'
import { ageColumn, column, nameColumn, withMore } from './column.ts'

export const namespaceColumns: TableColumns = {
  columns: [nameColumn, column('Status', 'Whether it is active or being emptied.'), ageColumn],
  cells: (object, now) => [object.metadata.name, object.status?.phase ?? '', ageOf(object, now)],
}

export const resourceQuotaColumns: TableColumns = {
  columns: [
    nameColumn,
    ageColumn,
    column('Request', 'Used and allowed amounts of what is requested.'),
    column('Limit', 'Used and allowed amounts of limits.'),
  ],
  cells: (object, now) => {
    const names = namesInOrder(object.status?.hard ?? {})
    const isLimit = (name: string) => name.startsWith('limits.')
    const shown = (list: string[]) => list.map((name) => usage(object, name)).join(', ')
    return [
      object.metadata.name,
      ageOf(object, now),
      shown(names.filter((name) => !isLimit(name))),
      shown(names.filter(isLimit)),
    ]
  },
}

const usage = (quota: KubeObject, name: string): string =>
  `${name}: ${ownValue(quota.status.used, name) ?? '0'}/${quota.status.hard[name]}`

export const priorityClassColumns: TableColumns = {
  columns: [
    nameColumn,
    column('Value', 'The priority: the higher, the sooner.', 'integer'),
    column('Global-Default', 'Whether pods without a class get this one.', 'boolean'),
    ageColumn,
  ],
  cells: (object, now) => [
    object.metadata.name,
    object.value ?? 0,
    object.globalDefault ?? false,
    ageOf(object, now),
  ],
}

export const leaseColumns: TableColumns = {
  columns: [nameColumn, column('Holder', 'Who holds the lease now.'), ageColumn],
  cells: (object, now) => [
    object.metadata.name,
    object.spec?.holderIdentity ?? '',
    ageOf(object, now),
  ],
}

export const componentStatusColumns: TableColumns = {
  columns: [
    nameColumn,
    column('Status', 'Whether the component is healthy.'),
    column('Message', 'What the component said.'),
    column('Error', 'What went wrong when it was asked.'),
  ],
  cells: (object) => {
    const healthy = (object.conditions ?? []).find((c: Loose) => c.type === 'Healthy')
    const status = healthy?.status === 'True' ? 'Healthy' : 'Unhealthy'
    return [
      object.metadata.name,
      healthy ? status : 'Unknown',
      healthy?.message ?? '',
      healthy?.error ?? '',
    ]
  },
}

export const storageVersionColumns: TableColumns = {
  columns: [
    nameColumn,
    column('CommonEncodingVersion', 'The version all servers write, where they agree.'),
    column('StorageVersions', 'The version each server writes.'),
    ageColumn,
  ],
  cells: (object, now) => [
    object.metadata.name,
    object.status?.commonEncodingVersion ?? '<unset>',
    withMore(
      (object.status?.storageVersions ?? []).map(
        (server: Loose) => `${server.apiServerID ?? ''}=${server.encodingVersion ?? ''}`,
      ),
      3,
      '<unset>',
    ),
    ageOf(object, now),
  ],
}
