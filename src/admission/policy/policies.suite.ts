/**
 * Shared fixtures for tests of policies: a reader with a policy and its bindings, and requests for
 * config maps.
 */
import type { Authorizer } from '#access/authorize.ts'
import { MemoryReader } from '#access/memory-reader.suite.ts'
import type { AdmissionPlugin, AdmissionRequest } from '#admission/admission.ts'
import { AdmissionChain } from '#admission/chain.ts'
import { catalog, kindOf, requestOf, types } from '#admission/requests.suite.ts'
import type { KubeObject, Loose } from '#api/object-meta.ts'
import { releaseOf } from '#api/releases/change.ts'
import { ApiError } from '#api/status-error.ts'
import type { Kind } from '#kinds/kind.ts'
import { Registry } from '#observe/metrics/registry.ts'
import { mutatingPolicyOnceBound, validatingPolicyOnceBound } from './once-configured.ts'
import { policyMeter } from './policy-meter.ts'
import type { PolicyType } from './policy-source.ts'

export const mapKind = kindOf('v1', 'configmaps')

export const rule = (
  resources: string[],
  apiGroups = [''],
  operations = ['*'],
  apiVersions = ['v1'],
): Loose => ({ operations, apiGroups, apiVersions, resources, scope: '*' })

const selectors = { matchPolicy: 'Equivalent', namespaceSelector: {}, objectSelector: {} }
export const constraints = (changes: Loose = {}): Loose => ({
  ...selectors,
  resourceRules: [rule(['configmaps'])],
  ...changes,
})

export const configMap = (data: Loose | undefined, metadata: Loose = {}): KubeObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'c', namespace: 'ns', creationTimestamp: null, ...metadata },
  ...(data && { data }),
})

export const creation = (
  object: KubeObject,
  changes: Partial<AdmissionRequest> = {},
  kind = mapKind,
): AdmissionRequest => requestOf('CREATE', kind, object, changes)

const byKind = (apiVersion: string, kind: string): Kind | undefined => {
  const [version = '', group = ''] = apiVersion.split('/').reverse()
  const plural = kind === 'ConfigMap' ? 'configmaps' : `${kind.toLowerCase()}s`
  return catalog.find(group, version, plural)
}

/** A meter with its own metrics, on a clock that does not advance. */
export function meterOf(minor: number) {
  const registry = new Registry({ release: minor })
  const meter = policyMeter(registry, minor, () => 0)
  return { registry, meter: () => meter }
}

/** Allows the request named `allowed`, at once or after a while. */
export const authorizer = (later: boolean): Authorizer => ({
  name: 'test',
  authorize({ name, user }) {
    const isAllowed = name === 'allowed' || user.name === 'system:serviceaccount:ns:robot'
    const decision = { decision: isAllowed ? 'allow' : 'none', reason: 'because' } as const
    return later ? Promise.resolve(decision) : decision
  },
})

export class Policies {
  readonly reader = new MemoryReader()
  readonly registry: Registry
  readonly #type: PolicyType
  readonly #plugins: AdmissionPlugin[]
  #started: AdmissionChain | undefined

  constructor(type: PolicyType, minor = 37, later = false, others: AdmissionPlugin[] = []) {
    this.#type = type
    const { meter, registry } = meterOf(minor)
    this.registry = registry
    const parts = {
      release: releaseOf(minor),
      authorizer: authorizer(later),
      kindNamed: byKind,
      feature: () => true,
      report: () => {},
      configuration: undefined,
      meter,
      types,
    }
    const plugin =
      type === 'mutating' ? mutatingPolicyOnceBound(parts) : validatingPolicyOnceBound(parts)
    this.#plugins = [plugin, ...others]
    this.reader.put('', 'namespaces', {
      metadata: { name: 'ns', labels: { team: 'a' } },
      status: { phase: 'Active' },
    })
  }

  policy(name: string, spec: Loose): this {
    const whole = { matchConstraints: constraints(), failurePolicy: 'Fail', ...spec }
    this.#put('policies', { metadata: { name }, spec: whole })
    return this
  }

  bind(policyName: string, spec: Loose = {}, name = `${policyName}-binding`): this {
    const whole = { policyName, validationActions: ['Deny'], ...spec }
    this.#put('policybindings', { metadata: { name }, spec: whole })
    return this
  }

  #put(plural: string, object: KubeObject): void {
    this.reader.put('admissionregistration.k8s.io', `${this.#type}admission${plural}`, object)
  }

  remove(plural: 'policies' | 'policybindings', name: string): void {
    this.reader.remove('admissionregistration.k8s.io', `${this.#type}admission${plural}`, '', name)
  }

  /** `admitted`, or the rejection of the request. */
  async outcome(request: AdmissionRequest): Promise<string> {
    if (this.#started === undefined) {
      this.#started = new AdmissionChain(this.#plugins, this.reader)
      await this.#started.start()
    }
    try {
      await this.#started.mutate(request)
      await this.#started.validate(request)
      return 'admitted'
    } catch (error) {
      if (!(error instanceof ApiError)) throw error
      return `${error.code} ${error.reason} ${error.message}`
    }
  }
}
