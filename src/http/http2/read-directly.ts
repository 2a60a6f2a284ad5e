/**
 * The bytes of a socket, as they come. A stream of Node's decides after each piece whether to read
 * more, in a tick of its own; a reader that takes every piece at once needs neither.
 */
import type { Readable } from 'node:stream'

export function readDirectly(socket: Readable, take: (bytes: Buffer) => void): void {
  const { push } = socket
  socket.push = (piece, encoding) => {
    // The end goes the usual way, and so does everything behind what was kept before anybody
    // listened.
    if (piece === null || socket.readableLength > 0) return push.call(socket, piece, encoding)
    take(piece)
    return true
  }
  socket.on('data', take)
}
