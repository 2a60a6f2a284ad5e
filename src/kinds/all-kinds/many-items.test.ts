/**
 * Objects with very many items must neither delay other requests nor fill the memory with errors.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type FieldError, problemsMax } from '#api/field-error.ts'
import { FieldPath } from '#api/field-path.ts'
import type { KubeObject, Loose } from '#api/object-meta.ts'
import { processorMs } from '#base/processor-time.fixture.ts'
import type { Behaviour } from '#kinds/kind.ts'
import { contextFor, inDefault, named } from './behaviour.suite.ts'
import { certificateSigningRequestBehaviour } from '#kinds/certificates/certificate-signing-request/behaviour.ts'
import { nodeBehaviour } from '#kinds/core/node/behaviour.ts'
import { resourceQuotaBehaviour } from '#kinds/core/resource-quota/behaviour.ts'
import { checkPodStatusUpdate } from '#kinds/core/pod/pod-status.ts'
import { podRules } from '#kinds/pod-template/pod-rules.ts'
import { checkRuntimeClass } from '#kinds/policy/pod-security-policy/id-rules.ts'
import { checkClientConfig } from '#kinds/admissionregistration/webhook-client.ts'
import { webhookConfigurationBehaviour } from '#kinds/admissionregistration/webhook-configuration.ts'
import { olderServiceBehaviour } from '#kinds/core/service/older-behaviour.ts'
import { csiNodeBehaviour } from '#kinds/storage/csi-node/behaviour.ts'
import { storageClassBehaviour } from '#kinds/storage/storage-class/behaviour.ts'

const many = <Item>(count: number, make: (i: number) => Item): Item[] =>
  Array.from({ length: count }, (_, i) => make(i))
const texts = (count: number) => many(count, (i) => `t${i}`)
const path = FieldPath.of('spec')

const created = (behaviour: Behaviour, object: KubeObject) => () =>
  behaviour.validateCreate?.(object, contextFor()) ?? []
const changed = (behaviour: Behaviour, next: KubeObject, old: KubeObject) => () =>
  behaviour.validateUpdate?.(next, old, contextFor()) ?? []

const statuses = (state: Loose) =>
  inDefault({
    spec: { restartPolicy: 'Never' },
    status: { containerStatuses: many(20_000, () => ({ name: 'a', ...state })) },
  })
const drivers = (nodeID: string) =>
  named({ spec: { drivers: many(20_000, (i) => ({ name: `d${i}.x`, nodeID })) } })

const rows: [what: string, check: () => readonly FieldError[], least: number][] = [
  [
    'families of a service',
    created(
      olderServiceBehaviour,
      inDefault({ spec: { type: 'ClusterIP', ports: [{}], ipFamilies: texts(25_000) } }),
    ),
    25_000,
  ],
  [
    'ranges of a node',
    created(nodeBehaviour, named({ spec: { podCIDRs: texts(25_000) } })),
    25_000,
  ],
  [
    'usages of a certificate',
    created(certificateSigningRequestBehaviour, named({ spec: { usages: texts(25_000) } })),
    25_000,
  ],
  [
    'conditions of a certificate',
    created(
      certificateSigningRequestBehaviour,
      named({
        status: { conditions: many(25_000, (i) => ({ type: `t${i}`, status: 'True' })) },
      }),
    ),
    1,
  ],
  [
    'empty terms of a storage class',
    created(
      storageClassBehaviour,
      named({ volumeBindingMode: 'Immediate', allowedTopologies: many(20_000, () => ({})) }),
    ),
    problemsMax,
  ],
  [
    'values of a term',
    created(
      storageClassBehaviour,
      named({
        volumeBindingMode: 'Immediate',
        provisioner: 'p',
        allowedTopologies: [{ matchLabelExpressions: [{ key: 'a', values: texts(25_000) }] }],
      }),
    ),
    0,
  ],
  [
    'scopes and resources of a quota',
    created(
      resourceQuotaBehaviour,
      inDefault({
        spec: {
          scopes: [...many(5000, () => 'BestEffort'), ...texts(5000)],
          hard: Object.fromEntries(many(5000, (i) => [`hugepages-${i}`, '1'])),
        },
      }),
    ),
    problemsMax,
  ],
  [
    'resources and scopes of a selector',
    created(
      resourceQuotaBehaviour,
      inDefault({
        spec: {
          scopeSelector: {
            matchExpressions: many(5000, () => ({ scopeName: 'BestEffort', operator: 'Exists' })),
          },
          hard: Object.fromEntries(many(5000, (i) => [`hugepages-${i}`, '1'])),
        },
      }),
    ),
    problemsMax,
  ],
  [
    'containers that run again after their end',
    () =>
      checkPodStatusUpdate(
        statuses({ state: { running: {} } }),
        statuses({ state: { terminated: {} } }),
        podRules(contextFor()),
      ),
    problemsMax,
  ],
  [
    'topology keys of a driver',
    created(
      csiNodeBehaviour,
      named({ spec: { drivers: [{ name: 'd.x', nodeID: 'n', topologyKeys: texts(25_000) }] } }),
    ),
    0,
  ],
  ['drivers of a node', changed(csiNodeBehaviour, drivers('n'), drivers('m')), 20_000],
  [
    'names of runtimes',
    () => checkRuntimeClass({ allowedRuntimeClassNames: texts(25_000) }, path),
    0,
  ],
  [
    'steps of a path',
    () =>
      checkClientConfig(
        { service: { name: 'a', namespace: 'b', port: 1, path: '/'.repeat(40_000) } },
        path,
      ),
    39_998,
  ],
  [
    'versions of reviews',
    created(
      webhookConfigurationBehaviour,
      named({ webhooks: [{ name: 'a.b.c', admissionReviewVersions: texts(25_000) }] }),
    ),
    1,
  ],
]
for (const [what, check, least] of rows) {
  test(`many ${what} cost one pass`, () => {
    const took = processorMs(() => {
      const { length } = check()
      assert.ok(length >= least && length < least + 100_000, `${length} problems`)
    })
    assert.ok(took < 2500, `${took} ms`)
  })
}
