import assert from 'node:assert/strict'
import { once } from 'node:events'
import { Readable } from 'node:stream'
import { test } from 'node:test'
import { readDirectly } from './read-directly.ts'

const source = () => new Readable({ read() {} })

test('a piece is read while it is pushed, and more are requested', () => {
  const socket = source()
  const taken: string[] = []
  readDirectly(socket, (bytes) => void taken.push(bytes.toString()))
  assert.equal(socket.push(Buffer.from('one')), true)
  assert.equal(socket.push(Buffer.alloc(1024 * 1024, 'x')), true)
  assert.deepEqual(
    taken.map((text) => text.length),
    [3, 1024 * 1024],
  )
  assert.equal(socket.readableLength, 0)
})

test('pieces that arrived before the reader are read first', async () => {
  const socket = source()
  const taken: string[] = []
  socket.push(Buffer.from('early'))
  readDirectly(socket, (bytes) => void taken.push(bytes.toString()))
  socket.push(Buffer.from('next'))
  await new Promise(setImmediate)
  socket.push(Buffer.from('last'))
  assert.equal(taken.join(' '), 'early next last')
})

test('the end is reported after the last piece', async () => {
  const socket = source()
  const taken: string[] = []
  readDirectly(socket, (bytes) => void taken.push(bytes.toString()))
  socket.push(Buffer.from('one'))
  socket.push(null)
  await once(socket, 'end')
  assert.deepEqual(taken, ['one'])
})
