import assert from 'node:assert/strict'
import { resolve } from 'node:path'
import { test } from 'node:test'
import { flagRows, settingName } from './flags.ts'
import { type ServerOptions, settingsOf } from './settings-of.ts'

const rows: [options: ServerOptions, setting: keyof ServerOptions, value: unknown][] = [
  [{ emulatedVersion: '1.37' }, 'emulatedVersion', '1.37'],
  [{ requestTimeoutMs: 1500 }, 'requestTimeoutMs', 1500],
  [{ controllers: ['-*'] }, 'controllers', ['-*']],
  [{ apiAudiences: ['a', 'b'] }, 'apiAudiences', ['a', 'b']],
  [
    { featureGates: new Map([['CBORServingAndStorage', true]]) },
    'dataDir',
    resolve('binnacle-data'),
  ],
  [
    { serviceNodePortRange: { first: 30000, last: 30010 } },
    'serviceNodePortRange',
    { first: 30000, last: 30010 },
  ],
]
for (const [options, setting, value] of rows)
  test(`options ${JSON.stringify(options)}`, () => {
    assert.deepEqual(settingsOf(options)[setting], value)
  })

const refused: [options: object, message: RegExp][] = [
  [{ securePort: 70_000 }, /--secure-port: "70000" is not accepted/],
  [{ emulatedVersion: '9.99' }, /--emulated-version/],
  [{ nonsense: 1 }, /there is no option nonsense/],
  [{ tlsCertFile: 'missing.pem' }, /--tls-cert-file/],
]
for (const [options, message] of refused)
  test(`refused options ${JSON.stringify(options)}`, () => {
    assert.throws(() => settingsOf(options), message)
  })

test('every default can be specified as an option and keeps its value', () => {
  const defaults = settingsOf({})
  for (const [name, { initial, status }] of flagRows) {
    const setting = settingName(name) as keyof ServerOptions
    if (initial === undefined || status !== 'wired' || defaults[setting] === undefined) continue
    if (initial instanceof Map || (Array.isArray(initial) && initial.length === 0)) continue
    assert.deepEqual(
      settingsOf({ [setting]: defaults[setting] } as ServerOptions)[setting],
      defaults[setting],
      name,
    )
  }
})
