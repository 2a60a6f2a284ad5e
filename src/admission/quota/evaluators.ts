/**
 * The evaluators of all kinds that quotas count. Four kinds have their own rules; all others are
 * counted by number of objects.
 */
import { change } from '#api/releases/change.ts'
import { quantityOf } from '#api/quantity.ts'
import { byText } from '#base/by-text.ts'
import { claimEvaluator } from './claim-usage.ts'
import type { Evaluator, Settings } from './evaluator.ts'
import { deviceEvaluator } from './device-usage.ts'
import { podEvaluator } from './pod-usage.ts'
import { serviceEvaluator } from './service-usage.ts'

const countsDevices = change('quotas count devices by device class', { since: 31 })

const countName = (group: string, plural: string): string =>
  group === '' ? `count/${plural}` : `count/${plural}.${group}`

/** Older resource names for the number of objects of some kinds. */
const aliases: Readonly<Record<string, string>> = {
  '/configmaps': 'configmaps',
  '/resourcequotas': 'resourcequotas',
  '/replicationcontrollers': 'replicationcontrollers',
  '/secrets': 'secrets',
}

/** Kinds that are never stored, and events, which kube-apiserver never counts. */
const ignored = new Set([
  '/bindings',
  '/componentstatuses',
  '/events',
  'authentication.k8s.io/tokenreviews',
  'authorization.k8s.io/subjectaccessreviews',
  'authorization.k8s.io/selfsubjectaccessreviews',
  'authorization.k8s.io/localsubjectaccessreviews',
  'authorization.k8s.io/selfsubjectrulesreviews',
  'authentication.k8s.io/selfsubjectreviews',
])

export class Evaluators {
  readonly #special: ReadonlyMap<string, Evaluator>
  /** A bounded cache of evaluators for all other kinds, including custom kinds. */
  readonly #others = byText((key) => {
    const [group = '', plural = ''] = key.split('/')
    return objectCount(group, plural, aliases[key])
  })

  constructor(settings: Settings) {
    this.#special = new Map([
      ['/pods', podEvaluator(settings)],
      ['/services', serviceEvaluator(settings)],
      ['/persistentvolumeclaims', claimEvaluator(settings)],
      ...(settings.release.has(countsDevices) && settings.feature('DynamicResourceAllocation')
        ? [['resource.k8s.io/resourceclaims', deviceEvaluator(settings)] as const]
        : []),
    ])
  }

  /** Undefined for resources that quotas do not count. */
  of(group: string, plural: string): Evaluator | undefined {
    const key = `${group}/${plural}`
    return ignored.has(key) ? undefined : (this.#special.get(key) ?? this.#others(key))
  }
}

function objectCount(group: string, plural: string, alias: string | undefined): Evaluator {
  const names = [countName(group, plural), ...(alias === undefined ? [] : [alias])]
  const one = new Map(names.map((name) => [name, quantityOf(1)]))
  return {
    handles: ({ operation, subresource }) => operation === 'CREATE' && subresource === '',
    counts: (name) => names.includes(name),
    inScope: () => false,
    usage: () => one,
  }
}
