/** The rules of CertificateSigningRequest. */
import type { KindRules } from '#kinds/kind-rules.ts'
import { certificateSigningRequestBehaviour } from './behaviour.ts'
import { certificateSigningRequestColumns } from './columns.ts'
import { certificateSigningRequestDefaults } from './defaults.ts'

export const certificateSigningRequest: KindRules = {
  behaviour: certificateSigningRequestBehaviour,
  columns: certificateSigningRequestColumns,
  olderColumns: [
    { before: 18, without: ['SignerName', 'RequestedDuration'] },
    { before: 22, without: ['RequestedDuration'] },
  ],
  defaults: certificateSigningRequestDefaults,
}
