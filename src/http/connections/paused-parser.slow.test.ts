/** Large requests that follow large responses on one connection: none is broken off or mixed up. */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { createListener } from './listener.ts'
import { selfSigned } from './self-signed.fixture.ts'

const child = fileURLToPath(new URL('paused-parser.child.ts', import.meta.url))

test('large bodies after large responses over HTTP/1.1 arrive', async () => {
  const listener = createListener({
    ...selfSigned('echo'),
    clientAuthorities: undefined,
    async handle(wire) {
      const body = await wire.readBody(1 << 20)
      setTimeout(() => wire.answer(200, {}, body), 1)
    },
    upgrade: (wire) => wire.answer(400, {}, undefined),
    upgradesAt: () => false,
  })
  const port = await listener.listen(0, '127.0.0.1')
  try {
    const { stdout } = await promisify(execFile)(process.execPath, [child, String(port)])
    assert.deepEqual(JSON.parse(stdout), { right: 1000 })
  } finally {
    const drained = listener.drain()
    listener.destroy()
    await drained
  }
})
