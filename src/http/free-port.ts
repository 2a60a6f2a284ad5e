/** Whether a port can be listened on, found out by doing so for a moment. It accepts nobody. */
import { createServer } from 'node:net'

/** Rejects with what the system says where it cannot. `isShared`: others may listen there too, where they share it as well. */
export function requireFreePort(port: number, address: string, isShared = false): Promise<void> {
  return new Promise((resolve, reject) => {
    const probe = createServer().once('error', reject)
    const place = { port, host: address, reusePort: isShared }
    probe.listen(place, () => probe.close(() => resolve()))
  })
}
