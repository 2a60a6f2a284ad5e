/** The effective security context of a container: its own fields override those of the pod. */
import type { Loose } from '#api/object-meta.ts'

/** Fields that a pod can set for all of its containers. */
const inherited = new Set(['runAsUser', 'runAsGroup', 'runAsNonRoot', 'seLinuxOptions'])

export function effective(spec: Loose, container: Loose, field: string): unknown {
  const own = container.securityContext?.[field]
  return own !== undefined || !inherited.has(field) ? own : spec.securityContext?.[field]
}

/** Sets a field of the container's security context if that changes its effective value. */
export function setOwn(spec: Loose, container: Loose, field: string, value: unknown): void {
  if (value === undefined || effective(spec, container, field) === value) return
  container.securityContext = { ...container.securityContext, [field]: value }
}
