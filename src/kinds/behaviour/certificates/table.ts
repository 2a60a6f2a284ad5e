/** The behaviours of certificates.k8s.io, by group and plural. */
import type { Behaviour } from '#kinds/kind.ts'
import { certificateSigningRequest } from './certificate-signing-request.ts'

export const certificateBehaviours: Readonly<Record<string, Behaviour>> = {
  'certificates.k8s.io/certificatesigningrequests': certificateSigningRequest,
}
