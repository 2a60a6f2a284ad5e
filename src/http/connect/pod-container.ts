/** Selects the container for a request for logs or a connection: the named one, or the only one. */
import type { KubeObject, Loose } from '#api/object-meta.ts'
import { badRequest } from '#api/status-error.ts'
import { containersOf } from '#kinds/pod-template/containers-of.ts'

export function containerFor(pod: KubeObject, requested: string): string {
  const { name } = pod.metadata
  const spec = pod.spec ?? {}
  const own: Loose[] = spec.containers ?? []
  const all = containersOf(spec).map((container) => container.name as string)
  if (requested !== '') {
    if (all.includes(requested)) return requested
    throw badRequest(`container ${requested} is not valid for pod ${name}`)
  }
  if (own.length === 1) return own[0].name
  const choice = own.length === 0 ? '' : `, choose one of: [${all.join(' ')}]`
  throw badRequest(`a container name must be specified for pod ${name}${choice}`)
}
