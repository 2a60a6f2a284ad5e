/** Certificate requests that have served their purpose, or never will, are deleted after a time. */
import { X509Certificate } from 'node:crypto'
import type { KubeObject, Loose } from '#api/object-meta.ts'
import { pause } from '#client/backoff.ts'
import type { Controller, ControllerParts } from '#controllers/controller.ts'
import { unlessOvertaken } from '#controllers/queue-for.ts'
import { certificateRequests } from '#controllers/resources.ts'

const hourMs = 3_600_000
/** After these times a request in this state is of no use to anyone. */
const answeredMs = hourMs
const pendingMs = 24 * hourMs

export const certificateCleaning: Controller = {
  name: 'csrcleaner',
  account: 'certificate-controller',
  start: (parts) => void run(parts),
}

async function run({
  client,
  informers,
  clock,
  release,
  signal,
  report,
}: ControllerParts): Promise<void> {
  const requests = informers.certificateRequests(release)
  await requests.synced
  while (!signal.aborted) {
    for (const request of [...requests.values()]) {
      if (!isOver(request, clock.now())) continue
      const { name = '', uid } = request.metadata
      const deletion = client.delete(certificateRequests(release), '', name, { uid })
      await unlessOvertaken(deletion).catch((error) =>
        report(`csrcleaner: ${name} was not deleted`, error),
      )
    }
    await pause(hourMs, signal)
  }
}

export function isOver({ metadata, status }: KubeObject, nowMs: number): boolean {
  const older = (time: string | null | undefined, ms: number) =>
    typeof time === 'string' && nowMs - Date.parse(time) > ms
  const conditions: Loose[] = status?.conditions ?? []
  if (conditions.length === 0) return older(metadata.creationTimestamp, pendingMs)
  const issued = Boolean(status?.certificate)
  return conditions.some(({ type, lastUpdateTime }) => {
    if (type === 'Denied' || type === 'Failed') return older(lastUpdateTime, answeredMs)
    if (type !== 'Approved' || !issued) return false
    return older(lastUpdateTime, answeredMs) || isExpired(status?.certificate, nowMs)
  })
}

function isExpired(certificate: string, nowMs: number): boolean {
  try {
    return Date.parse(new X509Certificate(Buffer.from(certificate, 'base64')).validTo) < nowMs
  } catch {
    return false
  }
}
