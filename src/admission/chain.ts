/** The plugins in their fixed order: all that mutate, and later all that validate. */
import type { ObjectReader } from '#kinds/reader.ts'
import type { AdmissionPlugin, AdmissionRequest } from './admission.ts'

export class AdmissionChain {
  readonly plugins: readonly AdmissionPlugin[]
  readonly #mutating: readonly AdmissionPlugin[]
  readonly #validating: readonly AdmissionPlugin[]
  readonly #reader: ObjectReader

  constructor(plugins: readonly AdmissionPlugin[], reader: ObjectReader) {
    this.plugins = plugins
    this.#mutating = plugins.filter((plugin) => plugin.mutate !== undefined)
    this.#validating = plugins.filter((plugin) => plugin.validate !== undefined)
    this.#reader = reader
  }

  /** Waits only for the plugins that wait. */
  async mutate(request: AdmissionRequest): Promise<void> {
    for (const plugin of this.#mutating) {
      const waiting = plugin.mutate?.(request, this.#reader)
      if (waiting !== undefined) await waiting
    }
  }

  async validate(request: AdmissionRequest): Promise<void> {
    for (const plugin of this.#validating) {
      const waiting = plugin.validate?.(request, this.#reader)
      if (waiting !== undefined) await waiting
    }
  }
}
