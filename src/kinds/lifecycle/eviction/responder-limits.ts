/** Limits that both lists of responders share. */

/** Ten responders of the pod, and the one of Kubernetes. */
export const respondersMax = 11
/** How far the clocks of responders may be from that of kube-apiserver. */
export const skewMs = 30_000
