/** What the tables of persistent volumes and of claims for them show alike. */
import type { KubeObject } from '#api/object-meta.ts'
import { ownValue } from '#kinds/own-key.ts'
import type { TableColumns } from '#kinds/table-columns.ts'

const modeWords: [string, string][] = [
  ['ReadWriteOnce', 'RWO'],
  ['ReadOnlyMany', 'ROX'],
  ['ReadWriteMany', 'RWX'],
  ['ReadWriteOncePod', 'RWOP'],
]

export const accessModes = (modes: string[] | undefined): string =>
  modeWords
    .filter(([mode]) => modes?.includes(mode))
    .map(([, word]) => word)
    .join(',')

export const phaseOf = (object: KubeObject): string =>
  object.metadata.deletionTimestamp ? 'Terminating' : (object.status?.phase ?? '')

export const classOf = (object: KubeObject): string =>
  ownValue(object.metadata.annotations, 'volume.beta.kubernetes.io/storage-class') ??
  object.spec?.storageClassName ??
  ''

/** Before 1.22 no release knew a mode for a single pod. */
export const withoutOncePod = (newest: TableColumns): TableColumns => {
  const at = newest.columns.findIndex(({ name }) => name === 'Access Modes')
  return {
    ...newest,
    cells(object, now) {
      const cells = newest.cells(object, now)
      const words = String(cells[at]).split(',')
      return cells.with(at, words.filter((word) => word !== 'RWOP').join(','))
    },
  }
}
