import assert from 'node:assert/strict'
import { mock, test } from 'node:test'
import { Deadlines } from './deadlines.ts'

test('who takes too long is told, in the order of beginning, and nobody else', () => {
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

test('without a limit nobody is late', () => {
  mock.timers.enable({ apis: ['setTimeout'] })
  try {
    const deadlines = new Deadlines<string>(0, () => 0, assert.fail)
    deadlines.begin('a', 0)
    mock.timers.tick(1e9)
  } finally {
    mock.timers.reset()
  }
})
