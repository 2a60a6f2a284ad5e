/**
 * A plugin for a few resources that is loaded with the first write to one of them. Resources are
 * matched only by their plural, so the plugin must check the group.
 */
import type { AdmissionPlugin } from './admission.ts'
import type { AdmissionStep } from './chain.ts'

export function lazyPlugin(
  name: string,
  step: AdmissionStep | 'both',
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
