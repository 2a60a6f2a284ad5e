/** Table columns of PodSecurityPolicy. */
import { column, nameColumn } from '#kinds/all-kinds/column.ts'
import type { TableColumns } from '#kinds/table-columns.ts'

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
