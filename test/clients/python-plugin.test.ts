/**
 * The pytest plugin in packages/python, run by pytest. An interpreter needs pytest and the package
 * kubernetes; without one the test is skipped and says so.
 */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { join, resolve } from 'node:path'
import test from 'node:test'

const root = resolve(import.meta.dirname, '../..')
const interpreters = [process.env.BINNACLE_PYTHON ?? 'python3', '/usr/bin/python3']
const python = interpreters.find(
  (name) => spawnSync(name, ['-c', 'import kubernetes, pytest']).status === 0,
)
const skip =
  python === undefined && `${interpreters.join(' and ')} lack the modules kubernetes and pytest`

test('the pytest plugin', { skip }, () => {
  const folder = join(root, 'packages/python')
  const command = `'${process.execPath}' '${join(root, 'bin/binnacle.js')}'`
  const { status, stdout, stderr } = spawnSync(
    python as string,
    ['-m', 'pytest', '-q', '-p', 'no:cacheprovider', 'tests'],
    {
      cwd: folder,
      encoding: 'utf8',
      env: {
        ...process.env,
        BINNACLE: command,
        PYTHONPATH: folder,
        PYTHONDONTWRITEBYTECODE: '1',
        // Where the package is installed too, pytest would load its plugin twice.
        PYTEST_DISABLE_PLUGIN_AUTOLOAD: '1',
      },
    },
  )
  assert.equal(status, 0, `${stdout}${stderr}`)
  assert.match(stdout, /6 passed/)
})
