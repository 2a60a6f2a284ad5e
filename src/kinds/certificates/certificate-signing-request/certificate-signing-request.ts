/** The rules of CertificateSigningRequest. */
import { change } from '#api/releases/change.ts'
import type { KindRules } from '#kinds/kind-rules.ts'
import { certificateSigningRequestBehaviour } from './behaviour.ts'
import { certificateSigningRequestColumns } from './columns.ts'
import { certificateSigningRequestDefaults } from './defaults.ts'

export const certificateSigningRequest: KindRules = {
  behaviour: certificateSigningRequestBehaviour,
  columns: certificateSigningRequestColumns,
  olderColumns: [
    {
      before: change('tables of certificate signing requests show the signer', { since: 18 }),
      without: ['SignerName', 'RequestedDuration'],
    },
    {
      before: change('tables of certificate signing requests show the requested duration', {
        since: 22,
      }),
      without: ['RequestedDuration'],
    },
  ],
  defaults: certificateSigningRequestDefaults,
}
