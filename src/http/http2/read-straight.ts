/**
 * The bytes of a socket, as they come. A stream of Node's asks itself after each piece whether to read more, in a tick of
 * its own; whoever takes every piece at once needs neither the question nor the tick.
 */
import type { Readable } from 'node:stream'

export function readStraight(socket: Readable, take: (bytes: Buffer) => void): void {
  const { push } = socket
  socket.push = (piece, encoding) => {
    // The end goes the usual way, and so does everything behind what was kept before anybody listened.
    if (piece === null || socket.readableLength > 0) return push.call(socket, piece, encoding)
    take(piece)
    return true
  }
  socket.on('data', take)
}
