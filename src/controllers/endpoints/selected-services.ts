/**
 * Reports a service when it changes, or when a pod that it selects changes or is deleted. Pods that
 * start together lead to one report.
 */
import { labelMatcher } from '#api/label-selector.ts'
import type { KeptOwned, KeptSelecting } from '#controllers/kept.ts'
import type { ControllerParts } from '#controllers/controller.ts'

type Matcher = ReturnType<typeof labelMatcher>

export function reportServices(
  { informers }: Pick<ControllerParts, 'informers'>,
  changed: (key: string) => void,
): void {
  const byNamespace = new Map<string, Map<string, Matcher>>()
  const services = informers.services()
  services.listen({
    changed: ({ namespace, name, selector }: KeptSelecting) => {
      const others = byNamespace.get(namespace) ?? new Map<string, Matcher>()
      byNamespace.set(namespace, others.set(name, labelMatcher(selector)))
      changed(`${namespace}/${name}`)
    },
    deleted: ({ namespace, name }) => {
      const others = byNamespace.get(namespace)
      if (others?.delete(name) && others.size === 0) byNamespace.delete(namespace)
      changed(`${namespace}/${name}`)
    },
  })
  const report = ({ namespace, labels }: KeptOwned) => {
    for (const [name, matches] of byNamespace.get(namespace) ?? [])
      if (matches(labels)) changed(`${namespace}/${name}`)
  }
  informers.ownedPods().listen({
    changed: (pod, previous) => {
      report(pod)
      if (previous !== undefined && previous.labels !== pod.labels) report(previous)
    },
    deleted: report,
  })
}
