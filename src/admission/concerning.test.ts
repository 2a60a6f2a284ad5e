import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { AdmissionPlugin } from './admission.ts'
import {
  certificateApproval,
  certificateSigning,
  certificateSubjectRestriction,
} from './certificate-plugins.ts'
import { concerning } from './concerning.ts'
import { defaultIngressClass } from './default-ingress-class.ts'
import { defaultTolerationSeconds } from './default-toleration-seconds.ts'
import { limitRanger } from './limit-ranger.ts'
import { type PluginOptions, pluginsInOrder } from './order.ts'
import { persistentVolumeClaimResize } from './persistent-volume-claim-resize.ts'
import { priorityPlugin } from './priority.ts'
import { kindOf, podKind, requestOf } from './requests.suite.ts'
import { roleEscalation } from './role-escalation.ts'
import { runtimeClassPlugin } from './runtime-class.ts'
import { serviceAccountPlugin } from './service-account.ts'
import { defaultStorageClass, storageObjectInUseProtection } from './storage-defaults.ts'
import { taintNodesByCondition } from './taint-nodes.ts'

const options = {
  release: 22,
  feature: () => true,
  enable: [],
  disable: ['PodSecurity'],
} as unknown as PluginOptions

/** What is loaded later, and in itself. */
const itself: AdmissionPlugin[] = [
  certificateApproval(options.authorizer),
  certificateSigning(options.authorizer),
  certificateSubjectRestriction,
  defaultIngressClass,
  defaultStorageClass,
  defaultTolerationSeconds,
  limitRanger,
  persistentVolumeClaimResize,
  priorityPlugin(22),
  roleEscalation(options.authorizer, options.rbac),
  runtimeClassPlugin(() => true),
  serviceAccountPlugin(options),
  storageObjectInUseProtection,
  taintNodesByCondition,
]

const stepsOf = (plugin: AdmissionPlugin | undefined) => ({
  name: plugin?.name,
  mutates: plugin?.mutate !== undefined,
  validates: plugin?.validate !== undefined,
})

for (const plugin of itself) {
  test(`${plugin.name} promises the steps it has`, async () => {
    const promised = (await pluginsInOrder(options)).find(({ name }) => name === plugin.name)
    assert.deepEqual(stepsOf(promised), stepsOf(plugin))
  })
}

test('a plugin is loaded once, by the first write that concerns it', async () => {
  let loads = 0
  const seen: string[] = []
  const plugin = concerning('Some', 'both', ['pods'], () => {
    loads++
    return {
      name: 'Some',
      mutate: () => void seen.push('mutate'),
      validate: () => void seen.push('validate'),
    }
  })
  const reader = undefined as never
  const pod = requestOf('CREATE', podKind, {})
  const other = requestOf('CREATE', kindOf('v1', 'configmaps'), {})
  plugin.mutate?.(other, reader)
  assert.equal(loads, 0)
  plugin.mutate?.(pod, reader)
  plugin.validate?.(pod, reader)
  assert.deepEqual([loads, ...seen], [1, 'mutate', 'validate'])
})
