/**
 * The checks of the health endpoints: the store and the stages of the start. Stages have the names
 * of kube-apiserver's post-start hooks. A check passes when the corresponding work of this server
 * is complete.
 */
import {
  change,
  type Release,
  type ReleaseChange,
  releaseOf,
  type Span,
} from '#api/releases/change.ts'
import type { HealthCheck } from '#observe/health.ts'

type Row = readonly [name: string, part: Part, when?: When]

/**
 * The changes with and without which a stage exists at its place, its feature gate, and whether it
 * depends on priority and fairness.
 */
interface When {
  readonly only?: ReleaseChange
  readonly unless?: ReleaseChange
  readonly fair?: boolean
  readonly gate?: string
}

const hook = (name: string, ...spans: Span[]): ReleaseChange =>
  change(`there is the health check poststarthook/${name}`, ...spans)

/** A stage that some releases have. */
const stage = (name: string, part: Part, when: When, ...spans: Span[]): Row => [
  `poststarthook/${name}`,
  part,
  { ...when, only: hook(name, ...spans) },
]

const apisLast = change('health checks of built-in APIs follow those of their controllers', {
  since: 31,
})
const admissionFirst = change('the health check of admission plugins comes first', { since: 17 })
const admissionRenamed = change(
  'the health check of admission plugins is called start-apiserver-admission-initializer',
  { since: 30 },
)
const bootstrapLater = change('the health check bootstrap-controller follows that of namespaces', {
  since: 28,
})
const openApiLater = change('the health check of aggregated OpenAPI follows autoregistration', {
  since: 16,
})
const discoveryEarlier = change(
  'the health check of aggregated discovery comes before autoregistration',
  { since: 30 },
)
const splitsAvailability = change(
  'local and remote aggregated APIs have health checks of their own',
  { since: 31 },
)
const publishesAuthentication = change(
  'the health check ca-registration is called start-cluster-authentication-info-controller',
  { since: 17 },
)
const repairsAddresses = hook('start-service-ip-repair-controllers', { since: 28 })
const producesFairness = hook('priority-and-fairness-config-producer', { since: 20 })
const keepsServiceCidr = hook('start-kubernetes-service-cidr-controller', { since: 29 })
const aggregatesDiscovery = hook('apiservice-discovery-controller', { since: 26 })

/**
 * The stages in display order, each with the part of the start that it waits for. A stage that
 * moved between releases has several rows.
 */
const stages: readonly Row[] = [
  [
    'poststarthook/start-kube-apiserver-admission-initializer',
    'server',
    { only: admissionFirst, unless: admissionRenamed },
  ],
  ['poststarthook/start-apiserver-admission-initializer', 'server', { only: admissionRenamed }],
  ['poststarthook/generic-apiserver-start-informers', 'server'],
  stage('priority-and-fairness-config-consumer', 'server', { fair: true }, { since: 18 }),
  stage('priority-and-fairness-filter', 'server', { fair: true }, { since: 19 }),
  stage('max-in-flight-filter', 'server', { fair: false }, { since: 19 }),
  stage('storage-object-count-tracker-hook', 'server', {}, { since: 25 }),
  ['poststarthook/start-apiextensions-informers', 'definitions'],
  ['poststarthook/start-apiextensions-controllers', 'definitions'],
  ['poststarthook/crd-informer-synced', 'definitions'],
  ['poststarthook/bootstrap-controller', 'objects', { unless: bootstrapLater }],
  [
    'poststarthook/start-service-ip-repair-controllers',
    'objects',
    { only: repairsAddresses, unless: apisLast },
  ],
  ['poststarthook/rbac/bootstrap-roles', 'roles', { unless: apisLast }],
  ['poststarthook/scheduling/bootstrap-system-priority-classes', 'objects', { unless: apisLast }],
  [
    'poststarthook/priority-and-fairness-config-producer',
    'objects',
    { only: producesFairness, unless: apisLast },
  ],
  stage('start-system-namespaces-controller', 'objects', {}, { since: 27 }),
  ['poststarthook/bootstrap-controller', 'objects', { only: bootstrapLater, unless: apisLast }],
  [
    'poststarthook/start-kubernetes-service-cidr-controller',
    'objects',
    { only: keepsServiceCidr, unless: apisLast, gate: 'MultiCIDRServiceAllocator' },
  ],
  stage(
    'peer-endpoint-reconciler-controller',
    'objects',
    { gate: 'UnknownVersionInteroperabilityProxy' },
    { since: 28 },
  ),
  ['poststarthook/ca-registration', 'objects', { unless: publishesAuthentication }],
  [
    'poststarthook/start-cluster-authentication-info-controller',
    'objects',
    { only: publishesAuthentication },
  ],
  stage(
    'start-kube-apiserver-identity-lease-controller',
    'server',
    { gate: 'APIServerIdentity' },
    { since: 20 },
  ),
  stage(
    'start-deprecated-kube-apiserver-identity-lease-garbage-collector',
    'server',
    { gate: 'APIServerIdentity' },
    { since: 27, until: 28 },
  ),
  stage(
    'start-kube-apiserver-identity-lease-garbage-collector',
    'server',
    { gate: 'APIServerIdentity' },
    { since: 20 },
  ),
  stage(
    'storage-readiness',
    'server',
    { gate: 'WatchCacheInitializationPostStartHook' },
    { since: 31 },
  ),
  stage(
    'start-legacy-token-tracking-controller',
    'objects',
    { gate: 'LegacyServiceAccountTokenTracking' },
    { since: 26 },
  ),
  ['poststarthook/start-service-ip-repair-controllers', 'objects', { only: apisLast }],
  ['poststarthook/rbac/bootstrap-roles', 'roles', { only: apisLast }],
  ['poststarthook/scheduling/bootstrap-system-priority-classes', 'objects', { only: apisLast }],
  ['poststarthook/priority-and-fairness-config-producer', 'objects', { only: apisLast }],
  ['poststarthook/bootstrap-controller', 'objects', { only: apisLast }],
  [
    'poststarthook/start-kubernetes-service-cidr-controller',
    'objects',
    { only: apisLast, gate: 'MultiCIDRServiceAllocator' },
  ],
  [
    'poststarthook/start-kube-apiserver-admission-initializer',
    'server',
    { unless: admissionFirst },
  ],
  ['poststarthook/start-kube-aggregator-informers', 'server'],
  [
    'poststarthook/apiservice-status-local-available-controller',
    'server',
    { only: splitsAvailability },
  ],
  [
    'poststarthook/apiservice-status-remote-available-controller',
    'server',
    { only: splitsAvailability },
  ],
  ['poststarthook/apiservice-registration-controller', 'server'],
  [
    'poststarthook/apiservice-status-available-controller',
    'server',
    { unless: splitsAvailability },
  ],
  ['poststarthook/apiservice-discovery-controller', 'server', { only: discoveryEarlier }],
  ['poststarthook/apiservice-openapi-controller', 'server', { unless: openApiLater }],
  ['poststarthook/kube-apiserver-autoregistration', 'server'],
  ['autoregister-completion', 'server'],
  ['poststarthook/apiservice-openapi-controller', 'server', { only: openApiLater }],
  stage('apiservice-openapiv3-controller', 'server', { gate: 'OpenAPIV3' }, { since: 24 }),
  [
    'poststarthook/apiservice-discovery-controller',
    'server',
    {
      only: aggregatesDiscovery,
      unless: discoveryEarlier,
      gate: 'AggregatedDiscoveryEndpoint',
    },
  ],
]

const has = ({ only, unless, ...when }: When, { release, fair, feature }: HealthOptions): boolean =>
  (only === undefined || releaseOf(release).has(only)) &&
  (unless === undefined || !releaseOf(release).has(unless)) &&
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
