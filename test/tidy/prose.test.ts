/**
 * The rules of STYLE.md about words, sentences, columns, functions and entries of the changelog.
 * Folders that broke them when the rules came have a limit in limits.txt, which may only fall;
 * elsewhere every offence fails.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  allOffences,
  counts,
  folderOf,
  limits,
  offencesIn,
  rules,
} from '../../tools/style-counts.ts'

const offences = allOffences()
const now = counts(offences)
const limit = limits()

for (const rule of rules)
  test(`no folder exceeds its limit of ${rule}`, () => {
    const over = new Set(
      [...now].filter(([key, count]) => count > (limit.get(key) ?? 0)).map(([key]) => key),
    )
    const rows = offences
      .filter((found) => found.rule === rule && over.has(`${rule} ${folderOf(found.path)}`))
      .map(({ path, line, what }) => `${path}:${line}: ${what}`)
    const allowed = [...over].map((key) => `${key}: ${now.get(key)}, limit ${limit.get(key) ?? 0}`)
    assert.equal(rows.length, 0, [...allowed, ...rows.slice(0, 200)].join('\n'))
  })

const rows: [name: string, path: string, text: string, found: string[]][] = [
  ['a comment', 'src/a.ts', '// A client is told.\n', ['avoid "told"']],
  ['a string is no prose', 'src/a.ts', "const a = 'told'\n", []],
  ['a URL begins no comment', 'src/a.ts', "const a = 'http://told'\n", []],
  ['a regular expression', 'src/a.ts', 'const a = /[/]/ // asked\n', ['avoid "asked"']],
  ['a division', 'src/a.ts', 'const a = b / c // said / told\n', ['avoid "said"', 'avoid "told"']],
  [
    'the title of a test',
    'src/a.test.ts',
    "test('nobody asked', () => {})\n",
    ['avoid "nobody"', 'avoid "asked"'],
  ],
  [
    'the title of a row',
    'src/a.test.ts',
    "const rows = [\n  ['nobody asked', 1],\n  [\n    'told twice',\n    2,\n  ],\n]\n",
    ['avoid "nobody"', 'avoid "asked"', 'avoid "told"'],
  ],
  ['a named title', 'src/a.test.ts', "const a = { title: 'it told' }\n", ['avoid "told"']],
  [
    'a negation by none',
    'src/a.ts',
    '// A name that is none, and none of it.\n',
    ['avoid "that is none"'],
  ],
  ['a part of none', 'src/a.ts', '// It is none of these.\n', []],
  ['a single word in a row is data', 'src/a.test.ts', "  ['nobody', 1],\n", []],
  ['a row beside the tests', 'src/a.ts', "  ['nobody asked', 1],\n", []],
  [
    'a page',
    'docs/a.md',
    'As the original.\n\n`told`\n```\nasked\n```\n',
    ['avoid "the original"'],
  ],
  [
    'a long sentence',
    'src/a.ts',
    `/**\n${' * word\n'.repeat(26)} */\n`,
    ['a sentence of 26 words'],
  ],
  ['a sentence of 25 words', 'src/a.ts', `/**\n${' * word\n'.repeat(25)} */\n`, []],
  [
    'a sentence on two lines',
    'src/a.ts',
    `${'// many words here\n'.repeat(9)}`,
    ['a sentence of 27 words'],
  ],
  ['short sentences', 'src/a.ts', `/**\n${' * Words end.\n'.repeat(26)} */\n`, []],
  ['an example', 'src/a.ts', `/**\n * It is:\n *\n${' *     a b\n'.repeat(26)} */\n`, []],
  ['code is a word', 'src/a.ts', `/** It is \`${'a '.repeat(26)}\`. */\n`, []],
  [
    'a long sentence of a page',
    'docs/a.md',
    `It\n${'is '.repeat(25)}\n`,
    ['a sentence of 26 words'],
  ],
  ['items of a list', 'docs/a.md', `- one two\n`.repeat(26), []],
  [
    'an entry of two sentences',
    'CHANGELOG.md',
    '# Log\n\n## Unreleased\n\n- It is new. It is good.\n\n## 1.0\n\n- One. Two.\n',
    ['an entry of several sentences'],
  ],
  ['an entry with a release', 'CHANGELOG.md', '\n## Unreleased\n- As 1.22 does (`a. b`).\n', []],
  ['a long line', 'src/a.ts', `${'x'.repeat(101)}\n`, ['101 columns']],
  [
    'a long function',
    'src/a.ts',
    `function a() {\n${'  b()\n'.repeat(69)}}\n`,
    ['a function of 71 lines'],
  ],
  ['a function of 70 lines', 'src/a.ts', `function a() {\n${'  b()\n'.repeat(68)}}\n`, []],
  [
    'a long method',
    'src/a.ts',
    `class A {\n  async #a() {\n${'    b()\n'.repeat(69)}  }\n}\n`,
    ['a function of 71 lines'],
  ],
  [
    'a short function in a long class',
    'src/a.ts',
    `class A {\n${'  a() {\n  }\n'.repeat(69)}}\n`,
    [],
  ],
]

for (const [name, path, text, found] of rows)
  test(`the rules find: ${name}`, () => {
    assert.deepEqual(
      offencesIn(path, text).map(({ what }) => what.replace(/: .*/, '')),
      found,
    )
  })
