/**
 * Adds a toleration to pods that request an extended resource. Operators taint nodes with the
 * resource's name to keep other pods away.
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

/** Replaces a toleration that differs only in its duration or amount. */
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
