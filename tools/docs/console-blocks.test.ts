import assert from 'node:assert/strict'
import { test } from 'node:test'
import { consoleCommands, matches } from './console-blocks.ts'

test('commands, their continuation, their output and what they need', () => {
  const page = [
    'Text with `$ no command`.',
    '```console',
    '$ binnacle --v=2 &',
    'Binnacle is ready on …',
    '$ kubectl apply -f - <<EOF',
    '> kind: x',
    '> EOF',
    'x created',
    '```',
    '```ts file=a/b.ts',
    'let a = 1',
    '```',
    '```console needs=docker,curl',
    '$ docker ps',
    '```',
    '```yaml',
    '$ no',
    '```',
  ].join('\n')
  assert.deepEqual(consoleCommands(page), [
    { line: 3, command: 'binnacle --v=2 &', expected: ['Binnacle is ready on …'], isServer: true },
    {
      line: 5,
      command: 'kubectl apply -f - <<EOF\nkind: x\nEOF',
      expected: ['x created'],
      isServer: false,
    },
    {
      line: 14,
      command: 'docker ps',
      expected: [],
      isServer: false,
      needs: ['docker', 'curl'],
      files: [{ path: 'a/b.ts', text: 'let a = 1\n' }],
    },
  ])
})

const rows: [output: string, expected: string[], is: boolean][] = [
  ['', [], true],
  ['x\n', [], false],
  ['NAME   AGE\na      3s\n', ['NAME AGE', 'a …'], true],
  ['a\nb\nc\n', ['…', 'c'], true],
  ['a\nb\nc\n', ['a', '…'], true],
  ['a (1)\n', ['a (…)'], true],
  ['a\nb\n', ['a'], false],
]
for (const [output, expected, is] of rows)
  test(`${JSON.stringify(output)} against ${JSON.stringify(expected)}: ${is}`, () =>
    assert.equal(matches(output, expected), is))
