/**
 * All controllers, with kube-controller-manager's names, and the selection by `--controllers`. The
 * controllers themselves are loaded later, because a server is ready before it needs them.
 */
import { type ReleaseChange, change, releaseOf } from '#api/releases/change.ts'

export interface ControllerRow {
  /** False if the controller runs only when `--controllers` names it. */
  readonly onByDefault?: boolean
  /** The releases that have it. Absent: all. */
  readonly only?: ReleaseChange
}

export const controllerRows = {
  namespace: {},
  serviceaccount: {},
  'serviceaccount-token': {},
  'root-ca-cert-publisher': {
    only: change('namespaces have the config map kube-root-ca.crt', { since: 20 }),
  },
  garbagecollector: {},
  'clusterrole-aggregation': {},
  resourcequota: {},
  csrapproving: {},
  csrsigning: {},
  csrcleaner: {},
  tokencleaner: {},
  'pvc-protection': {},
  'pv-protection': {},
  podgc: {},
  disruption: {},
  bootstrapsigner: {},
  'ttl-after-finished': {
    only: change('finished jobs can be deleted after a time', { since: 21 }),
  },
  'validatingadmissionpolicy-status-controller': {
    only: change('the status of ValidatingAdmissionPolicies has warnings of type checking', {
      since: 30,
    }),
  },
  'service-cidr-controller': {
    only: change('ServiceCIDRs have a finalizer as long as services need them', { since: 33 }),
  },
  'volumeattributesclass-protection-controller': {
    only: change('classes of volume attributes remain as long as volumes use them', { since: 34 }),
  },
  'legacy-serviceaccount-token-cleaner-controller': {
    only: change('generated tokens of service accounts that are unused are deleted', { since: 29 }),
  },
  'storage-version-migrator-controller': {
    only: change('StorageVersionMigrations write the objects of a resource again', { since: 37 }),
  },
  replicaset: { onByDefault: false },
  deployment: { onByDefault: false },
  replicationcontroller: { onByDefault: false },
  cronjob: {
    onByDefault: false,
    only: change('cron jobs of batch/v1 start jobs', { since: 21 }),
  },
  endpoint: { onByDefault: false },
  endpointslice: {
    onByDefault: false,
    only: change('services have EndpointSlices of discovery.k8s.io/v1', { since: 21 }),
  },
  endpointslicemirroring: {
    onByDefault: false,
    only: change('Endpoints are mirrored as EndpointSlices of discovery.k8s.io/v1', { since: 21 }),
  },
} as const satisfies Record<string, ControllerRow>

export type ControllerName = keyof typeof controllerRows

/**
 * Evaluates `--controllers`. `*` selects all that are on by default, `name` adds one, `-name`
 * removes one, and `-*` removes all. A name does not need `*`. Returns an error for unknown names.
 */
export function selectControllers<Name extends string = ControllerName>(
  words: readonly string[],
  release: number,
  rows: Readonly<Record<Name, ControllerRow>> = controllerRows as never,
): readonly Name[] | { error: string } {
  const known = Object.keys(rows) as Name[]
  const said = words.map((word) => word.trim()).filter((word) => word !== '')
  for (const word of said) {
    const name = word.replace(/^-/, '')
    if (name === '*' || known.some((one) => one === name)) continue
    return {
      error: `--controllers: "${name}" is not in the list of known controllers: ${known.join(', ')}`,
    }
  }
  const star = said.includes('*') && !said.includes('-*')
  return known.filter((name) => {
    const { onByDefault = true, only } = rows[name]
    if (only !== undefined && !releaseOf(release).has(only)) return false
    if (said.includes(`-${name}`)) return false
    return said.includes(name) || (star && onByDefault)
  })
}
