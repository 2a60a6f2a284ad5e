import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { KubeObject, Loose } from '#api/object-meta.ts'
import { sliceChanges, type SliceGroup } from './slice-changes.ts'

const metadata = { generateName: 'web-', labels: { app: 'web' } }
const port = (number: number) => ({ name: 'http', port: number, protocol: 'TCP' })
const endpoint = (address: string) => ({ addresses: [address], conditions: { ready: true } })

const slice = (name: string, number: number, addresses: string, more: Loose = {}): KubeObject => ({
  metadata: { name, labels: { app: 'web' }, ownerReferences: [{ uid: 'me' }], ...more } as never,
  addressType: 'IPv4',
  ports: number === 0 ? [] : [port(number)],
  endpoints: [...addresses].map(endpoint),
})
const group = (number: number, addresses: string, addressType = 'IPv4'): SliceGroup => ({
  addressType,
  ports: number === 0 ? [] : [port(number)],
  endpoints: [...addresses].map(endpoint),
})
const shown = (slices: readonly Loose[]) =>
  slices.map(({ metadata: { name }, addressType, ports, endpoints }) =>
    [
      name ?? addressType,
      ports[0]?.port ?? 'any',
      endpoints.map(({ addresses }: Loose) => addresses[0]).join(''),
    ].join(' '),
  )

type Row = [
  what: string,
  groups: SliceGroup[],
  existing: KubeObject[],
  create: string[],
  update: string[],
  remove: string[],
]
const rows: Row[] = [
  ['nothing', [], [], [], [], []],
  ['placeholders', [group(0, ''), group(0, '', 'IPv6')], [], ['IPv4 any ', 'IPv6 any '], [], []],
  ['a placeholder that is there', [group(0, '')], [slice('s', 0, '')], [], [], []],
  ['the first endpoints', [group(80, 'ab')], [], ['IPv4 80 ab'], [], []],
  ['the first after a placeholder', [group(80, 'a')], [slice('s', 0, '')], [], ['s 80 a'], []],
  ['too many for one', [group(80, 'abcde')], [], ['IPv4 80 abc', 'IPv4 80 de'], [], []],
  ['the same endpoints', [group(80, 'ba')], [slice('s', 80, 'ab')], [], [], []],
  ['one more', [group(80, 'abc')], [slice('s', 80, 'ab')], [], ['s 80 abc'], []],
  [
    'one more beside a full slice',
    [group(80, 'abcde')],
    [slice('s', 80, 'abc'), slice('t', 80, 'd')],
    [],
    ['t 80 de'],
    [],
  ],
  ['one instead of another', [group(80, 'abx')], [slice('s', 80, 'abc')], [], ['s 80 abx'], []],
  [
    'an empty slice beside another',
    [group(80, 'a')],
    [slice('s', 80, 'a'), slice('t', 80, 'b')],
    [],
    [],
    ['t 80 b'],
  ],
  ['another port', [group(81, 'a')], [slice('s', 80, 'a')], [], ['s 81 a'], []],
  [
    'another owner',
    [group(80, 'a')],
    [slice('s', 80, 'a', { ownerReferences: [{ uid: 'other' }] })],
    ['IPv4 80 a'],
    [],
    ['s 80 a'],
  ],
  ['other labels', [group(80, 'a')], [slice('s', 80, 'a', { labels: {} })], [], ['s 80 a'], []],
  ['no groups', [], [slice('s', 80, 'a')], [], [], ['s 80 a']],
]
for (const [what, groups, existing, create, update, remove] of rows)
  test(`slices for ${what}`, () => {
    const changes = sliceChanges(groups, existing, { metadata, endpointsMax: 3, owner: 'me' })
    assert.deepEqual(
      [shown(changes.create), shown(changes.update), shown(changes.remove)],
      [create, update, remove],
    )
  })
