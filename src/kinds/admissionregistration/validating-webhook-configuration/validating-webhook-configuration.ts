/** The rules of ValidatingWebhookConfiguration. */
import { change } from '#api/releases/change.ts'
import { webhookConfigurationColumns } from '#kinds/admissionregistration/webhook-columns.ts'
import { webhookConfigurationBehaviour } from '#kinds/admissionregistration/webhook-configuration.ts'
import { webhookConfigurationDefaults } from '#kinds/admissionregistration/webhook-defaults.ts'
import type { KindRules } from '#kinds/kind-rules.ts'

export const validatingWebhookConfiguration: KindRules = {
  behaviour: webhookConfigurationBehaviour,
  finalizerNames: 'any',
  columns: webhookConfigurationColumns,
  olderColumns: [
    {
      before: change('tables of validating webhook configurations count webhooks', { since: 18 }),
      without: 'everything',
    },
  ],
  defaults: webhookConfigurationDefaults,
}
