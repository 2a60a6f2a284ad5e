/**
 * Changes the events of a watch on their way to the client. It handles events as lines of JSON. A
 * client that prefers protobuf gets JSON instead, which all client libraries accept.
 */
import type { Sink, Wire } from '#http/exchange.ts'
import type { WatchFault } from './fault-rule.ts'
import { type Event, keyOf } from './watch-gate.ts'

/** After this pause in the events of an object, its client gets a skipped last state. */
const lastStateAfterMs = 50

const gone = {
  type: 'ERROR',
  object: {
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Failure',
    message: 'too old resource version: the watch was ended by a fault rule',
    reason: 'Expired',
    code: 410,
  },
}

/** Makes the server respond in JSON, and inserts the faults between the server and the client. */
export function faultWatch(wire: Wire, fault: WatchFault): void {
  const headers = { ...wire.headers, accept: inJson(String(wire.headers.accept ?? '')) }
  Object.defineProperty(wire, 'headers', { value: headers })
  const { stream } = wire
  wire.stream = (status, answered) => {
    const sink = stream.call(wire, status, answered)
    return status === 200 ? new FaultySink(sink, fault) : sink
  }
}

function inJson(accept: string): string {
  const kept = accept.split(',').filter((type) => type !== '' && !/protobuf|cbor/.test(type))
  return kept.length > 0 ? kept.join(',') : 'application/json'
}

class FaultySink implements Sink {
  readonly #sink: Sink
  readonly #fault: WatchFault
  readonly #skipped = new SkippedEvents((event) => this.#deliver(event))
  #rest = ''
  #sent = 0
  #held = new Set<NodeJS.Timeout>()
  #decoder = new TextDecoder()

  constructor(sink: Sink, fault: WatchFault) {
    this.#sink = sink
    this.#fault = fault
    sink.onClose?.(() => {
      for (const timer of this.#held) clearTimeout(timer)
      this.#skipped.clear()
    })
    // The server must be able to finish the start of the watch first.
    if (this.#eventsMax === 0) setImmediate(() => this.#finish())
  }

  /** The number of events after which the watch ends; `gone` alone ends it at once. */
  get #eventsMax(): number | undefined {
    const { endAfter, gone } = this.#fault
    return endAfter ?? (gone ? 0 : undefined)
  }

  get closed(): boolean {
    return this.#sink.closed
  }

  onClose(listener: () => void): void {
    this.#sink.onClose?.(listener)
  }

  drained(): Promise<void> {
    return this.#sink.drained()
  }

  write(bytes: Buffer): boolean {
    const lines = (this.#rest + this.#decoder.decode(bytes, { stream: true })).split('\n')
    this.#rest = lines.pop() ?? ''
    for (const line of lines) if (line !== '') this.#pass(JSON.parse(line) as Event)
    return true
  }

  end(): void {
    this.#skipped.deliverHeld()
    this.#sink.end()
  }

  abort(): void {
    this.#sink.abort?.()
  }

  #pass(event: Event): void {
    const { gate } = this.#fault
    if (gate === undefined) this.#passNow(event)
    else gate.pass(this, event, (passed) => this.#passNow(passed))
  }

  #passNow(event: Event): void {
    const { withholdBookmarks, skip = 0 } = this.#fault
    if (event.type === 'BOOKMARK' && withholdBookmarks) return
    if (skip > 0) this.#skipped.pass(event, skip)
    else this.#deliver(event)
  }

  #deliver(event: Event): void {
    const { delayMs = 0 } = this.#fault
    if (delayMs > 0) this.#sendLater(event, delayMs)
    else this.#send(event)
  }

  #sendLater(seen: Event, delayMs: number): void {
    const timer = setTimeout(() => {
      this.#held.delete(timer)
      this.#send(seen)
    }, delayMs)
    this.#held.add(timer)
  }

  #send(event: Event): void {
    const max = this.#eventsMax ?? Number.POSITIVE_INFINITY
    if (this.#sink.closed || this.#sent >= max) return
    this.#line(event)
    if (++this.#sent >= max) this.#finish()
  }

  #finish(): void {
    if (this.#sink.closed) return
    if (this.#fault.gone) this.#line(gone)
    this.#sink.end()
  }

  #line(event: unknown): void {
    this.#sink.write(Buffer.from(`${JSON.stringify(event)}\n`))
  }
}

interface ObjectState {
  /** Whether the client has the object: from its list, or by a delivered event. */
  isKnown: boolean
  /** The number of events since the last delivered one. */
  skipped: number
  /** The newest skipped event. */
  held: Event | undefined
  pause: NodeJS.Timeout | undefined
}

/**
 * Skips some events of each object, and adapts later events for a client that did not get the
 * skipped ones. Example with `skip: 1`: of ADDED 1, MODIFIED 2, MODIFIED 3 and a pause, the client
 * gets ADDED 2 and, after the pause, MODIFIED 3. Deletions and final states always arrive.
 */
class SkippedEvents {
  readonly #objects = new Map<string, ObjectState>()
  readonly #deliver: (event: Event) => void

  constructor(deliver: (event: Event) => void) {
    this.#deliver = deliver
  }

  pass(event: Event, skip: number): void {
    const key = keyOf(event)
    if (key === undefined) {
      // After a bookmark, the client does not read older events again.
      this.deliverHeld()
      this.#deliver(event)
      return
    }
    const state = this.#stateOf(key, event)
    clearTimeout(state.pause)
    if (event.type === 'DELETED') {
      this.#objects.delete(key)
      // The client never learned of an object whose only events were skipped.
      if (state.isKnown) this.#deliver(event)
    } else if (state.skipped < skip) {
      state.skipped++
      state.held = event
      state.pause = setTimeout(() => this.#deliverState(state, event), lastStateAfterMs).unref()
    } else this.#deliverState(state, event)
  }

  /** Delivers the newest state of each object, if it was skipped. */
  deliverHeld(): void {
    for (const state of this.#objects.values())
      if (state.held !== undefined) this.#deliverState(state, state.held)
  }

  clear(): void {
    for (const { pause } of this.#objects.values()) clearTimeout(pause)
    this.#objects.clear()
  }

  #stateOf(key: string, { type }: Event): ObjectState {
    const known = this.#objects.get(key)
    if (known !== undefined) return known
    const isKnown = type !== 'ADDED'
    const state: ObjectState = { isKnown, skipped: 0, held: undefined, pause: undefined }
    this.#objects.set(key, state)
    return state
  }

  #deliverState(state: ObjectState, event: Event): void {
    clearTimeout(state.pause)
    const type = state.isKnown ? 'MODIFIED' : 'ADDED'
    state.isKnown = true
    state.skipped = 0
    state.held = undefined
    this.#deliver({ ...event, type })
  }
}
