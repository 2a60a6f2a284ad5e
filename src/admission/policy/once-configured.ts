/**
 * The policy plugins while no policy has a binding. The code that evaluates policies is loaded with
 * the first binding.
 */
import type { AdmissionPlugin } from '#admission/admission.ts'
import type { Loose } from '#api/object-meta.ts'
import { loadLater } from '#base/load-later.ts'
import type { PolicyParts } from './dispatch.ts'
import { PolicySource, type PolicyType } from './policy-source.ts'
import type { CompiledMutations } from './mutations.ts'
import type { MutatingParts } from './mutating-policy.ts'
import type { Manifests } from './static-manifests.ts'
import type { CompiledValidations } from './validations.ts'

const later = <Module>(path: string) => loadLater<Module>(import.meta.url, path)
const loadValidating = later<typeof import('./validating-policy.ts')>('./validating-policy')
const loadValidations = later<typeof import('./validations.ts')>('./validations')
const loadMutating = later<typeof import('./mutating-policy.ts')>('./mutating-policy')
const loadMutations = later<typeof import('./mutations.ts')>('./mutations')
const loadDirectory = later<typeof import('./manifest-directory.ts')>('./manifest-directory')

/** What the plugin's configuration needs. */
interface Configured {
  readonly feature: (gate: string) => boolean
  readonly report: (message: string) => void
  readonly configuration: Loose | undefined
}

/** Loads the manifests that the configuration names. Throws an Error if they are invalid. */
function loadManifests(
  type: PolicyType,
  { release, kindNamed, feature, report, configuration }: PolicyParts & Configured,
  source: PolicySource<unknown>,
): void {
  if (configuration === undefined) return
  const parts = { release: release.minor, kindNamed, feature }
  const { manifestDirectory, followManifests } = loadDirectory()
  const directory = manifestDirectory(configuration, type, parts)
  if (directory === undefined) return
  const loaded = ({ policies, bindings }: Manifests) => source.load(policies, bindings)
  try {
    followManifests({ directory, type, parts, report, loaded })
  } catch (error) {
    const why = (error as Error).message
    throw new Error(`failed to load static policy manifests from "${directory}": ${why}`)
  }
}

export function mutatingPolicyOnceBound(parts: MutatingParts & Configured): AdmissionPlugin {
  const source = new PolicySource<CompiledMutations>({
    type: 'mutating',
    release: parts.release,
    compile: (spec) => loadMutations().compileMutations(spec, parts.release),
  })
  loadManifests('mutating', parts, source)
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

export function validatingPolicyOnceBound(parts: PolicyParts & Configured): AdmissionPlugin {
  const source = new PolicySource<CompiledValidations>({
    type: 'validating',
    release: parts.release,
    compile: (spec) => loadValidations().compileValidations(spec, parts.release),
    defined: () => parts.meter().definition(),
  })
  loadManifests('validating', parts, source)
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
