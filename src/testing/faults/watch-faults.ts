/**
 * Changes the events of a watch on their way to the client. It handles events as lines of JSON. A
 * client that prefers protobuf gets JSON instead, which all client libraries accept.
 */
import type { Sink, Wire } from '#http/exchange.ts'
import type { WatchFault } from './fault-rule.ts'
import { type Event, keyOf } from './watch-gate.ts'

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
  readonly #latest = new SkippedEvents()
  #rest = ''
  #sent = 0
  #held = new Set<NodeJS.Timeout>()
  #decoder = new TextDecoder()

  constructor(sink: Sink, fault: WatchFault) {
    this.#sink = sink
    this.#fault = fault
    sink.onClose?.(() => {
      for (const timer of this.#held) clearTimeout(timer)
    })
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
    const { withholdBookmarks, skip = 0, delayMs = 0 } = this.#fault
    if (event.type === 'BOOKMARK' && withholdBookmarks) return
    const seen = skip > 0 ? this.#latest.afterSkipping(event, skip) : event
    if (seen === undefined) return
    if (delayMs > 0) this.#sendLater(seen, delayMs)
    else this.#send(seen)
  }

  #sendLater(seen: Event, delayMs: number): void {
    const timer = setTimeout(() => {
      this.#held.delete(timer)
      this.#send(seen)
    }, delayMs)
    this.#held.add(timer)
  }

  #send(event: Event): void {
    const { endAfter, gone: isGone } = this.#fault
    if (this.#sink.closed) return
    if (endAfter === undefined || this.#sent < endAfter) this.#line(event)
    this.#sent++
    if (endAfter === undefined || this.#sent < endAfter) return
    if (isGone) this.#line(gone)
    this.#sink.end()
  }

  #line(event: unknown): void {
    this.#sink.write(Buffer.from(`${JSON.stringify(event)}\n`))
  }
}

/**
 * Skips some events of each object, and adapts later events for a client that did not get the
 * skipped ones.
 */
class SkippedEvents {
  readonly #skipped = new Map<string, number>()
  readonly #known = new Set<string>()

  afterSkipping(event: Event, skip: number): Event | undefined {
    const key = keyOf(event)
    if (key === undefined) return event
    const skipped = this.#skipped.get(key) ?? 0
    // A deletion is the last event of an object, so it is never skipped.
    if (event.type !== 'DELETED' && skipped < skip) {
      this.#skipped.set(key, skipped + 1)
      return undefined
    }
    this.#skipped.delete(key)
    const wasKnown = this.#known.has(key)
    if (event.type === 'DELETED') {
      this.#known.delete(key)
      return wasKnown ? event : undefined
    }
    this.#known.add(key)
    return { ...event, type: wasKnown ? 'MODIFIED' : 'ADDED' }
  }
}
