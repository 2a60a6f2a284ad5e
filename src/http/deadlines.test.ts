import assert from 'node:assert/strict'
import { mock, test } from 'node:test'
import { Deadlines } from './deadlines.ts'

test('only expired requests are notified, in the order of their start', () => {
  mock.timers.enable({ apis: ['setTimeout'] })
  try {
    let nowMs = 0
    const late: string[] = []
    const deadlines = new Deadlines<string>(
      100,
      () => nowMs,
      (request) => void late.push(`${request} ${nowMs}`),
    )
    const pass = (ms: number) => {
      for (let i = 0; i < ms; i += 10) {
        nowMs += 10
        mock.timers.tick(10)
      }
    }
    deadlines.begin('quick', nowMs)
    deadlines.begin('a', nowMs)
    pass(50)
    deadlines.begin('b', nowMs)
    deadlines.end('quick')
    pass(30)
    deadlines.begin('in time', nowMs)
    pass(90)
    deadlines.end('in time')
    pass(100)
    deadlines.begin('c', nowMs)
    pass(200)
    assert.deepEqual(late, ['a 100', 'b 150', 'c 370'])
  } finally {
    mock.timers.reset()
  }
})

test('an expired request may start again, and one timer serves all', (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const timers = t.mock.method(globalThis, 'setTimeout')
  let nowMs = 0
  const late: string[] = []
  const deadlines = new Deadlines<string>(
    100,
    () => nowMs,
    (request) => {
      late.push(`${request} ${nowMs}`)
      if (nowMs < 300) deadlines.begin(request, nowMs)
    },
  )
  const pass = (ms: number) => {
    nowMs += ms
    t.mock.timers.tick(ms)
  }
  for (const request of ['a', 'b']) {
    deadlines.begin(request, nowMs)
    pass(50)
  }
  for (let i = 0; i < 10; i++) pass(50)
  assert.deepEqual(late, ['a 100', 'b 150', 'a 200', 'b 250', 'a 300', 'b 350'])
  assert.equal(timers.mock.callCount(), 6)
})

test('without a limit no request expires', () => {
  mock.timers.enable({ apis: ['setTimeout'] })
  try {
    const deadlines = new Deadlines<string>(0, () => 0, assert.fail)
    deadlines.begin('a', 0)
    mock.timers.tick(1e9)
  } finally {
    mock.timers.reset()
  }
})

test('a limit longer than any timer is checked repeatedly', (t) => {
  const waits: number[] = []
  t.mock.method(globalThis, 'setTimeout', (_: () => void, ms: number) => {
    waits.push(ms)
    return { unref() {} }
  })
  new Deadlines<string>(30 * 24 * 3_600_000, () => 0, assert.fail).begin('a', 0)
  assert.deepEqual(waits, [2 ** 31 - 1])
})

test('once the server stops, the timer ends with the last request', (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const cleared = t.mock.method(globalThis, 'clearTimeout')
  const rows = [
    { running: [], clears: 1 },
    { running: ['a'], clears: 0 },
  ]
  for (const { running, clears } of rows) {
    cleared.mock.resetCalls()
    const deadlines = new Deadlines<string>(100, () => 0, assert.fail)
    for (const request of ['earlier', ...running]) deadlines.begin(request, 0)
    deadlines.end('earlier')
    assert.equal(cleared.mock.callCount(), 0)
    deadlines.stop()
    assert.equal(cleared.mock.callCount(), clears, String(running))
    for (const request of running) deadlines.end(request)
    assert.equal(cleared.mock.callCount(), 1, String(running))
    deadlines.begin('late', 0)
    deadlines.end('late')
    assert.equal(cleared.mock.callCount(), 2, String(running))
  }
})
