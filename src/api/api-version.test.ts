import assert from 'node:assert/strict'
import { test } from 'node:test'
import { groupOf, versionOf } from './api-version.ts'

const rows: [apiVersion: string, group: string, version: string][] = [
  ['apps/v1', 'apps', 'v1'],
  ['v1', '', 'v1'],
  ['', '', ''],
  ['/v1', '', 'v1'],
  ['apps/', 'apps', ''],
  ['a/b/c', 'a', 'c'],
]
for (const [apiVersion, group, version] of rows)
  test(`${JSON.stringify(apiVersion)} is ${version} of ${JSON.stringify(group)}`, () => {
    assert.deepEqual([groupOf(apiVersion), versionOf(apiVersion)], [group, version])
  })
