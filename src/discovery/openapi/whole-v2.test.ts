import assert from 'node:assert/strict'
import test from 'node:test'
import { facts } from '#discovery/kinds-of-facts.suite.ts'
import { orderedGroups, priorities } from '#discovery/group-order.ts'
import type { Kind, Subresource } from '#kinds/kind.ts'
import { documentV2 } from './document-v2.suite.ts'
import { encodeDocumentV2 } from './protobuf-v2.ts'
import type { OpenApiSource } from './source.ts'
import { asProtobuf, asText, WholeV2 } from './whole-v2.ts'

type Names = Pick<Kind, 'group' | 'version' | 'plural' | 'kind' | 'listKind'>

const gears = { group: 'a.example.com', version: 'v1', plural: 'gears', kind: 'Gear' } as const
const named = (more: Partial<Names>): Names => {
  const names = { ...gears, ...more }
  return { listKind: `${names.kind}List`, ...names }
}

const verbs = ['delete', 'deletecollection', 'get', 'list', 'patch', 'create', 'update', 'watch']
const viewVerbs = new Set(['get', 'patch', 'update'])

function kindOf(names: Names, namespaced: boolean, subs: readonly string[]): Kind {
  const apiVersion = `${names.group}/${names.version}`
  const all: Record<string, Subresource> = {
    status: { name: 'status', apiVersion, kind: names.kind, verbs: viewVerbs },
    scale: { name: 'scale', apiVersion: 'autoscaling/v1', kind: 'Scale', verbs: viewVerbs },
  }
  const subresources = new Map(subs.map((name) => [name, all[name]]))
  const made = { ...names, apiVersion, namespaced, verbs: new Set(verbs), subresources }
  return made as unknown as Kind
}

/** Kinds that share a pattern, and between them kinds that no pattern fits. */
const rows: readonly [what: string, names: Names][] = [
  ['plain names', named({})],
  ['another of the same shape', named({ plural: 'cogs', kind: 'Cog' })],
  ['a list of another name', named({ plural: 'sheep', kind: 'Sheep', listKind: 'Flock' })],
  ['a longer group', named({ group: 'x-y.b.example.com', plural: 'bees', kind: 'Bee' })],
  ['a group of Kubernetes', named({ group: 'new.k8s.io', plural: 'news', kind: 'News' })],
  ['a version with a hyphen', named({ version: 'v1-beta', plural: 'wheels', kind: 'Wheel' })],
  ['a kind in small letters', named({ plural: 'smalls', kind: 'small' })],
  ['a kind with a dash', named({ plural: 'dashes', kind: 'Da-Sh' })],
  ['long names', named({ plural: 'p'.repeat(63), kind: `K${'k'.repeat(62)}` })],
]
const scopes: readonly [namespaced: boolean, subresources: readonly string[]][] = [
  [true, []],
  [false, []],
  [true, ['status']],
  [false, ['status', 'scale']],
  [true, ['scale']],
]

function sourceOf(kinds: Kind[]): OpenApiSource {
  const groups = orderedGroups(kinds, priorities(facts, 22))
  return { facts, release: 22, kinds, groups, applies: true, schemaOf: () => undefined }
}

test('a pattern writes each kind as if it were written alone', async () => {
  const [text, protobuf] = [new WholeV2(asText), new WholeV2(asProtobuf)]
  for (const [namespaced, subs] of scopes) {
    const kinds = rows.map(([, names]) => kindOf(names, namespaced, subs))
    const source = sourceOf(kinds)
    const whole = documentV2(source)
    const written = JSON.parse((await text.make(source)).toString())
    for (const [i, [what]] of rows.entries()) {
      const own = (name: string) => name.split('/').includes(kinds[i].plural)
      const pathsOf = ({ paths }: { paths?: unknown }) =>
        Object.entries(paths as object).filter(([name]) => own(name))
      assert.deepEqual(pathsOf(written), pathsOf(whole), `${what}, ${namespaced} ${subs}`)
    }
    assert.equal(JSON.stringify(written), JSON.stringify(whole))
    const bytes = await protobuf.make(source)
    assert.ok(bytes.equals(encodeDocumentV2(whole)), `protobuf, ${namespaced} ${subs}`)
  }
})
