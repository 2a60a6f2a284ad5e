/**
 * Shared fixtures for tests of pods and workloads: a context, small valid objects, and errors as
 * short lines.
 */
import type { FieldError } from '#api/field-error.ts'
import type { KubeObject, Loose } from '#api/object-meta.ts'
import { allDefaults } from '#kinds/all-kinds/rules.fixture.ts'
import type { Context } from '#kinds/kind.ts'

/** Gates of 1.22 that rules of pods and workloads read, and that are on. */
const gatesOn = new Set([
  'AppArmor',
  'LocalStorageCapacityIsolation',
  'VolumeSubpath',
  'ConfigurableFSGroupPolicy',
  'CSIInlineVolume',
  'GenericEphemeralVolume',
  'TTLAfterFinished',
  'IndexedJob',
  'NonPreemptingPriority',
  'PodOverhead',
  'DaemonSetUpdateSurge',
  'PodDeletionCost',
  'PodAffinityNamespaceSelector',
  'SuspendJob',
])

export const contextOf = (changes: Partial<Context> = {}, ...gates: string[]): Context => ({
  release: 22,
  feature: (gate) => gatesOn.has(gate) || gates.includes(gate),
  now: '2021-01-01T00:00:00Z',
  namespace: 'default',
  ...changes,
})

export const container = (changes: Loose = {}): Loose => ({
  name: 'a',
  image: 'nginx',
  resources: {},
  imagePullPolicy: 'Always',
  terminationMessagePath: '/dev/termination-log',
  terminationMessagePolicy: 'File',
  ...changes,
})

export const podSpec = (changes: Loose = {}): Loose => ({
  containers: [container()],
  restartPolicy: 'Always',
  dnsPolicy: 'ClusterFirst',
  securityContext: {},
  terminationGracePeriodSeconds: 30,
  schedulerName: 'default-scheduler',
  serviceAccountName: 'default',
  ...changes,
})

const metadata = (name: string) => ({ name, namespace: 'default', uid: 'u', resourceVersion: '1' })

export const podOf = (spec: Loose = {}, annotations?: Record<string, string>): KubeObject => ({
  kind: 'Pod',
  apiVersion: 'v1',
  metadata: { ...metadata('p'), ...(annotations === undefined ? {} : { annotations }) },
  spec: podSpec(spec),
})

export const templateOf = (spec: Loose = {}): Loose => ({
  metadata: { labels: { app: 'web' } },
  spec: podSpec(spec),
})

export const objectOf = (kind: string, spec: Loose): KubeObject => ({
  kind,
  metadata: { ...metadata('x'), generation: 1 },
  spec,
})

/** The defaults of one type, applied to a value. */
export function withDefaults(type: string, value: Loose, release = 22): Loose {
  allDefaults[type]?.(value, contextOf({ release }))
  return value
}

/** `field: message`, the long explanations of patterns cut off. */
export const linesOf = (errors: readonly FieldError[]): string[] =>
  errors.map(({ field, message }) =>
    `${field}: ${message}`.replace(/: (?:a |an |name part must consist|must contain only).*$/, ''),
  )
