/** The policy plugins as long as no policy is bound: what runs them is loaded with the first. */
import type { AdmissionPlugin } from '#admission/admission.ts'
import { loadLater } from '#base/load-later.ts'
import type { PolicyParts } from './dispatch.ts'
import { PolicySource } from './policy-source.ts'
import type { CompiledMutations } from './mutations.ts'
import type { MutatingParts } from './mutating-policy.ts'
import type { CompiledValidations } from './validations.ts'

const loadValidating = loadLater<typeof import('./validating-policy.ts')>(
  import.meta.url,
  './validating-policy',
)
const loadValidations = loadLater<typeof import('./validations.ts')>(
  import.meta.url,
  './validations',
)

const loadMutating = loadLater<typeof import('./mutating-policy.ts')>(
  import.meta.url,
  './mutating-policy',
)
const loadMutations = loadLater<typeof import('./mutations.ts')>(import.meta.url, './mutations')

export function mutatingPolicyOnceBound(parts: MutatingParts): AdmissionPlugin {
  const source = new PolicySource<CompiledMutations>('mutating', (spec) =>
    loadMutations().compileMutations(spec, parts.release),
  )
  let plugin: AdmissionPlugin | undefined
  return {
    name: 'MutatingAdmissionPolicy',
    start: (reader) => source.follow(reader),
    mutate(request, reader) {
      if (source.isEmpty) return
      plugin ??= loadMutating().mutatingPolicies(parts, source)
      return plugin.mutate?.(request, reader)
    },
  }
}

export function validatingPolicyOnceBound(parts: PolicyParts): AdmissionPlugin {
  const source = new PolicySource<CompiledValidations>(
    'validating',
    (spec) => loadValidations().compileValidations(spec, parts.release),
    () => parts.meter().definition(),
  )
  let plugin: AdmissionPlugin | undefined
  return {
    name: 'ValidatingAdmissionPolicy',
    start: (reader) => source.follow(reader),
    validate(request, reader) {
      if (source.isEmpty) return
      plugin ??= loadValidating().validatingPolicies(parts, source)
      return plugin.validate?.(request, reader)
    },
  }
}
