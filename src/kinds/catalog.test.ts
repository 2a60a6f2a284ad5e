import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Catalog } from './catalog.ts'
import type { Kind, Resource } from './kind.ts'

function resourceOf(group: string, plural: string, kind: string, ...versions: string[]): Resource {
  const resource = { group, plural, kinds: [] as Kind[] }
  for (const version of versions) {
    const apiVersion = group === '' ? version : `${group}/${version}`
    resource.kinds.push({ group, version, plural, kind, apiVersion, resource } as never)
  }
  return resource as unknown as Resource
}

test('kinds are found by path, by resource and by name, until they are removed', () => {
  const catalog = new Catalog([{ group: '', version: 'v1' }])
  const pods = resourceOf('', 'pods', 'Pod', 'v1')
  const things = resourceOf('example.com', 'things', 'Thing', 'v1', 'v2')
  catalog.add(pods)
  catalog.add(things)
  assert.equal(catalog.find('example.com', 'v2', 'things'), things.kinds[1])
  assert.equal(catalog.find('example.com', 'v3', 'things'), undefined)
  assert.equal(catalog.resource('', 'pods'), pods)
  assert.equal(catalog.byKind('example.com/v1', 'Thing'), things.kinds[0])
  catalog.remove(things)
  assert.equal(catalog.find('example.com', 'v2', 'things'), undefined)
  assert.equal(catalog.resource('example.com', 'things'), undefined)
  assert.equal(catalog.byKind('example.com/v1', 'Thing'), undefined)
})

test('a group version exists from its first kind until its last', () => {
  const catalog = new Catalog([{ group: 'apps', version: 'v1' }])
  const shown = () => catalog.groupVersions.map(({ group, version }) => `${group}/${version}`)
  const things = resourceOf('example.com', 'things', 'Thing', 'v1')
  const others = resourceOf('example.com', 'others', 'Other', 'v1')
  catalog.add(things)
  catalog.add(others)
  assert.deepEqual(shown(), ['apps/v1', 'example.com/v1'])
  catalog.remove(things)
  assert.deepEqual(shown(), ['apps/v1', 'example.com/v1'])
  catalog.remove(others)
  assert.deepEqual(shown(), ['apps/v1'])
})

test('a listener receives every change until it stops, and none after that', () => {
  const catalog = new Catalog([])
  const things = resourceOf('example.com', 'things', 'Thing', 'v1')
  let heard = 0
  const stop = catalog.onChange(() => heard++)
  catalog.add(things)
  catalog.remove(things)
  catalog.remove(things)
  assert.deepEqual([heard, catalog.generation], [2, 2])
  stop()
  catalog.add(things)
  assert.deepEqual([heard, catalog.generation], [2, 3])
})
