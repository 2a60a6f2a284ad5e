/**
 * Changes of the fields that are stored. Defaults fill a new field in. older-forms.ts looks for
 * stored objects that lack it or have a field that the release dropped.
 */
import { change } from '#api/releases/change.ts'

export const metadataIsPlain = change('metadata has neither initializers nor v1alpha1 owners', {
  since: 16,
})
export const nodesHavePodCidrs = change('nodes have spec.podCIDRs', { since: 16 })
export const podsHaveAddressLists = change('pods have status.podIPs', { since: 16 })
export const driversHaveLifecycles = change('a CSIDriver has volumeLifecycleModes', { since: 16 })
export const claimsHaveTypes = change('claim templates of a StatefulSet have kind and apiVersion', {
  since: 17,
})
export const pathsHaveTypes = change('paths of an Ingress have a pathType', { since: 18 })
export const requestsHaveSigners = change('certificate signing requests have spec.signerName', {
  since: 18,
})
export const nullServicesAreDropped = change('an APIService stores no null as its service', {
  since: 18,
})
export const conditionsHaveStatus = change(
  'conditions of certificate signing requests have a status',
  { since: 19 },
)
export const claimTemplatesHaveModes = change('claim templates have a volumeMode', { since: 19 })
export const seriesHaveNoState = change('series of events have no state', { since: 19 })
export const servicesHaveClusterIps = change('services have spec.clusterIPs', { since: 20 })
export const servicesHaveNoFamily = change('services have no spec.ipFamily', { since: 20 })
export const ephemeralHaveDefaults = change(
  'ephemeral containers have the defaults of other containers',
  { since: 20 },
)
export const daemonSetsCanSurge = change(
  'a DaemonSet can start new pods before it stops old ones',
  { since: 21 },
)
export const parametersHaveScope = change('parameters of an IngressClass have a scope', {
  since: 21,
})
export const servicesHaveNoTopology = change('services have no spec.topologyKeys', { since: 22 })
export const setsCountAvailable = change('a StatefulSet shows availableReplicas, even if none is', {
  since: 23,
})
/** 1.24 to 1.27 store a status, later releases remove it. */
export const policyStatusChanges = change(
  'a stored NetworkPolicy gets the status of 1.24 to 1.27, or loses it later',
  { since: 24 },
)
export const metadataHasNoCluster = change('metadata has no clusterName', { since: 25 })
export const selectorIsDefaulted = change('jobs show that their selector is generated', {
  since: 29,
})
export const zeroTimesAreOmitted = change('templates have no creationTimestamp: null', {
  since: 34,
})
