import assert from 'node:assert/strict'
import test from 'node:test'
import { createMemoryStorage } from '#storage/memory/memory.ts'
import type { Storage } from '#storage/storage.ts'
import { type Allocation, RangeClaims } from './range-claims.ts'

const key = '/registry/ranges/serviceips'
const form = {
  parse(bytes: Buffer): Allocation {
    const [range, data] = bytes.toString().split(' ') as [string, string]
    return { range, data: Buffer.from(data, 'hex') }
  },
  encode: ({ range, data }: Allocation) => Buffer.from(`${range} ${data.toString('hex')}`),
}
const usage = (held: number[], busy: number[] = []) => ({
  held: () => new Set(held),
  busy: (number: number) => busy.includes(number),
})

/** A store, and servers that claim numbers in it. */
function world() {
  const storage = createMemoryStorage()
  const server = (range = '10.0.0.0/24', via: Pick<Storage, 'get' | 'put'> = storage) =>
    new RangeClaims({ storage: via, key, range, resource: 'serviceipallocations', form })
  const stored = async () => {
    const { value } = await storage.get(key)
    return value && form.parse(value.bytes)
  }
  const hex = async () => (await stored())?.data.toString('hex')
  return { storage, server, stored, hex }
}

test('a number is allocated once, also to concurrent clients, and again after its release', async () => {
  const { server, hex } = world()
  const [one, two] = [server(), server()]
  await Promise.all([one.mend(async () => usage([])), two.mend(async () => usage([]))])
  const requested = Array.from({ length: 64 }, (_, i) => i)
  const claims = await Promise.all(
    requested.flatMap((number) => [one.claim([number]), two.claim([number])]),
  )
  for (const number of requested)
    assert.equal(Number(claims[2 * number]) + Number(claims[2 * number + 1]), 1, `${number}`)
  assert.equal(await hex(), 'ff'.repeat(8))
  assert.equal(await one.claim([64, 3]), false)
  await one.release([3, 5])
  assert.equal(two.has(3), true)
  await two.refresh()
  assert.deepEqual([two.has(3), two.has(64)], [false, false])
  assert.equal(await two.claim([64, 3]), true)
})

test('concurrent edits are one write', async () => {
  const { storage, server } = world()
  let writes = 0
  const one = server(undefined, {
    get: (...of) => storage.get(...of),
    put: (...of) => {
      writes++
      return storage.put(...of)
    },
  })
  await one.mend(async () => usage([]))
  writes = 0
  await Promise.all(Array.from({ length: 50 }, (_, i) => one.claim([i])))
  assert.equal(writes, 2)
  await one.mend(async () => usage(Array.from({ length: 50 }, (_, i) => i)))
  assert.equal(writes, 2, 'nothing to mend')
})

test('nothing is allocated from a missing or different range', async () => {
  const { storage, server, stored } = world()
  await assert.rejects(server().claim([1]), {
    message: 'cannot allocate resources of type serviceipallocations at this time',
  })
  await server().release([1])
  assert.equal(await stored(), undefined)
  await server('10.9.0.0/24').mend(async () => usage([7]))
  const before = await storage.get(key)
  await assert.rejects(server().claim([1]), {
    message: 'the provided range does not match the current range',
  })
  await server().release([7])
  assert.equal((await storage.get(key)).value?.revision, before.value?.revision)
})

test('a repair keeps the numbers of services, and frees others when it sees them a third time', async () => {
  const { server, hex } = world()
  const one = server()
  const mend = async (held: number[], busy: number[] = []) => {
    await one.mend(async () => usage(held, busy))
    return hex()
  }
  assert.equal(await mend([0]), '01')
  await server().claim([1, 2])
  assert.equal(await mend([0, 3], [2]), '0f', '1 is seen')
  assert.equal(await mend([0, 1, 3], [2]), '0f', '1 is held')
  assert.equal(await mend([0, 3], [2]), '0f', '1 is seen')
  assert.equal(await mend([0, 3], [2]), '0f', '1 is seen again')
  assert.equal(await mend([0, 3], [2]), '0d', '1 is free, 2 is still about to be stored')
  assert.equal(await mend([0, 3]), '0d', '2 is seen')
})

test('a changed range contains only the numbers of its services', async () => {
  const { server, stored, hex } = world()
  await server('10.9.0.0/24').mend(async () => usage([4, 5, 6]))
  await server().mend(async () => usage([1]))
  assert.deepEqual([(await stored())?.range, await hex()], ['10.0.0.0/24', '02'])
})

test('a range that changes during a repair is read again', async () => {
  const { server, hex } = world()
  const [one, two] = [server(), server()]
  await one.mend(async () => usage([]))
  let looks = 0
  await one.mend(async () => {
    if (looks++ === 0) await two.claim([1])
    return usage(looks === 1 ? [0] : [0, 1])
  })
  assert.deepEqual([looks, await hex()], [2, '03'])
})

test('after a write with an unknown outcome, the store is read', async () => {
  const { storage, server, hex } = world()
  let fails = false
  const one = server(undefined, {
    get: (...of) => storage.get(...of),
    async put(...of) {
      const outcome = await storage.put(...of)
      if (fails) throw new Error('away')
      return outcome
    },
  })
  await one.mend(async () => usage([]))
  fails = true
  await assert.rejects(one.claim([2]), /away/)
  fails = false
  assert.equal(await one.claim([2]), false)
  assert.equal(await one.claim([3]), true)
  assert.equal(await hex(), '0c')
})
