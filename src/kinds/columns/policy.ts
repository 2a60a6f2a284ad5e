/** Columns of PodDisruptionBudget and PodSecurityPolicy. */
import type { TableColumns } from '#kinds/table-columns.ts'
import { ageOf } from './age.ts'
import { ageColumn, column, nameColumn } from './column.ts'

const budget = (value: unknown): string => (value === undefined ? 'N/A' : String(value))

export const podDisruptionBudgetColumns: TableColumns = {
  columns: [
    nameColumn,
    column('Min Available', 'How many pods must stay.'),
    column('Max Unavailable', 'How many pods may be gone.'),
    column('Allowed Disruptions', 'How many pods may go now.', 'integer'),
    ageColumn,
  ],
  cells: (object, now) => [
    object.metadata.name,
    budget(object.spec?.minAvailable),
    budget(object.spec?.maxUnavailable),
    object.status?.disruptionsAllowed ?? 0,
    ageOf(object, now),
  ],
}

export const podSecurityPolicyColumns: TableColumns = {
  columns: [
    nameColumn,
    column('Priv', 'Whether pods may be privileged.'),
    column('Caps', 'Capabilities containers may ask for.'),
    column('SELinux', 'Rule for SELinux labels.'),
    column('RunAsUser', 'Rule for users.'),
    column('FsGroup', 'Rule for file system groups.'),
    column('SupGroup', 'Rule for further groups.'),
    column('ReadOnlyRootFs', 'Whether the root file system must be read-only.'),
    column('Volumes', 'Kinds of volumes pods may use.'),
  ],
  cells: (object) => {
    const spec = object.spec ?? {}
    return [
      object.metadata.name,
      String(spec.privileged ?? false),
      (spec.allowedCapabilities ?? []).join(','),
      spec.seLinux?.rule ?? '',
      spec.runAsUser?.rule ?? '',
      spec.fsGroup?.rule ?? '',
      spec.supplementalGroups?.rule ?? '',
      spec.readOnlyRootFilesystem ?? false,
      (spec.volumes ?? []).join(','),
    ]
  },
}
