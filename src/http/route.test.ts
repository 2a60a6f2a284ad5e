/** Requests that are rejected after work was started for them leave nothing behind. */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { livePicture } from '#verbs/read-at.ts'
import { startServed } from './served.fixture.ts'

const served = await startServed()
after(() => served.stop())

test('a watch without an acceptable representation is rejected and leaves no watcher', async () => {
  const kind = served.kind('', 'v1', 'configmaps')
  const { fanOut } = await livePicture(served.verbs.server, kind)
  const headers = { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' }
  const path = '/api/v1/namespaces/default/configmaps?watch=1&includeObject=Everything'
  const before = fanOut.size
  const { status, json } = await served.ask('GET', path, { headers })
  assert.deepEqual([status, json.reason, fanOut.size], [400, 'BadRequest', before])
})
