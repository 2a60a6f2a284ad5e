import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { KubeObject, Loose } from '#api/object-meta.ts'
import { rememberEmpty } from '#api/written-empty.ts'
import type { Context } from '#kinds/kind.ts'
import { podBehaviour } from './behaviour.ts'
import { container, contextOf, linesOf, podOf } from '#kinds/pod-template/pods.suite.ts'

const here = contextOf()
const check = (object: KubeObject, context: Context = here) =>
  linesOf(podBehaviour.validateCreate?.(object, context) ?? [])

const privileged = { containers: [container({ securityContext: { privileged: true } })] }
const surelyNot = 'controller.kubernetes.io/pod-deletion-cost'

test('a pod that differs from a valid one is validated again', () => {
  const first = podOf(privileged)
  assert.deepEqual(check(first), [])
  assert.deepEqual(check(podOf(privileged)), [], 'a replica')
  const rows: [string, KubeObject, Context, string][] = [
    ['another image', podOf({ containers: [container({ image: '' })] }), here, 'image'],
    ['an annotation', podOf(privileged, { [surelyNot]: 'x' }), here, 'annotations'],
    ['a setting', podOf(privileged), { ...here, allowPrivileged: false }, 'privileged'],
    [
      'an invalid finalizer',
      { ...podOf(privileged), metadata: { ...first.metadata, finalizers: ['none'] } },
      here,
      'finalizers',
    ],
  ]
  for (const [what, object, context, message] of rows) {
    const lines = check(object, context)
    assert.ok(
      lines.length > 0 && lines.every((line) => line.includes(message)),
      `${what}: ${lines}`,
    )
  }
  ;(first.spec as Loose).containers[0].image = ''
  assert.equal(check(first).length, 1, 'the very pod, changed since')
})

test("claims of ephemeral volumes contain the pod's name, so each is validated", () => {
  const volumes = [
    {
      name: 'v',
      ephemeral: {
        volumeClaimTemplate: {
          spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
        },
      },
    },
    { name: 'w', persistentVolumeClaim: { claimName: 'q-v' } },
  ]
  const named = (name: string) => {
    const made = podOf({ volumes })
    made.metadata.name = name
    return made
  }
  assert.deepEqual(check(named('p')), [])
  assert.equal(check(named('q')).length, 1)
})

test('a pod with a list that was written empty is validated again', () => {
  const windows = { os: { name: 'windows' }, securityContext: {} }
  assert.deepEqual(check(podOf(windows)), [])
  const pod = podOf(windows)
  rememberEmpty(pod.spec.securityContext, 'supplementalGroups')
  const message =
    'spec.securityContext.supplementalGroups: Forbidden: cannot be set for a windows pod'
  assert.deepEqual(check(pod), [message])
})
