import assert from 'node:assert/strict'
import test from 'node:test'
import { platformOf } from './platform.ts'

test('platforms by their usual names', () => {
  const cases: [system: string, processor: string, name: string][] = [
    ['linux', 'x64', 'linux/amd64'],
    ['linux', 'arm64', 'linux/arm64'],
    ['darwin', 'arm64', 'darwin/arm64'],
    ['win32', 'ia32', 'windows/386'],
    ['linux', 'ppc64', 'linux/ppc64le'],
    ['linux', 's390x', 'linux/s390x'],
  ]
  for (const [system, processor, name] of cases) assert.equal(platformOf(system, processor), name)
})
