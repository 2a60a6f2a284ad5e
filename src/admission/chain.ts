/**
 * Runs the plugins in their fixed order: all mutating ones, and after validation all validating
 * ones.
 */
import type { Awaitable } from '#base/awaitable.ts'
import type { Kind } from '#kinds/kind.ts'
import type { ObjectReader } from '#kinds/reader.ts'
import type { AdmissionPlugin, AdmissionRequest, Operation } from './admission.ts'
import type { HookCall } from './webhook/dispatch.ts'

/** Receives the duration of each plugin and each step. */
export interface AdmissionMeter {
  readonly monotonicMs: () => number
  plugin(
    name: string,
    step: AdmissionStep,
    operation: Operation,
    rejected: boolean,
    tookMs: number,
  ): void
  /** Plugins that pass requests of kinds that they do not handle. */
  unconcerned(names: readonly string[], step: AdmissionStep, operation: Operation): void
  step(step: AdmissionStep, operation: Operation, rejected: boolean, tookMs: number): void
  /** Called after each webhook call. */
  webhook(call: HookCall): void
}
export type AdmissionStep = 'admit' | 'validate'

/** The plugins of one step that handle a kind, and the names of the others. */
interface Concerned {
  readonly plugins: readonly AdmissionPlugin[]
  readonly others: readonly string[]
}

/** Cached per kind, because every write needs it. */
function concernedOf(plugins: readonly AdmissionPlugin[]): (kind: Kind) => Concerned {
  const known = new WeakMap<Kind, Concerned>()
  return (kind) => {
    let concerned = known.get(kind)
    if (concerned !== undefined) return concerned
    const concerns = ({ plurals }: AdmissionPlugin) => plurals?.includes(kind.plural) ?? true
    const others = plugins.filter((plugin) => !concerns(plugin)).map(({ name }) => name)
    concerned = { plugins: plugins.filter(concerns), others }
    known.set(kind, concerned)
    return concerned
  }
}

export class AdmissionChain {
  readonly plugins: readonly AdmissionPlugin[]
  readonly #mutating: (kind: Kind) => Concerned
  readonly #validating: (kind: Kind) => Concerned
  readonly #rechecking: readonly AdmissionPlugin[]
  readonly #reader: ObjectReader
  readonly #meter: AdmissionMeter | undefined

  constructor(plugins: readonly AdmissionPlugin[], reader: ObjectReader, meter?: AdmissionMeter) {
    this.#meter = meter
    this.plugins = plugins
    this.#mutating = concernedOf(plugins.filter((plugin) => plugin.mutate !== undefined))
    this.#validating = concernedOf(plugins.filter((plugin) => plugin.validate !== undefined))
    this.#rechecking = plugins.filter((plugin) => plugin.recheck !== undefined)
    this.#reader = reader
  }

  get asksOthers(): boolean {
    return this.plugins.some((plugin) => plugin.asksOthers?.())
  }

  /** Called once before the first request. */
  async start(): Promise<void> {
    await Promise.all(this.plugins.map((plugin) => plugin.start?.(this.#reader)))
  }

  /** Both methods are asynchronous only if a plugin is. */
  mutate(request: AdmissionRequest): Awaitable<void> {
    const concerned = this.#mutating(request.kind)
    return new StepRun('admit', concerned, request, this.#reader, this.#meter).from(0)
  }

  validate(request: AdmissionRequest): Awaitable<void> {
    const concerned = this.#validating(request.kind)
    return new StepRun('validate', concerned, request, this.#reader, this.#meter).from(0)
  }

  async recheck(request: AdmissionRequest): Promise<void> {
    for (const plugin of this.#rechecking) await plugin.recheck?.(request, this.#reader)
  }
}

/** Runs one step of one request through all its plugins. */
class StepRun {
  readonly #step: AdmissionStep
  readonly #concerned: Concerned
  readonly #request: AdmissionRequest
  readonly #reader: ObjectReader
  readonly #meter: AdmissionMeter | undefined
  readonly #beganAt: number
  #before: number

  constructor(
    step: AdmissionStep,
    concerned: Concerned,
    request: AdmissionRequest,
    reader: ObjectReader,
    meter: AdmissionMeter | undefined,
  ) {
    this.#step = step
    this.#concerned = concerned
    this.#request = request
    this.#reader = reader
    this.#meter = meter
    this.#beganAt = meter?.monotonicMs() ?? 0
    this.#before = this.#beganAt
  }

  from(first: number): Awaitable<void> {
    const { plugins, others } = this.#concerned
    const { operation } = this.#request
    for (let i = first; ; i = 0) {
      for (; i < plugins.length; i++) {
        const plugin = plugins[i] as AdmissionPlugin
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
      this.#meter?.unconcerned(others, this.#step, operation)
      if (this.#step === 'validate' || !isOnceMore(this.#request)) break
    }
    this.#meter?.step(this.#step, operation, false, this.#before - this.#beganAt)
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

/** A webhook changed the object: all webhooks see it again, once. */
function isOnceMore(request: AdmissionRequest): boolean {
  if (request.reinvoke !== true || request.round === 1) return false
  request.round = 1
  return true
}
