/**
 * Bounds what a client may cost for nothing: requests taken back, pings, frames that say nothing.
 * Each is cheap to send and not to serve; a burst is allowed, an endless one ends the connection.
 */
import { ConnectionError, errorCode } from './frames.ts'

const burstMax = 1000
const perSecond = 50

export class Patience {
  #used = 0
  #at = Date.now()

  spend(): void {
    const now = Date.now()
    const sinceMs = Math.max(0, now - this.#at)
    this.#used = Math.max(0, this.#used - (sinceMs * perSecond) / 1000) + 1
    this.#at = now
    if (this.#used > burstMax)
      throw new ConnectionError(errorCode.enhanceYourCalm, 'too much for nothing')
  }
}
