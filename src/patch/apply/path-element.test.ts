import assert from 'node:assert/strict'
import { test } from 'node:test'
import { compareElements, elementText, goJson, wholeNumber } from './path-element.ts'

const texts: [element: string, shown: string][] = [
  ['f:spec', '.spec'],
  ['k:{"name":"a"}', '[name="a"]'],
  ['k:{"containerPort":80,"protocol":"TCP"}', '[containerPort=80,protocol="TCP"]'],
  ['v:"kubernetes"', '[="kubernetes"]'],
  ['v:1000000', '[=1e+06]'],
  ['v:true', '[=true]'],
  ['k:{"n":null}', '[n=null]'],
  ['i:3', '[3]'],
]
for (const [element, shown] of texts) {
  test(`${element} is shown as ${shown}`, () => assert.equal(elementText(element), shown))
}

const wholes: [element: string, shown: string][] = [
  ['v:1000000', '[=1000000]'],
  ['k:{"name":99999999999}', '[name=99999999999]'],
  ['v:12345678.5', '[=1.23456785e+07]'],
]
for (const [element, shown] of wholes) {
  test(`an error in ${element} is reported as ${shown}`, () =>
    assert.equal(elementText(element, wholeNumber), shown))
}

test('path elements of one level have a total order', () => {
  const inOrder = [
    'f:a',
    'f:b',
    'k:{"a":1,"b":1}',
    'k:{"a":1,"b":2}',
    'k:{"a":2}',
    'k:{"a":10}',
    'k:{"a":"1"}',
    'v:1',
    'v:"a"',
    'v:"b"',
    'v:false',
    'v:true',
    'i:2',
    'i:10',
  ]
  assert.deepEqual([...inOrder].reverse().sort(compareElements), inOrder)
})

const written: [value: Parameters<typeof goJson>[0], json: string][] = [
  ['a<b>&c', '"a\\u003cb\\u003e\\u0026c"'],
  ['\b\f\n\u2028', '"\\u0008\\u000c\\n\\u2028"'],
  ['back\\bslash', '"back\\\\bslash"'],
  [{ b: [1, null], a: true }, '{"a":true,"b":[1,null]}'],
  [9007199254740993n, '9007199254740993'],
]
for (const [value, json] of written) {
  test(`JSON of ${json}`, () => assert.equal(goJson(value), json))
}
