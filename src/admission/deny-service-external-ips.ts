/** Rejects new externalIPs of services, because a user could intercept traffic with them. */
import type { AdmissionPlugin } from './admission.ts'
import { isMain, isWrite } from './match.ts'
import { refusal } from './refusal.ts'

export const denyServiceExternalIps: AdmissionPlugin = {
  name: 'DenyServiceExternalIPs',
  validate(request) {
    if (!isMain(request, '', 'services') || !isWrite(request)) return
    const before: string[] = request.old?.spec?.externalIPs ?? []
    const after: string[] = request.object?.spec?.externalIPs ?? []
    if (after.every((address) => before.includes(address))) return
    throw refusal(request, 'Use of external IPs is denied by admission control')
  },
}
