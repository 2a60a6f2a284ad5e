/** Adds a warning and an audit annotation to requests of a deprecated version. */
import type { Kind } from '#kinds/kind.ts'
import type { Exchange } from '#http/exchange.ts'

export function warnDeprecated({ warnings, auditAnnotations }: Exchange, kind: Kind): void {
  if (kind.deprecation === undefined) return
  warnings.push(kind.deprecation.warning)
  auditAnnotations.set('k8s.io/deprecated', 'true')
  if (kind.deprecation.removedRelease !== '') {
    auditAnnotations.set('k8s.io/removed-release', kind.deprecation.removedRelease)
  }
}
