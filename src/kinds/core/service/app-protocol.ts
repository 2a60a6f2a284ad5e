/** Validation of appProtocol of a port: a qualified name, in releases with the field. */
import { type FieldError, forbidden } from '#api/field-error.ts'
import type { FieldPath } from '#api/field-path.ts'
import { qualifiedName } from '#api/names.ts'
import type { Loose } from '#api/object-meta.ts'
import { change, releaseOf } from '#api/releases/change.ts'
import { each } from '#kinds/all-kinds/checks.ts'
import type { Context } from '#kinds/kind.ts'

const appProtocolNeedsNoGate = change('ports may always set appProtocol', { since: 20 })

/** Whether ports may have an appProtocol. Existing objects with the field may keep it. */
export const mayNameProtocols = (
  { release, feature }: Pick<Context, 'release' | 'feature'>,
  oldPorts: readonly Loose[] = [],
): boolean =>
  releaseOf(release).has(appProtocolNeedsNoGate) ||
  feature('ServiceAppProtocol') ||
  oldPorts.some(({ appProtocol }) => typeof appProtocol === 'string')

export function checkAppProtocol(
  { appProtocol }: Loose,
  path: FieldPath,
  allowed: boolean,
): FieldError[] {
  if (typeof appProtocol !== 'string') return []
  const at = path.child('appProtocol')
  if (allowed) return each(at, appProtocol, qualifiedName(appProtocol))
  return [forbidden(at, 'This field can be enabled with the ServiceAppProtocol feature gate')]
}
