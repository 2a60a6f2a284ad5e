import assert from 'node:assert/strict'
import { connect, createServer } from 'node:net'
import { test } from 'node:test'
import { requireFreePort, reservePort } from './free-port.ts'

test('a port is free, taken, and free again', async () => {
  const other = createServer()
  const port = await new Promise<number>((resolve) => {
    other.listen(0, '127.0.0.1', () => resolve((other.address() as { port: number }).port))
  })
  await assert.rejects(requireFreePort(port, '127.0.0.1'), { code: 'EADDRINUSE' })
  await new Promise((resolve) => other.close(resolve))
  await requireFreePort(port, '127.0.0.1')
  await requireFreePort(port, '127.0.0.1')
})

test('a reserved port is free only for the listener that takes it over', async () => {
  const { port, socket, release } = await reservePort('127.0.0.1')
  await assert.rejects(requireFreePort(port, '127.0.0.1'), { code: 'EADDRINUSE' })
  const listener = createServer((client) => client.end('taken over'))
  await new Promise<void>((listening) => listener.listen(socket, listening))
  const received: Buffer[] = []
  for await (const bytes of connect(port, '127.0.0.1')) received.push(bytes)
  assert.equal(Buffer.concat(received).toString(), 'taken over')
  await new Promise((closed) => listener.close(closed))
  release()
  await requireFreePort(port, '127.0.0.1')
})
