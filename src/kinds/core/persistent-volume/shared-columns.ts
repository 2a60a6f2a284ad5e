/** Table columns that persistent volumes and claims share. */
import type { KubeObject } from '#api/object-meta.ts'
import { ownValue } from '#kinds/own-key.ts'
import { change } from '#api/releases/change.ts'
import type { OlderColumns } from '#kinds/kind-rules.ts'
import { leaveOut } from '#kinds/columns-of-release.ts'
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

const showsAttributesClass = change(
  'tables of volumes and claims show their VolumeAttributesClass',
  {
    since: 29,
  },
)
const showsOncePod = change('tables of volumes and claims show the mode ReadWriteOncePod', {
  since: 22,
})
const attributesClass = ['VolumeAttributesClass']

export const olderVolumeColumns = (newest: TableColumns): readonly OlderColumns[] => [
  { before: showsOncePod, instead: withoutOncePod(leaveOut(newest, attributesClass)) },
  { before: showsAttributesClass, without: attributesClass },
]

/** Before 1.22 no release knew a mode for a single pod. */
const withoutOncePod = (newest: TableColumns): TableColumns => {
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
