/** Whether a port can be listened on, found out by doing so for a moment. It accepts nobody. */
import { createServer } from 'node:net'

/** Rejects with what the system says where it cannot. */
export function requireFreePort(port: number, address: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const probe = createServer().once('error', reject)
    probe.listen(port, address, () => probe.close(() => resolve()))
  })
}
