import assert from 'node:assert/strict'
import { test } from 'node:test'
import { releaseOf } from '#api/releases/change.ts'
import type { AdmissionPlugin } from './admission.ts'
import { AdmissionChain, type AdmissionMeter } from './chain.ts'
import {
  certificateApproval,
  certificateSigning,
  certificateSubjectRestriction,
} from './certificate-plugins.ts'
import { lazyPlugin } from './lazy-plugin.ts'
import { defaultIngressClass } from './default-ingress-class.ts'
import { defaultTolerationSeconds } from './default-toleration-seconds.ts'
import { limitRanger } from './limit-ranger.ts'
import { type PluginOptions, pluginsInOrder } from './plugin-registry.ts'
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

const release = releaseOf(options.release)
/** The lazily loaded plugin, and the plugin itself. */
const itself: AdmissionPlugin[] = [
  certificateApproval(options.authorizer),
  certificateSigning(options.authorizer),
  certificateSubjectRestriction,
  defaultIngressClass(release),
  defaultStorageClass(release),
  defaultTolerationSeconds(300, 300),
  limitRanger({ release, podLevel: false }),
  persistentVolumeClaimResize,
  priorityPlugin(22),
  roleEscalation(options.authorizer, options.rbac),
  runtimeClassPlugin(() => true, 22),
  serviceAccountPlugin(options),
  storageObjectInUseProtection(release, options.feature),
  taintNodesByCondition,
]

const stepsOf = (plugin: AdmissionPlugin | undefined) => ({
  name: plugin?.name,
  mutates: plugin?.mutate !== undefined,
  validates: plugin?.validate !== undefined,
})

for (const plugin of itself) {
  test(`${plugin.name} declares its steps`, async () => {
    const promised = (await pluginsInOrder(options)).find(({ name }) => name === plugin.name)
    assert.deepEqual(stepsOf(promised), stepsOf(plugin))
  })
}

test('a plugin is loaded once, by the first write that it handles', async () => {
  let loads = 0
  const seen: string[] = []
  const plugin = lazyPlugin('Some', 'both', ['pods'], () => {
    loads++
    return {
      name: 'Some',
      mutate: () => void seen.push('mutate'),
      validate: () => void seen.push('validate'),
    }
  })
  const measured: string[] = []
  const meter: AdmissionMeter = {
    monotonicMs: () => 0,
    plugin: (name, step) => void measured.push(`${step} ${name}`),
    unconcerned: (names, step) => void measured.push(`${step} not ${names}`),
    step: () => {},
    webhook: () => {},
  }
  const everybody = { name: 'All', mutate: () => void seen.push('all') }
  const chain = new AdmissionChain([plugin, everybody], undefined as never, meter)
  const pod = requestOf('CREATE', podKind, {})
  const other = requestOf('CREATE', kindOf('v1', 'configmaps'), {})
  for (let i = 0; i < 2; i++) {
    await chain.mutate(other)
    await chain.validate(other)
  }
  assert.deepEqual([loads, ...seen], [0, 'all', 'all'])
  assert.deepEqual(measured.splice(0, 3), ['admit All', 'admit not Some', 'validate not Some'])
  await chain.mutate(pod)
  await chain.validate(pod)
  assert.deepEqual([loads, ...seen], [1, 'all', 'all', 'mutate', 'all', 'validate'])
  const last = ['admit Some', 'admit All', 'admit not ', 'validate Some', 'validate not ']
  assert.deepEqual(measured.slice(3), last)
})
