/** A request of a deprecated version is answered, with a warning and a mark in the audit log. */
import type { Exchange } from '#http/exchange.ts'
import type { HttpParts } from '#http/parts.ts'

export function warnDeprecated(
  { target, warnings, auditAnnotations }: Exchange,
  parts: HttpParts,
): void {
  if (!target.isResource) return
  const kind = parts.server.catalog.find(target.group, target.version, target.resource)
  if (kind?.deprecation === undefined) return
  warnings.push(kind.deprecation.warning)
  auditAnnotations.set('k8s.io/deprecated', 'true')
  if (kind.deprecation.removedRelease !== '') {
    auditAnnotations.set('k8s.io/removed-release', kind.deprecation.removedRelease)
  }
}
