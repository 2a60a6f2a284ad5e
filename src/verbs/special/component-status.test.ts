import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseListOptions } from '#api/list-options.ts'
import { refusalOf, startVerbs } from '#verbs/fixture.suite.ts'
import { getComponentStatus, listComponentStatuses } from './component-status.ts'

test('component statuses report only components, whatever is stored', async () => {
  const verbs = await startVerbs()
  await verbs.create('configmaps', { metadata: { name: 'stored' } })
  const names = async (query: string) => {
    const options = parseListOptions(new URLSearchParams(query), 22)
    const answer = await listComponentStatuses(
      verbs.server,
      verbs.target('componentstatuses'),
      options,
    )
    assert.ok(answer.is === 'list' && answer.revision === 0)
    return answer.entries.map(({ name }) => name)
  }
  assert.deepEqual(await names(''), ['controller-manager', 'scheduler', 'etcd-0'])
  assert.deepEqual(await names('fieldSelector=metadata.name%3Detcd-0'), ['etcd-0'])
  assert.deepEqual(await names('labelSelector=a'), [])
  const get = (name: string) =>
    getComponentStatus(verbs.server, verbs.target('componentstatuses', name))
  const answer = await get('etcd-0')
  assert.equal(answer.is === 'object' && answer.view.name, 'etcd-0')
  assert.equal(await refusalOf(get('stored')), '500 ')
  await verbs.stop()
})
