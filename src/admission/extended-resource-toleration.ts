/**
 * Pods that request an extended resource tolerate the taint of that name, which keeps its nodes
 * free of others.
 */
import type { KubeObject, Loose } from '#api/object-meta.ts'
import { byCodePoint } from '#api/go-syntax.ts'
import { semanticEqual } from '#api/semantic-equal.ts'
import type { AdmissionPlugin } from './admission.ts'
import { isPod, isWrite } from './match.ts'
import { isExtendedResource } from './quota/pod-usage.ts'

export const extendedResourceToleration: AdmissionPlugin = {
  name: 'ExtendedResourceToleration',
  mutate(request) {
    if (!isPod(request) || !isWrite(request)) return
    const { spec } = request.object as KubeObject
    const names = [...(spec.containers ?? []), ...(spec.initContainers ?? [])]
      .flatMap(({ resources }: Loose) => Object.keys(resources?.requests ?? {}))
      .filter(isExtendedResource)
    for (const key of [...new Set(names)].sort(byCodePoint)) {
      addToleration(spec, { key, operator: 'Exists', effect: 'NoSchedule' })
    }
  },
}

/** One that differs only in how long, or how much, is replaced. */
function addToleration(spec: Loose, wanted: Loose): void {
  const list: Loose[] = spec.tolerations ?? []
  const matches = (one: Loose) =>
    one.key === wanted.key &&
    one.effect === wanted.effect &&
    one.operator === wanted.operator &&
    !one.value
  const found = list.find(matches)
  if (found !== undefined && semanticEqual(found, wanted)) return
  spec.tolerations = [...list.filter((one) => !matches(one)), wanted]
}
