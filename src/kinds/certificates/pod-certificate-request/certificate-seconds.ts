/** How long certificates of pods are valid at least and at most. */
export const certificateSecondsMin: number = 60 * 60
const secondsMax = 91 * 24 * 60 * 60
/** Certificates of Kubernetes' own signers are valid for at most one day. */
const secondsMaxOfKubernetes = 24 * 60 * 60

export function certificateSecondsMaxOf(signer: string): number {
  const host = signer.split('/', 1)[0] as string
  const isKubernetes = host === 'kubernetes.io' || host.endsWith('.kubernetes.io')
  return isKubernetes ? secondsMaxOfKubernetes : secondsMax
}
