/** The behaviours of what extends the API, by group and plural. */
import type { Behaviour } from '#kinds/kind.ts'
import { apiService } from './api-service.ts'
import { auditSink } from './audit-sink.ts'
import { webhookConfiguration } from './webhook-configuration.ts'

export const registrationBehaviours: Readonly<Record<string, Behaviour>> = {
  'admissionregistration.k8s.io/mutatingwebhookconfigurations': webhookConfiguration,
  'admissionregistration.k8s.io/validatingwebhookconfigurations': webhookConfiguration,
  'apiregistration.k8s.io/apiservices': apiService,
  'auditregistration.k8s.io/auditsinks': auditSink,
}
