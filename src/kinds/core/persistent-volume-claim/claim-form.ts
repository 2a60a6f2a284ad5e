/** The spec of a claim, member by member, as kube-apiserver holds it inside. */
import { form } from '#kinds/all-kinds/internal-form.ts'

const source = { APIGroup: 'any', Kind: 'text', Name: 'text' } as const

export const claimSpecForm = form({
  AccessModes: 'values',
  Selector: 'any',
  Resources: { inline: form({ Limits: 'map', Requests: 'map' }) },
  VolumeName: 'text',
  StorageClassName: 'any',
  VolumeMode: 'any',
  DataSource: form(source),
  DataSourceRef: form({ ...source, Namespace: 'any' }),
  VolumeAttributesClassName: 'any',
})
