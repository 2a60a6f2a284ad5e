/** The plugins in their fixed order: all that mutate, and later all that validate. */
import type { ObjectReader } from '#kinds/reader.ts'
import type { AdmissionPlugin, AdmissionRequest, Operation } from './admission.ts'
import type { HookCall } from './webhook/dispatch.ts'

/** Told how long each plugin and each step took. */
export interface AdmissionMeter {
  readonly monotonicMs: () => number
  plugin(name: string, step: Step, operation: Operation, rejected: boolean, tookMs: number): void
  step(step: Step, operation: Operation, rejected: boolean, tookMs: number): void
  /** One call of one webhook. */
  webhook(call: HookCall): void
}
export type Step = 'admit' | 'validate'

export class AdmissionChain {
  readonly plugins: readonly AdmissionPlugin[]
  readonly #mutating: readonly AdmissionPlugin[]
  readonly #validating: readonly AdmissionPlugin[]
  readonly #reader: ObjectReader
  readonly #meter: AdmissionMeter | undefined

  constructor(plugins: readonly AdmissionPlugin[], reader: ObjectReader, meter?: AdmissionMeter) {
    this.#meter = meter
    this.plugins = plugins
    this.#mutating = plugins.filter((plugin) => plugin.mutate !== undefined)
    this.#validating = plugins.filter((plugin) => plugin.validate !== undefined)
    this.#reader = reader
  }

  /** Before the first request of anybody. */
  async start(): Promise<void> {
    await Promise.all(this.plugins.map((plugin) => plugin.start?.(this.#reader)))
  }

  /** Waits only for the plugins that wait. */
  async mutate(request: AdmissionRequest): Promise<void> {
    if (this.#meter !== undefined)
      return this.#measured('admit', this.#mutating, request, this.#meter)
    do {
      for (const plugin of this.#mutating) {
        const waiting = plugin.mutate?.(request, this.#reader)
        if (waiting !== undefined) await waiting
      }
    } while (isOnceMore(request))
  }

  async validate(request: AdmissionRequest): Promise<void> {
    if (this.#meter !== undefined)
      return this.#measured('validate', this.#validating, request, this.#meter)
    for (const plugin of this.#validating) {
      const waiting = plugin.validate?.(request, this.#reader)
      if (waiting !== undefined) await waiting
    }
  }

  async #measured(
    step: Step,
    plugins: readonly AdmissionPlugin[],
    request: AdmissionRequest,
    meter: AdmissionMeter,
  ): Promise<void> {
    const { operation } = request
    const beganAt = meter.monotonicMs()
    let before = beganAt
    let rejected = true
    let running = ''
    try {
      do {
        for (const plugin of plugins) {
          running = plugin.name
          const waiting =
            step === 'admit'
              ? plugin.mutate?.(request, this.#reader)
              : plugin.validate?.(request, this.#reader)
          if (waiting !== undefined) await waiting
          const now = meter.monotonicMs()
          meter.plugin(plugin.name, step, operation, false, now - before)
          before = now
        }
      } while (step === 'admit' && isOnceMore(request))
      rejected = false
    } finally {
      const now = meter.monotonicMs()
      if (rejected) meter.plugin(running, step, operation, true, now - before)
      meter.step(step, operation, rejected, now - beganAt)
    }
  }
}

/** A webhook changed the object: everybody gets to see it again, once. */
function isOnceMore(request: AdmissionRequest): boolean {
  if (request.reinvoke !== true || request.round === 1) return false
  request.round = 1
  return true
}
