import assert from 'node:assert/strict'
import { test } from 'node:test'
import { bindingProblem, bindPod, checkBinding } from './binding.ts'
import { checkLogOptions, chooseContainer } from './container-choice.ts'
import { container, linesOf, podOf } from './pods.suite.ts'

test('a binding names a node', () => {
  assert.deepEqual(linesOf(checkBinding({ target: { kind: 'Pod' } })), [
    'target.kind: Unsupported value: "Pod": supported values: "Node", "<empty>"',
    'target.name: Required value',
  ])
  assert.deepEqual(checkBinding({ target: { kind: 'Node', name: 'n' } }), [])
})

test('a pod is bound once', () => {
  const pod = podOf()
  assert.equal(bindingProblem(pod), undefined)
  const binding = { metadata: { annotations: { a: 'b' } }, target: { name: 'n' } }
  bindPod(pod, binding, '2021-01-01T00:00:00Z')
  assert.equal(pod.spec.nodeName, 'n')
  assert.deepEqual(pod.metadata.annotations, { a: 'b' })
  assert.deepEqual(pod.status.conditions, [
    {
      type: 'PodScheduled',
      status: 'True',
      lastProbeTime: null,
      lastTransitionTime: '2021-01-01T00:00:00Z',
    },
  ])
  assert.equal(bindingProblem(pod), 'pod p is already assigned to node "n"')
})

test('which container is meant', () => {
  const one = podOf()
  const two = podOf({ containers: [container(), container({ name: 'b' })] })
  assert.deepEqual(chooseContainer(one, '', false), { container: 'a' })
  assert.deepEqual(chooseContainer(two, 'b', false), { container: 'b' })
  assert.deepEqual(chooseContainer(two, '', false), {
    problem: 'a container name must be specified for pod p, choose one of: [a b]',
  })
  assert.deepEqual(chooseContainer(one, 'x', false), {
    problem: 'container x is not valid for pod p',
  })
})

test('log options', () => {
  assert.deepEqual(linesOf(checkLogOptions({ tailLines: -1, limitBytes: 0, sinceSeconds: 0 })), [
    'tailLines: Invalid value: -1: must be greater than or equal to 0',
    'limitBytes: Invalid value: 0: must be greater than 0',
    'sinceSeconds: Invalid value: 0: must be greater than 0',
  ])
})
