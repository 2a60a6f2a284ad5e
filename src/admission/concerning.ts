/**
 * A plugin that concerns a few resources only, loaded at the first write to one of them. The plugin still decides by
 * itself: here is asked by plural alone, since every write passes.
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
  const mutate: AdmissionPlugin['mutate'] = (request, reader) =>
    plurals.includes(request.kind.plural) ? plugin().mutate?.(request, reader) : undefined
  const validate: AdmissionPlugin['validate'] = (request, reader) =>
    plurals.includes(request.kind.plural) ? plugin().validate?.(request, reader) : undefined
  return {
    name,
    ...(step === 'validate' ? {} : { mutate }),
    ...(step === 'admit' ? {} : { validate }),
  }
}
