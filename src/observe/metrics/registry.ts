/**
 * All metrics of the server in the Prometheus text format. Collectors run before each scrape.
 * Metrics that are hidden, not part of the release, or disabled are omitted.
 */
import { deprecatedSince, helpText, type LifeCycle, presence } from './life-cycle.ts'
import type { AllowedValues, Family, Labels } from './metric.ts'

export const metricsContentType = 'text/plain; version=0.0.4; charset=utf-8'

export interface RegistryOptions {
  /** The emulated minor release: 22. */
  readonly release: number
  readonly showHidden?: boolean
  /** Metrics that the operator disabled by name. This overrides all other options. */
  readonly disabled?: ReadonlySet<string>
  /** The allowed label values of metrics, by metric name. */
  readonly allowed?: ReadonlyMap<string, AllowedValues>
  /** Called once for every deprecated metric. */
  readonly warn?: (message: string) => void
}

/** The deprecated metric, the release that deprecated it, and its replacement. */
function deprecationWarning(name: string, life: LifeCycle): string {
  const { replacedBy } = life
  const warning = `the metric ${name} is deprecated from 1.${deprecatedSince(life)}`
  return replacedBy === undefined
    ? warning
    : `${warning}; use ${replacedBy} in dashboards and alerts`
}

/**
 * The timeout of collectors. A scraper usually waits ten seconds, so an unreachable store must not
 * delay it.
 */
const collectedMsMax = 3000

interface Shown {
  readonly family: Family
  readonly help: string
}

export class Registry {
  readonly #shown = new Map<string, Shown>()
  /** Every metric. Hidden metrics are recorded too. */
  readonly #families: Family[] = []
  readonly #collectors: (() => void | Promise<void>)[] = []
  readonly #options: RegistryOptions

  constructor(options: RegistryOptions) {
    this.#options = options
  }

  /** Registers a family and returns it to the observer. */
  register<T extends Family>(family: T, help: string, life: LifeCycle = { stability: 'ALPHA' }): T {
    this.#families.push(family)
    const { release, showHidden = false, warn } = this.#options
    const present = presence(life, release, showHidden)
    if (present === 'hidden' || present === 'absent') return family
    if (this.#options.disabled?.has(family.name)) return family
    if (present === 'deprecated') warn?.(deprecationWarning(family.name, life))
    return this.registerPlain(family, helpText(life, release, help))
  }

  /** Registers process metrics and others that do not depend on the release. */
  registerPlain<T extends Family>(family: T, help: string): T {
    const { disabled, allowed } = this.#options
    const values = allowed?.get(family.name)
    if (values !== undefined) family.limit(values)
    if (disabled?.has(family.name)) return family
    this.#shown.set(family.name, { family, help })
    return family
  }

  /** Deletes the children with these labels from all metrics. */
  forget(labels: Labels): void {
    for (const family of this.#families) family.forget(labels)
  }

  /**
   * Adds a collector, which runs before each scrape. If it fails or takes too long, its metrics
   * keep their values.
   */
  collect(collector: () => void | Promise<void>): void {
    this.#collectors.push(collector)
  }

  async #collected(): Promise<void> {
    const { promise: late, resolve } = Promise.withResolvers<void>()
    const timer = setTimeout(resolve, collectedMsMax)
    const all = this.#collectors.map(async (collect) => collect()).map((one) => one.catch(() => {}))
    await Promise.race([Promise.all(all), late])
    clearTimeout(timer)
  }

  async page(): Promise<string> {
    await this.#collected()
    const out: string[] = []
    for (const name of [...this.#shown.keys()].sort()) {
      const { family, help } = this.#shown.get(name) as Shown
      const before = out.length
      const headLines = out.push(`# HELP ${name} ${help}`, `# TYPE ${name} ${family.type}`)
      family.write(out)
      if (out.length === headLines) out.length = before
    }
    return `${out.join('\n')}\n`
  }
}
