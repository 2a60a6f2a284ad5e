import assert from 'node:assert/strict'
import { test } from 'node:test'
import { loadProgress } from './load-progress.ts'

const rows: [name: string, steps: [atMs: number, done: number][], lines: string[]][] = [
  [
    'a short load',
    [
      [0, 500],
      [1900, 1000],
      [2100, 1500],
    ],
    [],
  ],
  [
    'a long load',
    [
      [0, 500],
      [2000, 600],
      [6900, 700],
      [7000, 800],
      [9000, 1500],
    ],
    [
      'loading widgets.example.com into memory: 600 of 1500 objects',
      'loading widgets.example.com into memory: 800 of 1500 objects',
      'loaded widgets.example.com into memory: 1500 objects',
    ],
  ],
  [
    'a second load counts anew',
    [
      [0, 1500],
      [5000, 500],
      [6000, 1500],
    ],
    [],
  ],
]
for (const [name, steps, expected] of rows)
  test(name, () => {
    const lines: string[] = []
    let nowMs = 0
    const progress = loadProgress({ info: (line) => lines.push(line) }, () => nowMs)
    for (const [atMs, done] of steps) {
      nowMs = atMs
      progress({ group: 'example.com', plural: 'widgets' }, done, 1500)
    }
    assert.deepEqual(lines, expected)
  })
