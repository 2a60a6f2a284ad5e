import assert from 'node:assert/strict'
import { systemClock } from '#base/clock.ts'
import { type TestContext, test } from 'node:test'
import { Expirer } from './expirer.ts'
import type { ExpireAnswer } from './protocol.ts'
import type { WriteQueue } from './write-queue.ts'

/** The requests to the writer, as `kind number`. The test advances the clock. */
class Scene {
  readonly requested: string[] = []
  /** The writer's next deadline; an error if the disk fails. */
  answer: number | undefined | Error
  /** Replies wait until this is called. */
  release: (() => void) | undefined
  /** The wall clock and the elapsed time; only the first can be adjusted. */
  #now = 1_000_000
  #elapsed = 0
  readonly #context: TestContext
  readonly expirer: Expirer

  constructor(context: TestContext) {
    this.#context = context
    context.mock.timers.enable({ apis: ['setTimeout'] })
    const clock = { ...systemClock, now: () => this.#now, elapsed: () => this.#elapsed }
    const ask = async (request: { kind: string; now?: number; byMs?: number }) => {
      this.requested.push(`${request.kind} ${request.now ?? request.byMs}`)
      const { answer, release } = this
      if (release) await new Promise<void>((resolve) => (this.release = resolve))
      if (answer instanceof Error) throw answer
      return { keys: [], revisions: [], nextDeadline: answer } satisfies ExpireAnswer
    }
    this.expirer = new Expirer(clock, { ask } as unknown as WriteQueue)
  }

  setClock(byMs: number): void {
    this.#now += byMs
  }

  /** The requests while time passes in steps of a tenth of a second. */
  async pass(ms: number): Promise<string[]> {
    for (let passed = 0; passed < ms; passed += 100) {
      this.#now += 100
      this.#elapsed += 100
      this.#context.mock.timers.tick(100)
      for (let i = 0; i < 5; i++) await Promise.resolve()
    }
    return this.requested.splice(0)
  }
}

test('deadlines of an earlier run are read at start and checked when they are due', async (t) => {
  const scene = new Scene(t)
  scene.answer = 1_005_000
  scene.expirer.start()
  assert.deepEqual(await scene.pass(4900), ['settle 1000000'])
  scene.answer = undefined
  assert.deepEqual(await scene.pass(100), ['expire 1005000'])
  assert.deepEqual(await scene.pass(10_000), [])
})

test('a new write expires in time, however late the others are', async (t) => {
  const scene = new Scene(t)
  assert.equal(scene.expirer.deadline(60_000), 1_060_000)
  assert.equal(scene.expirer.deadline(2000), 1_002_000)
  scene.answer = 1_060_000
  assert.deepEqual(await scene.pass(30_000), ['expire 1002000'])
  scene.answer = undefined
  assert.deepEqual(await scene.pass(30_000), ['expire 1060000'])
})

test('deletions that the disk rejected are repeated a second later', async (t) => {
  const scene = new Scene(t)
  scene.expirer.deadline(1000)
  scene.answer = new Error('the disk is full')
  assert.deepEqual(await scene.pass(2000), ['expire 1001000', 'expire 1002000'])
  scene.answer = undefined
  assert.deepEqual(await scene.pass(1000), ['expire 1003000'])
  assert.deepEqual(await scene.pass(5000), [])
})

const jumps: [name: string, byMs: number, requested: string[]][] = [
  // By the new time the old deadline has passed, so a check follows the shift and finds nothing
  // due.
  ['an hour on', 3_600_000, ['shift 3600000', 'expire 4602100']],
  ['an hour back', -3_600_000, ['shift -3600000']],
  ['a little, as all clocks drift', 5000, []],
]
for (const [name, byMs, expected] of jumps) {
  test(`a clock that is set ${name} deletes nothing sooner or later`, async (t) => {
    const scene = new Scene(t)
    scene.expirer.deadline(10_000)
    scene.answer = 1_010_000 + (expected.length > 0 ? byMs : 0)
    await scene.pass(1000)
    scene.setClock(byMs)
    assert.deepEqual(await scene.pass(8900), expected)
    scene.answer = undefined
    const [requested, ...more] = await scene.pass(1500)
    assert.match(requested, /^expire /)
    assert.deepEqual(more, [])
  })
}

test('an adjustment of the clock that could not be stored is detected again, once', async (t) => {
  const scene = new Scene(t)
  scene.expirer.deadline(600_000)
  scene.setClock(3_600_000)
  scene.answer = new Error('the disk is full')
  assert.deepEqual(await scene.pass(1000), ['shift 3600000'])
  scene.answer = 1_600_000 + 3_600_000
  assert.deepEqual(await scene.pass(10_000), ['shift 3600000', 'expire 4602100'])
})

test('one request at a time; keys that become due meanwhile wait', async (t) => {
  const scene = new Scene(t)
  scene.release = () => {}
  scene.expirer.deadline(1000)
  assert.deepEqual(await scene.pass(1000), ['expire 1001000'])
  scene.expirer.deadline(1000)
  assert.deepEqual(await scene.pass(3000), [])
  const { release } = scene
  scene.release = undefined
  release?.()
  assert.equal((await scene.pass(1000)).length, 1)
})

test('stopped, it sends no further requests', async (t) => {
  const scene = new Scene(t)
  scene.release = () => {}
  scene.answer = 1_002_000
  scene.expirer.start()
  scene.expirer.stop()
  scene.release()
  assert.deepEqual(await scene.pass(5000), ['settle 1000000'])
})
