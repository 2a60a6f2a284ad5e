/** The rules of AuditSink. */
import type { KindRules } from '#kinds/kind-rules.ts'
import { auditSinkBehaviour } from './behaviour.ts'
import { auditSinkDefaults } from './defaults.ts'

export const auditSink: KindRules = {
  behaviour: auditSinkBehaviour,
  finalizerNames: 'any',
  defaults: auditSinkDefaults,
}
