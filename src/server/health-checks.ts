/**
 * The checks of the health endpoints: the store and the stages of the start. Stages have the names
 * of kube-apiserver's post-start hooks. A check passes when the corresponding work of this server
 * is complete.
 */
import { change, isWithin, type Release, releaseOf, type Span } from '#api/releases/change.ts'
import type { HealthCheck } from '#observe/health.ts'

/**
 * The releases and the feature gate in which a stage exists, and whether it depends on priority and
 * fairness.
 */
interface When extends Span {
  readonly fair?: boolean
  readonly gate?: string
}

/**
 * From this release on, kube-apiserver registers the stages of its controllers before it installs
 * its own APIs.
 */
const apisLast = 31
const apisFirst = apisLast - 1

/**
 * The stages in display order, each with the part of the start that it waits for. A stage that
 * moved between releases has several rows.
 */
const stages: readonly (readonly [string, Part, When?])[] = [
  ['poststarthook/start-kube-apiserver-admission-initializer', 'server', { since: 17, until: 29 }],
  ['poststarthook/start-apiserver-admission-initializer', 'server', { since: 30 }],
  ['poststarthook/generic-apiserver-start-informers', 'server'],
  ['poststarthook/priority-and-fairness-config-consumer', 'server', { since: 18, fair: true }],
  ['poststarthook/priority-and-fairness-filter', 'server', { since: 19, fair: true }],
  ['poststarthook/max-in-flight-filter', 'server', { since: 19, fair: false }],
  ['poststarthook/storage-object-count-tracker-hook', 'server', { since: 25 }],
  ['poststarthook/start-apiextensions-informers', 'definitions'],
  ['poststarthook/start-apiextensions-controllers', 'definitions'],
  ['poststarthook/crd-informer-synced', 'definitions'],
  ['poststarthook/bootstrap-controller', 'objects', { until: 27 }],
  ['poststarthook/start-service-ip-repair-controllers', 'objects', { since: 28, until: apisFirst }],
  ['poststarthook/rbac/bootstrap-roles', 'roles', { until: apisFirst }],
  ['poststarthook/scheduling/bootstrap-system-priority-classes', 'objects', { until: apisFirst }],
  [
    'poststarthook/priority-and-fairness-config-producer',
    'objects',
    { since: 20, until: apisFirst },
  ],
  ['poststarthook/start-system-namespaces-controller', 'objects', { since: 27 }],
  ['poststarthook/bootstrap-controller', 'objects', { since: 28, until: apisFirst }],
  [
    'poststarthook/start-kubernetes-service-cidr-controller',
    'objects',
    { since: 29, until: apisFirst, gate: 'MultiCIDRServiceAllocator' },
  ],
  [
    'poststarthook/peer-endpoint-reconciler-controller',
    'objects',
    { since: 28, gate: 'UnknownVersionInteroperabilityProxy' },
  ],
  ['poststarthook/ca-registration', 'objects', { until: 16 }],
  ['poststarthook/start-cluster-authentication-info-controller', 'objects', { since: 17 }],
  [
    'poststarthook/start-kube-apiserver-identity-lease-controller',
    'server',
    { since: 20, gate: 'APIServerIdentity' },
  ],
  [
    'poststarthook/start-deprecated-kube-apiserver-identity-lease-garbage-collector',
    'server',
    { since: 27, until: 28, gate: 'APIServerIdentity' },
  ],
  [
    'poststarthook/start-kube-apiserver-identity-lease-garbage-collector',
    'server',
    { since: 20, gate: 'APIServerIdentity' },
  ],
  [
    'poststarthook/storage-readiness',
    'server',
    { since: 31, gate: 'WatchCacheInitializationPostStartHook' },
  ],
  [
    'poststarthook/start-legacy-token-tracking-controller',
    'objects',
    { since: 26, gate: 'LegacyServiceAccountTokenTracking' },
  ],
  ['poststarthook/start-service-ip-repair-controllers', 'objects', { since: apisLast }],
  ['poststarthook/rbac/bootstrap-roles', 'roles', { since: apisLast }],
  ['poststarthook/scheduling/bootstrap-system-priority-classes', 'objects', { since: apisLast }],
  ['poststarthook/priority-and-fairness-config-producer', 'objects', { since: apisLast }],
  ['poststarthook/bootstrap-controller', 'objects', { since: apisLast }],
  [
    'poststarthook/start-kubernetes-service-cidr-controller',
    'objects',
    { since: apisLast, gate: 'MultiCIDRServiceAllocator' },
  ],
  ['poststarthook/start-kube-apiserver-admission-initializer', 'server', { until: 16 }],
  ['poststarthook/start-kube-aggregator-informers', 'server'],
  ['poststarthook/apiservice-status-local-available-controller', 'server', { since: 31 }],
  ['poststarthook/apiservice-status-remote-available-controller', 'server', { since: 31 }],
  ['poststarthook/apiservice-registration-controller', 'server'],
  ['poststarthook/apiservice-status-available-controller', 'server', { until: 30 }],
  ['poststarthook/apiservice-discovery-controller', 'server', { since: 30 }],
  ['poststarthook/apiservice-openapi-controller', 'server', { until: 15 }],
  ['poststarthook/kube-apiserver-autoregistration', 'server'],
  ['autoregister-completion', 'server'],
  ['poststarthook/apiservice-openapi-controller', 'server', { since: 16 }],
  ['poststarthook/apiservice-openapiv3-controller', 'server', { since: 24, gate: 'OpenAPIV3' }],
  [
    'poststarthook/apiservice-discovery-controller',
    'server',
    { since: 26, until: 29, gate: 'AggregatedDiscoveryEndpoint' },
  ],
]

const has = (when: When, { release, fair, feature }: HealthOptions): boolean =>
  isWithin(when, release) &&
  (when.fair === undefined || when.fair === fair) &&
  (when.gate === undefined || feature(when.gate))

const certificateIsChecked = change('healthz and livez check the loopback certificate', {
  since: 36,
})
const storeReadinessIsChecked = change('readyz has a check of its own for the store', { since: 25 })

const well = (name: string): HealthCheck => ({ name, check: () => undefined })
const first: readonly HealthCheck[] = [well('ping'), well('log')]

/** Parts of the start that take noticeable time. */
export type Part = 'server' | 'definitions' | 'objects' | 'roles'

export interface HealthOptions {
  /** Minor number of the emulated release. */
  readonly release: number
  readonly feature: (gate: string) => boolean
  /** Whether priority and fairness is enabled. */
  readonly fair: boolean
  /** Why the store is unavailable, or undefined. */
  readonly storeTrouble: () => string | undefined
  /** How long /livez tolerates an unfinished start. */
  readonly livezGraceMs: number
  readonly monotonicMs: () => number
}

export class ServerHealth {
  readonly #options: HealthOptions
  readonly #release: Release
  readonly #stagesHad: typeof stages
  readonly #done = new Set<Part>()
  readonly #startedAt: number
  #stopping = false

  constructor(options: HealthOptions) {
    this.#options = options
    this.#release = releaseOf(options.release)
    this.#stagesHad = stages.filter(([, , when = {}]) => has(when, options))
    this.#startedAt = options.monotonicMs()
  }

  done(part: Part): void {
    this.#done.add(part)
  }

  /** The last part of the start is complete. */
  get ready(): boolean {
    return this.#done.has('server')
  }

  stopping(): void {
    this.#stopping = true
  }

  healthz = (): readonly HealthCheck[] => [...this.#alive(), ...this.#stages(false)]

  livez = (): readonly HealthCheck[] => [...this.#alive(), ...this.#stages(true)]

  readyz = (): readonly HealthCheck[] => [
    ...first,
    this.#store('etcd'),
    ...(this.#release.has(storeReadinessIsChecked) ? [this.#store('etcd-readiness')] : []),
    { name: 'informer-sync', check: () => (this.#done.has('server') ? undefined : 'not synced') },
    ...this.#stages(false),
    { name: 'shutdown', check: () => (this.#stopping ? 'process is shutting down' : undefined) },
  ]

  #alive(): HealthCheck[] {
    return [
      ...first,
      // Requests of the server to itself use no certificate, so nothing about it can expire.
      ...(this.#release.has(certificateIsChecked) ? [well('loopback-serving-certificate')] : []),
      this.#store('etcd'),
    ]
  }

  #store(name: string): HealthCheck {
    return { name, check: this.#options.storeTrouble }
  }

  #stages(forgiving: boolean): HealthCheck[] {
    const { monotonicMs, livezGraceMs } = this.#options
    const forgiven = () => forgiving && monotonicMs() - this.#startedAt < livezGraceMs
    return this.#stagesHad.map(([name, part]) => ({
      name,
      check: () => (this.#done.has(part) || forgiven() ? undefined : 'not finished'),
    }))
  }
}
