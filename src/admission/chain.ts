/** The plugins in their fixed order: all that mutate, and later all that validate. */
import type { Awaitable } from '#base/awaitable.ts'
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

  get asksOthers(): boolean {
    return this.plugins.some((plugin) => plugin.asksOthers?.())
  }

  /** Before the first request of anybody. */
  async start(): Promise<void> {
    await Promise.all(this.plugins.map((plugin) => plugin.start?.(this.#reader)))
  }

  /** Both wait only for the plugins that wait. */
  mutate(request: AdmissionRequest): Awaitable<void> {
    return new StepRun('admit', this.#mutating, request, this.#reader, this.#meter).from(0)
  }

  validate(request: AdmissionRequest): Awaitable<void> {
    return new StepRun('validate', this.#validating, request, this.#reader, this.#meter).from(0)
  }
}

/** One step of one request, through all its plugins. */
class StepRun {
  readonly #step: Step
  readonly #plugins: readonly AdmissionPlugin[]
  readonly #request: AdmissionRequest
  readonly #reader: ObjectReader
  readonly #meter: AdmissionMeter | undefined
  readonly #beganAt: number
  #before: number

  constructor(
    step: Step,
    plugins: readonly AdmissionPlugin[],
    request: AdmissionRequest,
    reader: ObjectReader,
    meter: AdmissionMeter | undefined,
  ) {
    this.#step = step
    this.#plugins = plugins
    this.#request = request
    this.#reader = reader
    this.#meter = meter
    this.#beganAt = meter?.monotonicMs() ?? 0
    this.#before = this.#beganAt
  }

  from(first: number): Awaitable<void> {
    for (let i = first; ; i = 0) {
      for (; i < this.#plugins.length; i++) {
        const plugin = this.#plugins[i]
        const next = i + 1
        const waiting = this.#ask(plugin)
        if (waiting === undefined) this.#done(plugin)
        else {
          return waiting.then(
            () => {
              this.#done(plugin)
              return this.from(next)
            },
            (refusal) => this.#refused(plugin, refusal),
          )
        }
      }
      if (this.#step === 'validate' || !isOnceMore(this.#request)) break
    }
    this.#meter?.step(this.#step, this.#request.operation, false, this.#before - this.#beganAt)
  }

  #ask(plugin: AdmissionPlugin): void | Promise<void> {
    try {
      return this.#step === 'admit'
        ? plugin.mutate?.(this.#request, this.#reader)
        : plugin.validate?.(this.#request, this.#reader)
    } catch (refusal) {
      return this.#refused(plugin, refusal)
    }
  }

  #done({ name }: AdmissionPlugin): void {
    if (this.#meter !== undefined) this.#measure(this.#meter, name, false)
  }

  #refused({ name }: AdmissionPlugin, refusal: unknown): never {
    if (this.#meter !== undefined) {
      this.#measure(this.#meter, name, true)
      this.#meter.step(this.#step, this.#request.operation, true, this.#before - this.#beganAt)
    }
    throw refusal
  }

  #measure(meter: AdmissionMeter, name: string, rejected: boolean): void {
    const now = meter.monotonicMs()
    meter.plugin(name, this.#step, this.#request.operation, rejected, now - this.#before)
    this.#before = now
  }
}

/** A webhook changed the object: everybody gets to see it again, once. */
function isOnceMore(request: AdmissionRequest): boolean {
  if (request.reinvoke !== true || request.round === 1) return false
  request.round = 1
  return true
}
