/** The steps of closing: in order, each bounded, a failed one reported and never the last. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ClosedWithProblems, type ClosingStep, runClosing } from './closing.ts'

test('steps run one after another', async () => {
  const order: string[] = []
  const step = (name: string): ClosingStep => ({
    name,
    run: async () => {
      await Promise.resolve()
      order.push(name)
    },
  })
  await runClosing([step('delay'), step('requests'), step('store')])
  assert.deepEqual(order, ['delay', 'requests', 'store'])
})

test('a step that fails or never ends is reported, and the rest runs', async () => {
  let closed = false
  const closing = runClosing([
    { name: 'watches', run: () => Promise.reject(new Error('no')) },
    { name: 'requests', run: () => new Promise(() => {}), timeoutMs: 5 },
    { name: 'store', run: () => void (closed = true) },
  ])
  await assert.rejects(closing, (error: ClosedWithProblems) => {
    assert.ok(error instanceof ClosedWithProblems)
    assert.deepEqual(error.problems, ['watches: no', 'requests: not done after 5 ms'])
    return true
  })
  assert.ok(closed)
})
