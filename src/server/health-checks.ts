/**
 * What the health endpoints look at: the store, and the stages of the start. A stage is named as operators know it from
 * the original; each becomes well when the work of that name is done here.
 */
import type { HealthCheck } from '#observe/health.ts'

/** Which releases have a stage, and whether fairness, which may be turned off, has it or its absence. */
interface When {
  readonly since?: number
  readonly until?: number
  readonly fair?: boolean
}

/** Stages in the order they are shown, and which part of the start each waits for. */
const stages: readonly (readonly [string, Part, When?])[] = [
  ['poststarthook/start-kube-apiserver-admission-initializer', 'server', { since: 17 }],
  ['poststarthook/generic-apiserver-start-informers', 'server'],
  ['poststarthook/priority-and-fairness-config-consumer', 'server', { since: 18, fair: true }],
  ['poststarthook/priority-and-fairness-filter', 'server', { since: 19, fair: true }],
  ['poststarthook/max-in-flight-filter', 'server', { since: 19, fair: false }],
  ['poststarthook/start-apiextensions-informers', 'definitions'],
  ['poststarthook/start-apiextensions-controllers', 'definitions'],
  ['poststarthook/crd-informer-synced', 'definitions'],
  ['poststarthook/bootstrap-controller', 'objects'],
  ['poststarthook/rbac/bootstrap-roles', 'roles'],
  ['poststarthook/scheduling/bootstrap-system-priority-classes', 'objects'],
  ['poststarthook/priority-and-fairness-config-producer', 'objects', { since: 20 }],
  ['poststarthook/ca-registration', 'objects', { until: 16 }],
  ['poststarthook/start-cluster-authentication-info-controller', 'objects', { since: 17 }],
  ['poststarthook/start-kube-apiserver-admission-initializer', 'server', { until: 16 }],
  ['poststarthook/start-kube-aggregator-informers', 'server'],
  ['poststarthook/apiservice-registration-controller', 'server'],
  ['poststarthook/apiservice-status-available-controller', 'server'],
  ['poststarthook/apiservice-openapi-controller', 'server', { until: 15 }],
  ['poststarthook/kube-apiserver-autoregistration', 'server'],
  ['autoregister-completion', 'server'],
  ['poststarthook/apiservice-openapi-controller', 'server', { since: 16 }],
]

const has = ({ since = 0, until = 99, fair }: When, options: HealthOptions): boolean =>
  options.release >= since &&
  options.release <= until &&
  (fair === undefined || fair === options.fair)

/** Parts of the start that take time of their own. */
export type Part = 'server' | 'definitions' | 'objects' | 'roles'

export interface HealthOptions {
  /** Minor number of the emulated release. */
  readonly release: number
  /** Whether requests are queued by priority. */
  readonly fair: boolean
  /** Why the store cannot be used, or nothing. */
  readonly storeTrouble: () => string | undefined
  /** How long /livez forgives a start that has not finished. */
  readonly livezGraceMs: number
  readonly monotonicMs: () => number
}

export class ServerHealth {
  readonly #options: HealthOptions
  readonly #stagesHad: typeof stages
  readonly #done = new Set<Part>()
  readonly #startedAt: number
  #stopping = false

  constructor(options: HealthOptions) {
    this.#options = options
    this.#stagesHad = stages.filter(([, , when = {}]) => has(when, options))
    this.#startedAt = options.monotonicMs()
  }

  done(part: Part): void {
    this.#done.add(part)
  }

  /** The last part of the start is done. */
  get ready(): boolean {
    return this.#done.has('server')
  }

  stopping(): void {
    this.#stopping = true
  }

  healthz = (): readonly HealthCheck[] => [...this.#first(), ...this.#stages(false)]

  livez = (): readonly HealthCheck[] => [...this.#first(), ...this.#stages(true)]

  readyz = (): readonly HealthCheck[] => [
    ...this.#first(),
    { name: 'informer-sync', check: () => (this.#done.has('server') ? undefined : 'not synced') },
    ...this.#stages(false),
    { name: 'shutdown', check: () => (this.#stopping ? 'process is shutting down' : undefined) },
  ]

  #first(): HealthCheck[] {
    return [
      { name: 'ping', check: () => undefined },
      { name: 'log', check: () => undefined },
      { name: 'etcd', check: this.#options.storeTrouble },
    ]
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
