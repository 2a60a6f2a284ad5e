/**
 * Limits cheap frames that cost the server work: cancelled requests, pings, empty frames. A burst
 * is allowed; a client that exceeds the rate loses its connection.
 */
import { ConnectionError, errorCode } from './frames.ts'
import { cheapFramesMax, cheapFramesPerSecond } from './limits.ts'

export class FrameAllowance {
  #used = 0
  #at = Date.now()

  spend(): void {
    const now = Date.now()
    const sinceMs = Math.max(0, now - this.#at)
    this.#used = Math.max(0, this.#used - (sinceMs * cheapFramesPerSecond) / 1000) + 1
    this.#at = now
    if (this.#used > cheapFramesMax)
      throw new ConnectionError(errorCode.enhanceYourCalm, 'too much for nothing')
  }
}
