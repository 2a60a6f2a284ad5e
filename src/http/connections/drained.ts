/** Waits until a stream accepts bytes again, or is closed. It leaves no listener on the stream. */
import type { Writable } from 'node:stream'

export const drained = (stream: Writable): Promise<void> =>
  new Promise((resolve) => {
    const done = () => {
      stream.off('drain', done)
      stream.off('close', done)
      resolve()
    }
    stream.on('drain', done)
    stream.on('close', done)
    if (stream.destroyed) done()
  })
