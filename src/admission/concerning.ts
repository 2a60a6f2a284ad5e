/**
 * A plugin that a few resources concern, loaded at the first write to one of them. It still decides by itself: their
 * groups are not asked for.
 */
import type { AdmissionPlugin } from './admission.ts'
import type { Step } from './chain.ts'

export function concerning(
  name: string,
  step: Step | 'both',
  plurals: readonly string[],
  load: () => AdmissionPlugin,
): AdmissionPlugin {
  let loaded: AdmissionPlugin | undefined
  const plugin = () => {
    loaded ??= load()
    return loaded
  }
  const mutate: AdmissionPlugin['mutate'] = (request, reader) => plugin().mutate?.(request, reader)
  const validate: AdmissionPlugin['validate'] = (request, reader) =>
    plugin().validate?.(request, reader)
  return {
    name,
    plurals,
    ...(step === 'validate' ? {} : { mutate }),
    ...(step === 'admit' ? {} : { validate }),
  }
}
