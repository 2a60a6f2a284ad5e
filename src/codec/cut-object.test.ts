import assert from 'node:assert/strict'
import test from 'node:test'
import type { KubeObject } from '#api/object-meta.ts'
import {
  cutStored,
  encodeCut,
  joinCut,
  revisionText,
  typeHeader,
  identityOf,
} from './cut-object.ts'

const header = typeHeader('Thing', 'v1')
const thing = (metadata: object, rest: object = {}): KubeObject =>
  ({ kind: 'Thing', apiVersion: 'v1', metadata, ...rest }) as KubeObject

const objects: KubeObject[] = [
  thing({ name: 'a', uid: 'u' }),
  thing(
    { name: 'ä', namespace: 'ü', uid: 'u', labels: { x: 'y' } },
    { spec: { n: 1 }, status: {} },
  ),
  thing({ generateName: 'g-', uid: 'u', annotations: { '"': '\n', 中: '\u2028' } }),
  thing(JSON.parse('{"name":"p","uid":"u","labels":{"__proto__":"1","constructor":"2"}}'), {
    data: JSON.parse('{"__proto__":"3"}'),
  }),
]

test('an object joined with its header and revision is unchanged', () => {
  for (const object of objects) {
    const joined = JSON.parse(joinCut(encodeCut(object), header, revisionText(42)).toString('utf8'))
    assert.equal(joined.metadata.resourceVersion, '42')
    delete joined.metadata.resourceVersion
    assert.deepEqual(joined, JSON.parse(JSON.stringify(object)))
  }
})

test('stored bytes of this server are cut unchanged', () => {
  for (const object of objects) {
    const made = encodeCut(object)
    const cut = cutStored(made.bytes, JSON.parse(made.bytes.toString('utf8')))
    assert.equal(cut.bytes, made.bytes)
    assert.deepEqual([cut.bodyAt, cut.revisionAt], [made.bodyAt, made.revisionAt])
  }
})

test('bytes from no server are encoded again, with defaults', () => {
  const { bytes } = encodeCut(thing({ name: 'a' }))
  const read = thing({ name: 'a' }, { spec: { filledIn: true } })
  assert.deepEqual(cutStored(bytes, read), encodeCut(read))
})

test('bytes of another writer are encoded again, without their revision', () => {
  const foreign = Buffer.from(
    '{"apiVersion":"v1","kind":"Thing","metadata":{"resourceVersion":"7","name":"a"}}',
  )
  const cut = cutStored(foreign, JSON.parse(foreign.toString('utf8')))
  assert.equal(
    joinCut(cut, header, revisionText(9)).toString('utf8'),
    '{"kind":"Thing","apiVersion":"v1","metadata":{"name":"a","resourceVersion":"9"}}',
  )
})

test('JSON of another server ends with a line break, and is encoded again in any order', () => {
  const [object] = objects
  const { bytes } = encodeCut(object)
  const theirs = Buffer.concat([bytes, Buffer.from('\n')])
  const cut = cutStored(theirs, { ...object, data: { a: 'b' } })
  assert.match(cut.bytes.toString('utf8'), /"data":\{"a":"b"\}\}$/)
})

test('an item of a list starts without its type', () => {
  const text = joinCut(encodeCut(objects[0]), '{', '').toString('utf8')
  assert.equal(text, '{"metadata":{"name":"a","uid":"u"}}')
})

test('the identity of an object precedes the cut', () => {
  const metadata = { name: 'a"b', namespace: 'n', uid: 'u', labels: { a: 'b' } }
  const cut = encodeCut({ kind: 'Pod', apiVersion: 'v1', metadata, spec: {} })
  assert.deepEqual(identityOf(cut), { name: 'a"b', namespace: 'n', uid: 'u' })
})

test('an object without a name yields valid JSON', () => {
  const shown = joinCut(encodeCut(thing({})), header, revisionText(9)).toString('utf8')
  assert.deepEqual(JSON.parse(shown).metadata, { name: '', resourceVersion: '9' })
})
