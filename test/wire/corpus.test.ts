/**
 * Objects of our own making in corpus/, as JSON and as the protobuf Go's own serializer writes for
 * them. They have what the published golden objects lack (unions of schemas, lists, raw values, big
 * and negative numbers, keys beyond ASCII).
 */
import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import type { Json, Loose } from '#api/object-meta.ts'
import { encodeJson, parseJson } from '#codec/json.ts'
import {
  decodeMessage,
  encodeItem,
  encodeList,
  encodeObject,
  openEnvelope,
} from '#codec/protobuf.ts'
import { encodeYaml, parseYaml } from '#codec/yaml.ts'
import { loadFacts } from '#kinds/facts.ts'
import { conform } from '#schema/conform.ts'
import type { List, Struct } from '#schema/type.ts'

const folder = new URL('corpus/', import.meta.url)
const facts = loadFacts((name) =>
  readFileSync(new URL(`../../facts/${name}`, import.meta.url), 'utf8'),
)

function typeOf({ apiVersion, kind }: Loose): Struct {
  const [version, group = ''] = apiVersion.split('/').reverse()
  const own = facts.kindsOf(group, version, 22).get(kind)
  return facts.typeOf(own ?? `io.k8s.apimachinery.pkg.apis.meta.v1.${kind}`, 22)
}

const names = readdirSync(folder).filter((name) => name.endsWith('.json'))
for (const name of names) {
  const bytes = readFileSync(new URL(name.replace('.json', '.pb'), folder))
  const object = parseJson(readFileSync(new URL(name, folder), 'utf8')) as Loose
  // The order is Go's, but for keys that look like numbers, which JavaScript puts first.
  const text = encodeJson(object).toString()
  const type = typeOf(object)

  test(`${name}: JSON to JSON and YAML`, () => {
    const { value, unknown } = conform(type, parseJson(text))
    assert.deepEqual(unknown, [])
    assert.equal(encodeJson(value).toString(), text)
    const again = conform(type, parseYaml(encodeYaml(value).toString())).value
    assert.equal(encodeJson(again).toString(), text)
  })

  test(`${name}: JSON to protobuf and back`, () => {
    assert.equal(encodeObject(type, object).toString('hex'), bytes.toString('hex'))
    const { apiVersion, kind, raw } = openEnvelope(bytes)
    const value = conform(type, { kind, apiVersion, ...decodeMessage(type, raw) } as Json).value
    assert.equal(encodeJson(value).toString(), text)
  })

  if (name.endsWith('-list.json')) {
    test(`${name}: items that are encoded already are joined`, () => {
      const { kind, apiVersion, metadata, items } = object
      const { items: itemType } = type.byName.get('items')!.type as List
      const encoded = items.map((item: Loose) => encodeItem(itemType, item))
      const list = encodeList({ kind, apiVersion }, encoded, metadata)
      assert.equal(list.toString('hex'), bytes.toString('hex'))
    })
  }
}
