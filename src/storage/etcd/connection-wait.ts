/**
 * Requests that wait for a connection to an etcd server. They share one timer and one subscription
 * per channel, so a thousand waiting requests cost no more than one.
 */
import { type Client, connectivityState } from '@grpc/grpc-js'
import { timerMsMax } from '#base/clock.ts'

type Channel = ReturnType<Client['getChannel']>

/** When a request is sent again over an open connection: its server may have lost its leader. */
const againAfterMs = 250

export class ConnectionWait {
  readonly #channels: () => Channel[]
  #change: Promise<void> | undefined
  #finish = () => {}
  #waiting = 0
  #isOver = false

  constructor(channels: () => Channel[]) {
    this.#channels = channels
  }

  /** The number of waiting requests. */
  get waiting(): number {
    return this.#waiting
  }

  /** Whether other requests wait and no server is connected. */
  get isNeeded(): boolean {
    return this.#waiting > 0 && !this.#hasReady()
  }

  /** Resolves when a server is connected, but not at once, or at the deadline (a time of day). */
  async untilReady(deadline: number): Promise<void> {
    this.#waiting++
    const late = Promise.withResolvers<void>()
    const timer = setTimeout(late.resolve, Math.min(timerMsMax, Math.max(0, deadline - Date.now())))
    try {
      do await Promise.race([this.#nextChange(), late.promise])
      while (!this.#isOver && !this.#hasReady() && Date.now() < deadline)
    } finally {
      clearTimeout(timer)
      this.#waiting--
    }
  }

  #hasReady(): boolean {
    return this.#channels().some(
      (channel) => channel.getConnectivityState(false) === connectivityState.READY,
    )
  }

  /** Releases all waiters: the connection is closed. */
  end(): void {
    this.#isOver = true
    this.#finish()
  }

  #nextChange(): Promise<void> {
    this.#change ??= new Promise<void>((resolve) => {
      const timer = setTimeout(() => this.#finish(), againAfterMs)
      this.#finish = () => {
        clearTimeout(timer)
        this.#change = undefined
        resolve()
      }
      const until = Date.now() + againAfterMs
      for (const channel of this.#channels()) {
        const state = channel.getConnectivityState(true)
        channel.watchConnectivityState(state, until, (late) => late ?? this.#finish())
      }
    })
    return this.#change
  }
}
