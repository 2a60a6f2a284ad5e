import assert from 'node:assert/strict'
import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test, { after } from 'node:test'
import { makeRoom } from './log-room.ts'
import { openSqliteStorage } from './sqlite.ts'

const directory = mkdtempSync(join(tmpdir(), 'log-room-'))
after(() => rmSync(directory, { recursive: true }))

const megabyte = 1024 * 1024
const alone = (step: () => void) => {
  step()
  return true
}

test('the reserved length of a log', async () => {
  const plenty = () => 1e12
  const cases: [what: string, content: string, room: number, free: () => number, size: number][] = [
    ['shorter than the room', 'written', 3 * megabyte + 5, plenty, 3 * megabyte + 5],
    ['empty', '', 10, plenty, 10],
    ['as long', '0123456789', 10, plenty, 10],
    ['longer', '0123456789a', 10, plenty, 11],
    ['a disk with too little left', 'written', 1000, () => 63 * 993, 7],
    ['just enough left', 'written', 1000, () => 64 * 993, 1000],
  ]
  for (const [what, content, sizeBytes, freeBytes, size] of cases) {
    const file = join(directory, 'log')
    writeFileSync(file, content)
    await makeRoom({ file, sizeBytes, freeBytes, alone, isOver: () => false })
    const bytes = readFileSync(file)
    assert.equal(bytes.length, size, what)
    assert.equal(bytes.subarray(0, content.length).toString(), content, what)
    assert.ok(
      bytes.subarray(content.length).every((byte) => byte === 0),
      what,
    )
  }
})

test('reserving ends when it is stopped, and if there is no log', async () => {
  const file = join(directory, 'stopped')
  writeFileSync(file, '')
  let requested = 0
  await makeRoom({
    file,
    sizeBytes: 9 * megabyte,
    freeBytes: () => 1e12,
    alone,
    isOver: () => ++requested > 2,
  })
  assert.equal(statSync(file).size, 2 * megabyte)
  await makeRoom({ file: join(directory, 'missing'), sizeBytes: 10, alone, isOver: () => false })
  assert.equal(statSync(join(directory, 'missing'), { throwIfNoEntry: false }), undefined)
})

test('it retries a limited number of times while another connection is writing', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const file = join(directory, 'busy')
  for (const [refusals, tries, size] of [
    [3, 5, 10],
    [1000, 201, 0],
  ] as const) {
    writeFileSync(file, '')
    let tried = 0
    const made = makeRoom({
      file,
      sizeBytes: 10,
      freeBytes: () => 1e12,
      alone: (step) => ++tried > refusals && alone(step),
      isOver: () => false,
    })
    for (let i = 0; i < 300; i++) t.mock.timers.tick(20)
    await made
    assert.equal(tried, tries)
    assert.equal(statSync(file).size, size)
  }
})

for (const [before, later] of [
  [10, 10],
  [0, 10],
  [0, 0],
] as const) {
  const name = `${before} writes before room was made and ${later} later survive a crash`
  test(name, { timeout: 60_000 }, () => crashAfterRoom(before, later))
}

async function crashAfterRoom(before: number, later: number): Promise<void> {
  const home = join(directory, `state-${before}-${later}`)
  const room = 2 * megabyte
  const storage = await openSqliteStorage({ directory: home, checkpointBytes: room })
  const write = (name: string) =>
    storage.put(`/registry/${name}`, Buffer.from(name), { ifRevision: 0 })
  for (let i = 0; i < before; i++) await write(`before-${i}`)
  const log = join(home, 'state.db-wal')
  while (statSync(log).size < room) await new Promise((resolve) => setTimeout(resolve, 20))
  for (let i = 0; i < later; i++) await write(`later-${i}`)
  assert.equal(statSync(log).size, room, 'writes go into the room')

  const crashed = join(directory, `crashed-${before}-${later}`)
  mkdirSync(crashed)
  for (const name of ['state.db', 'state.db-wal'])
    copyFileSync(join(home, name), join(crashed, name))
  await storage.close()
  const again = await openSqliteStorage({ directory: crashed })
  const { value } = await again.count({ start: '/registry/', end: '/registry0' })
  assert.equal(value, before + later)
  await again.close()
}
