/**
 * The results of health checks as metrics, on a page of their own: a scraper may read it often,
 * because it is small.
 */
import { change } from '#api/releases/change.ts'
import { counter, gauge } from './metric.ts'
import { Registry } from './registry.ts'

const checksAreBeta = change('metrics of health checks are BETA', { since: 28, until: 28 })
const checksAreStable = change('metrics of health checks are STABLE', { since: 29 })

export class CheckMetrics {
  readonly #release: number
  #registry!: Registry
  #results!: ReturnType<typeof gauge>
  #counts!: ReturnType<typeof counter>

  constructor(release: number) {
    this.#release = release
    this.reset()
  }

  reset(): void {
    const life = { stability: 'ALPHA', beta: checksAreBeta, stable: checksAreStable } as const
    this.#registry = new Registry({ release: this.#release })
    this.#results = this.#registry.register(
      gauge('kubernetes_healthcheck', 'name', 'type'),
      'The last result of a health check: 1 for success.',
      life,
    )
    this.#counts = this.#registry.register(
      counter('kubernetes_healthchecks_total', 'name', 'status', 'type'),
      'Results of health checks.',
      life,
    )
  }

  /** `endpoint` is healthz, livez or readyz. */
  checked(name: string, endpoint: string, isWell: boolean): void {
    this.#results.labels(name, endpoint).set(isWell ? 1 : 0)
    this.#counts.labels(name, isWell ? 'success' : 'error', endpoint).add(1)
  }

  page(): Promise<string> {
    return this.#registry.page()
  }
}
