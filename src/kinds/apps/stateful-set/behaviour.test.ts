import { checkBoundaries } from '#api/releases/boundary.suite.ts'
import type { KubeObject, Loose } from '#api/object-meta.ts'
import { behaviourOf } from '#kinds/all-kinds/rules.fixture.ts'
import { contextOf, linesOf, objectOf, templateOf } from '#kinds/pod-template/pods.suite.ts'

const selector = { matchLabels: { app: 'web' } }
const setOf = (spec: Loose = {}, metadata: Loose = {}): KubeObject => {
  const set = objectOf('StatefulSet', {
    replicas: 1,
    selector,
    template: templateOf(),
    podManagementPolicy: 'Parallel',
    updateStrategy: { type: 'OnDelete' },
    ...spec,
  })
  return { ...set, metadata: { ...set.metadata, ...metadata } }
}
const rulesIn = (release: number) => behaviourOf('apps/statefulsets', release)

const claim = {
  metadata: { name: 'data' },
  spec: { accessModes: ['x'], resources: { requests: { storage: '1Gi' } } },
}
const partial = { type: 'OnDelete', rollingUpdate: { partition: 1, maxUnavailable: 2 } }
const notRolling = "only allowed for updateStrategy 'RollingUpdate'"

checkBoundaries<Loose, string[]>(
  (release, spec) =>
    linesOf(rulesIn(release).validateCreate?.(setOf(spec), contextOf({ release })) ?? []),
  [
    [
      'a rolling update that does not apply shows maxUnavailable',
      [23, 24],
      { updateStrategy: partial },
      [
        `spec.updateStrategy.rollingUpdate: Invalid value: apps.RollingUpdateStatefulSetStrategy{Partition:1}: ${notRolling}`,
      ],
      [
        `spec.updateStrategy.rollingUpdate: Invalid value: apps.RollingUpdateStatefulSetStrategy{Partition:1, MaxUnavailable:(*intstr.IntOrString)(0xc000000000)}: ${notRolling}`,
      ],
    ],
    [
      'the service name is a DNS label',
      [32, 33],
      { serviceName: 'a.b' },
      [],
      ['spec.serviceName: Invalid value: "a.b": must not contain dots'],
    ],
    [
      'the pod template is checked',
      [33, 34],
      { template: templateOf({ dnsPolicy: 'x' }) },
      [],
      [
        'spec.template.spec.dnsPolicy: Unsupported value: "x": supported values: "ClusterFirstWithHostNet", "ClusterFirst", "Default", "None"',
      ],
    ],
    [
      'claim templates are checked',
      [33, 34],
      { volumeClaimTemplates: [claim] },
      [],
      [
        'spec.volumeClaimTemplates[0].spec.accessModes: Unsupported value: "x": supported values: "ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod"',
      ],
    ],
  ],
)

const fewFields = (names: string) =>
  `spec: Forbidden: updates to statefulset spec for fields other than ${names} are forbidden`
const keepsClaims = {
  persistentVolumeClaimRetentionPolicy: { whenDeleted: 'Retain', whenScaled: 'Retain' },
}
const dropsClaims = {
  persistentVolumeClaimRetentionPolicy: { whenDeleted: 'Delete', whenScaled: 'Retain' },
}

checkBoundaries<{ old: Loose; next: Loose }, string[]>(
  (release, { old, next }) =>
    linesOf(
      rulesIn(release).validateUpdate?.(setOf(next), setOf(old), contextOf({ release })) ?? [],
    ),
  [
    [
      'the retention policy can change',
      [22, 23],
      { old: keepsClaims, next: dropsClaims },
      [fewFields("'replicas', 'template', 'updateStrategy' and 'minReadySeconds'")],
      [],
    ],
    [
      'the history limit can change',
      [32, 33],
      { old: { revisionHistoryLimit: 1 }, next: { revisionHistoryLimit: 2 } },
      [
        fewFields(
          "'replicas', 'ordinals', 'template', 'updateStrategy' and 'persistentVolumeClaimRetentionPolicy'",
        ),
      ],
      [],
    ],
  ],
)

checkBoundaries<string, string[]>(
  (release, name) => {
    const set = setOf({}, { name })
    return [...(rulesIn(release).nameRuleOf?.(set, contextOf({ release }))(name, false) ?? [])]
  },
  [['a name is a DNS label', [26, 27], 'a.b', [], ['must not contain dots']]],
)

checkBoundaries<Loose, unknown>(
  (release, spec) => {
    const set = setOf(spec)
    rulesIn(release).prepareForCreate?.(set, contextOf({ release }))
    return set.status
  },
  [
    [
      'the status of a new set counts available pods',
      [22, 23],
      {},
      { replicas: 0 },
      { replicas: 0, availableReplicas: 0 },
    ],
  ],
)
