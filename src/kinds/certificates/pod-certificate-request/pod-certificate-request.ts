/** The rules of PodCertificateRequest. */
import type { KindRules } from '#kinds/kind-rules.ts'
import { podCertificateRequestBehaviour } from './behaviour.ts'
import { podCertificateRequestColumns } from './columns.ts'
import { podCertificateRequestDefaults } from './defaults.ts'

export const podCertificateRequest: KindRules = {
  behaviour: podCertificateRequestBehaviour,
  columns: podCertificateRequestColumns,
  defaults: podCertificateRequestDefaults,
}
