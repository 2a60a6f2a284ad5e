/**
 * Checks whether a port of this machine is free, and finds a free port, before a server listens.
 */
import { createServer, type Server } from 'node:net'

/**
 * Rejects with the system's error if the port cannot be listened on. `isShared`: other servers may
 * listen there too, if they share it as well.
 */
export async function requireFreePort(
  port: number,
  address: string,
  isShared = false,
): Promise<void> {
  const probe = await listening(port, address, isShared)
  await new Promise((closed) => probe.close(closed))
}

/**
 * A free port on which `socket` listens, so that no other program can take it. If it is shared,
 * servers that share it too can. The HTTP listener takes over the socket.
 */
export interface ReservedPort {
  readonly port: number
  readonly socket: Server
  release(): void
}

export async function reservePort(address: string, isShared = false): Promise<ReservedPort> {
  const socket = await listening(0, address, isShared)
  const { port } = socket.address() as { port: number }
  return { port, socket, release: () => void socket.close() }
}

function listening(port: number, address: string, isShared: boolean): Promise<Server> {
  return new Promise((resolve, reject) => {
    // Before the HTTP listener takes over the socket, every connection is closed at once.
    const server = createServer((early) => early.destroy()).once('error', reject)
    server.listen({ port, host: address, reusePort: isShared }, () => resolve(server))
  })
}
