/** The result of a write whose object is deleted or recreated during admission. */
import assert from 'node:assert/strict'
import test, { after } from 'node:test'
import { AdmissionChain } from '#admission/chain.ts'
import type { Loose } from '#api/object-meta.ts'
import { refusalOf, startVerbs } from './fixture.suite.ts'
import { patch } from './patch.ts'
import type { PatchRequest, Server } from './server.ts'
import { update } from './update.ts'

const verbs = await startVerbs()
after(() => verbs.stop())

let meanwhile: (() => Promise<unknown>) | undefined
const plugin = {
  name: 'Slow',
  validate: async () => {
    const act = meanwhile
    meanwhile = undefined
    await act?.()
  },
}
const server: Server = {
  ...verbs.server,
  admission: new AdmissionChain([plugin], verbs.server.reader),
}

const bodies: Readonly<Record<string, Loose>> = {
  configmaps: { data: { a: 'b' } },
  leases: { spec: { holderIdentity: 'a' } },
  endpoints: {},
  services: { spec: { ports: [{ port: 80 }], clusterIP: 'None', clusterIPs: ['None'] } },
}
const gone = '409 Conflict' // A precondition of the uid, not of the version.
const missed = '404 NotFound'
const made = 'none'

type Way = 'put' | PatchRequest['patchType']
const cases: [
  plural: string,
  way: Way,
  named: ('uid' | 'resourceVersion')[],
  gone: string,
  anew: string,
][] = [
  ['configmaps', 'put', [], missed, made],
  ['configmaps', 'put', ['uid'], gone, gone],
  ['configmaps', 'put', ['resourceVersion'], missed, 'modified'],
  ['configmaps', 'put', ['uid', 'resourceVersion'], gone, gone],
  ['configmaps', 'merge', [], missed, made],
  ['configmaps', 'merge', ['resourceVersion'], missed, 'modified'],
  ['configmaps', 'strategic', [], missed, made],
  ['configmaps', 'apply', [], made, made],
  ['leases', 'put', ['resourceVersion'], made, 'modified'],
  ['leases', 'put', ['uid', 'resourceVersion'], gone, gone],
  ['endpoints', 'put', [], made, made],
  ['endpoints', 'put', ['uid'], gone, gone],
  // Services are read first, and written as the object that was read.
  ['services', 'put', ['resourceVersion'], gone, gone],
  ['services', 'merge', [], gone, gone],
  ['services', 'apply', [], gone, gone],
]
for (const [plural, way, named, whenGone, whenAnew] of cases) {
  for (const [what, expected] of [
    ['gone', whenGone],
    ['made anew', whenAnew],
  ]) {
    test(`${way} of ${plural} that are ${what}, naming ${named.join(' and ') || 'nothing'}`, async () => {
      const create = () => verbs.create(plural, { metadata: { name: 'a' }, ...bodies[plural] })
      const { metadata } = await create()
      meanwhile = async () => {
        await verbs.remove(plural, 'a')
        if (what === 'made anew') await create()
      }
      const wanted = Object.fromEntries(named.map((field) => [field, metadata[field]]))
      const change = { metadata: { ...wanted, labels: { x: 'y' } } }
      assert.equal(await reported(plural, way, change), expected)
      assert.equal(meanwhile, undefined)
      const left = await refusalOf(verbs.get(plural, 'a'))
      assert.equal(left, expected === made || what === 'made anew' ? 'none' : missed)
      await refusalOf(verbs.remove(plural, 'a'))
    })
  }
}

async function reported(plural: string, way: Way, change: Loose): Promise<string> {
  const target = verbs.target(plural, 'a')
  const { kind, apiVersion } = target.kind
  const whole = { ...bodies[plural], metadata: { ...change.metadata, name: 'a' } }
  const sent = way === 'apply' ? { ...whole, kind, apiVersion } : change
  const work =
    way === 'put'
      ? update(server, verbs.request(target, whole))
      : patch(server, {
          ...verbs.request(target),
          patchType: way,
          patchBytes: Buffer.from(JSON.stringify(sent)),
        })
  const message = await work.then(
    () => '',
    (error: Error) => error.message,
  )
  return /has been modified/.test(message)
    ? 'modified'
    : /UID in precondition/.test(message)
      ? gone
      : refusalOf(work)
}
