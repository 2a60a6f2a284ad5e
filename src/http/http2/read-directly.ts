/**
 * Reads the bytes of a socket immediately. Node's streams decide after each piece in a separate
 * tick whether to read more; a reader that accepts every piece does not need that.
 */
import type { Readable } from 'node:stream'

export function readDirectly(socket: Readable, take: (bytes: Buffer) => void): void {
  const { push } = socket
  socket.push = (piece, encoding) => {
    // The end of the stream, and pieces that follow buffered ones, are handled by Node.
    if (piece === null || socket.readableLength > 0) return push.call(socket, piece, encoding)
    take(piece)
    return true
  }
  socket.on('data', take)
}
