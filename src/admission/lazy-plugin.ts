/**
 * A plugin for a few resources, loaded at the first write to one of them. Resources are matched by
 * their plural alone, so the plugin itself still checks the group.
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
