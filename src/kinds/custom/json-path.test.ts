import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Json } from '#api/object-meta.ts'
import { findByPath, OtherNumber } from './json-path-find.ts'
import { jsonPathProblem, parseJsonPath } from './json-path.ts'

const value: Json = {
  spec: {
    'a.b': 1,
    text: 'ab',
    nothing: null,
    list: [{ n: 'x', v: 1 }, { n: 'y', v: 2 }, { n: 'z' }],
    mixed: [{ v: 1 }, { v: 'a' }, { v: 1.5 }, { v: true }, 'plain', [7, 8]],
    deep: { n: 'q' },
  },
  status: {
    conditions: [
      { type: 'Ready', status: 'True' },
      { type: 'Other', status: 'False' },
    ],
  },
}
const { list, mixed } = value.spec as { list: Json[]; mixed: Json[] }

/** The matches; empty if the path fails; undefined if the text is not a path. */
const cases: [string, unknown[] | undefined][] = [
  ['.spec.deep.n', ['q']],
  ['.spec.nowhere.here', []],
  ['.spec.nothing', [null]],
  ['.spec.nothing.here', []],
  ['.spec.text.here', []],
  ['.spec.a\\.b', [1]],
  [".spec['a\\.b']", [1]],
  // A quoted name is a path of its own.
  [".spec['deep.n']", ['q']],
  [".['spec']['list'][0]['n']", []],
  [".spec['list'][0]['n']", ['x']],
  ['.spec["deep"]', undefined],
  [".spec['deep.n','text']", ['q', 'ab']],
  [".spec['deep n']", []],
  [".spec['*'][0]", []],
  ['.spec.list[0].n', ['x']],
  ['.spec.list[].n', ['x']],
  ['.spec.list[-1].n', ['z']],
  ['.spec.list[-4].n', []],
  ['.spec.list[-1:].n', ['z']],
  ['.spec.list[:-1].n', ['x', 'y']],
  ['.spec.list[0:2].n', ['x', 'y']],
  ['.spec.list[0:3:2].n', ['x', 'z']],
  ['.spec.list[::2].n', ['x', 'z']],
  ['.spec.list[::0].n', []],
  ['.spec.list[::-1].n', []],
  ['.spec.list[1:1].n', []],
  ['.spec.list[2:1].n', []],
  ['.spec.list[0,2].n', ['x', 'z']],
  ['.spec.list[0, 9].n', []],
  ['.spec.list[*].v', [1, 2]],
  ['.spec.list[9].n', []],
  ['.spec.list.*.v', [1, 2]],
  ['.spec.deep[0]', []],
  ['.spec.deep.*', ['q']],
  // A text is a list of bytes.
  ['.spec.text.*', [new OtherNumber('uint', 97), new OtherNumber('uint', 98)]],
  ['.spec.text[0]', []],
  ['.spec.text..', ['ab']],
  ['.status.conditions[?(@.type=="Ready")].status', ['True']],
  ['.status.conditions[?(@.type == "Ready")].status', ['True']],
  ['.status.conditions[?(@.type!="Ready")].status', ['False']],
  ['.status.conditions[?(@.type<"Q")].status', ['False']],
  [".status.conditions[?(@.type=='None')].status", []],
  ['.status.conditions[?(@.type=="a)b")].status', []],
  ['.status.conditions[?(@.type=Ready)].status', []],
  ['.status.conditions[?(@.type="Ready")].status', []],
  ['.spec.list[?(@.v>1)].n', ['y']],
  ['.spec.list[?(@.v>=1)].n', ['x', 'y']],
  ['.spec.list[?(@.v<=1)].n', ['x']],
  // Integers and fractions are not compared, and what was found before does not count.
  ['.spec.list[?(@.v==1.0)].n', []],
  ['.spec.list[?(@.n=="x")].v', [1]],
  ['.spec.list[?(@.v)].n', ['x', 'y']],
  ['.spec.list[?(@.v == @.v)].n', ['x', 'y']],
  ['.spec.mixed[?(@.v==1)]', []],
  // To be there, it is enough to have failed with something at hand.
  ['.spec.mixed[?(@.v[0])]', mixed.slice(0, 4)],
  ['.spec.mixed[?(@[1])]', mixed],
  ['.spec.deep[?(@.n)]', []],
  ['.spec.nothing[?(@.n)]', []],
  ['.spec.none[?(@.n)]', []],
  ['.spec..n', ['x', 'y', 'z', 'q']],
  ['.spec.list 5', [new OtherNumber('int', 5)]],
  ['.spec.list 1.5', [new OtherNumber('float', 1.5)]],
  ['.spec.list true', [true]],
  ['.spec.none true', []],
  ['.spec.none "t\\u0041\\n"', ['tA\n']],
  [".spec.none 'it\\'s'", ["it's"]],
  ['.spec.deep.n }', ['q']],
  ['.spec.deep.n} and {.spec.text', ['q']],
  ['.spec.deep.n} and {.spec.text[0]', []],
  ['.spec.deep.n}{.spec[', undefined],
  ['.spec.deep n', []],
  ['.spec.deep.n range', []],
  ['.spec.list$[0]@.n', ['x']],
  ['.', []],
  ['.spec.', []],
  ['..*', undefined],
  ['....n', undefined],
  ['.spec[', undefined],
  ['.spec]', undefined],
  ['.spec{', undefined],
  ['.spec\t', undefined],
  ['.spec\\', undefined],
  ['.spec "a', undefined],
  ['.spec "\\q"', undefined],
  ['.spec "\\\'"', undefined],
  ['.spec 1.2.3', undefined],
  ['.spec -', undefined],
  ['.spec.list[x]', undefined],
  ['.spec.list[-]', undefined],
  ['.spec.list[0:1:2:3]', undefined],
  ['.spec.list[99999999999999999999]', undefined],
  ['.spec.list[?(@.v]', undefined],
  ['.spec.list[?(@.v)x', undefined],
  ['.spec.list[?(==1)]', undefined],
  ['.spec.list[?(@.v==)]', undefined],
]
for (const [path, expected] of cases) {
  test(path, () => {
    const nodes = parseJsonPath(path)
    assert.deepEqual(nodes && findByPath(nodes, value), expected)
  })
}

test('a path to a list returns the list itself', () => {
  assert.equal(findByPath(parseJsonPath('.spec.list') ?? [], value)[0], list)
})

test('all items of a very long list are found, however many paths lead to them', () => {
  const many = { list: Array.from({ length: 200_000 }, (_, i) => i) }
  assert.equal(findByPath(parseJsonPath('.list[*,*]') ?? [], many).length, 400_000)
})

const problems: [string, string | undefined][] = [
  ['.a', undefined],
  ['%', "unrecognized character in action: U+0025 '%'"],
  ['\u0007', 'unrecognized character in action: U+0007'],
  ['\n', 'unclosed action'],
  ['-a', 'cannot parse number -'],
  ['10.0.0.1', 'cannot parse number 10.0.0.1'],
  ['.a....b', 'invalid multiple recursive descent'],
  ['"a', 'unterminated quoted string'],
  ['"\\q"', 'unquote string "\\q" error invalid syntax'],
  ['[1', 'unterminated array'],
  ['[a]', 'invalid array index a'],
  ['[-]', 'array index - is not a number'],
  ['[?(@.a', 'unterminated filter'],
  ['[?(@.a)', 'unclosed array expect ]'],
]
for (const [text, problem] of problems)
  test(`${JSON.stringify(text)}: ${problem}`, () => assert.equal(jsonPathProblem(text), problem))
