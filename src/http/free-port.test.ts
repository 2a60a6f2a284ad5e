import assert from 'node:assert/strict'
import { createServer } from 'node:net'
import { test } from 'node:test'
import { requireFreePort } from './free-port.ts'

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
