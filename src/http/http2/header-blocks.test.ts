import assert from 'node:assert/strict'
import { test } from 'node:test'
import { errorCode, flag } from './frames.ts'
import { HeaderBlocks } from './header-blocks.ts'
import { headerBytesMax } from './limits.ts'

/** `GET /` over https. */
const get = Buffer.from('828784', 'hex')
const whole = flag.endHeaders | flag.endStream

const cases: [what: string, flags: number, payload: Buffer, ended: boolean][] = [
  ['a request without a body', whole, get, true],
  ['one with a body to come', flag.endHeaders, get, false],
  ['padding', whole | flag.padded, Buffer.from('0282878400ff', 'hex'), true],
  ['a priority before it', whole | flag.priority, Buffer.from('0000000310828784', 'hex'), true],
]
for (const [what, flags, payload, ended] of cases) {
  test(`a block in one frame: ${what}`, () => {
    const blocks = new HeaderBlocks()
    const block = blocks.begin(flags, 5, payload)
    assert.equal(block?.stream, 5)
    assert.equal(block?.ended, ended)
    assert.equal(block?.fields.head?.method, 'GET')
    assert.equal(blocks.isOpen, false)
  })
}

test('a block in several frames is complete with the last one', () => {
  const blocks = new HeaderBlocks()
  assert.equal(blocks.begin(flag.endStream, 1, get.subarray(0, 1)), undefined)
  assert.equal(blocks.isOpen, true)
  assert.equal(blocks.goOn(0, 1, get.subarray(1, 2)), undefined)
  const block = blocks.goOn(flag.endHeaders, 1, get.subarray(2))
  assert.equal(block?.ended, true)
  assert.equal(block?.fields.head?.path, '/')
  assert.equal(blocks.isOpen, false)
})

const opened = (stream: number) => {
  const blocks = new HeaderBlocks()
  blocks.begin(0, stream, get)
  return blocks
}
const refused: [what: string, code: number, act: () => void][] = [
  ['a stream of the server', errorCode.protocol, () => opened(2)],
  ['going on with none', errorCode.protocol, () => new HeaderBlocks().goOn(0, 1, get)],
  ['going on with another', errorCode.protocol, () => opened(1).goOn(0, 3, get)],
  ['going on after the end', errorCode.protocol, () => goOnTwice()],
  [
    'a priority cut short',
    errorCode.frameSize,
    () => new HeaderBlocks().begin(flag.priority, 1, get),
  ],
  [
    'depending on itself',
    errorCode.protocol,
    () =>
      new HeaderBlocks().begin(whole | flag.priority, 1, Buffer.from('0000000100828784', 'hex')),
  ],
  ['too many bytes', errorCode.enhanceYourCalm, () => goOn(4, headerBytesMax / 4)],
  ['too many frames', errorCode.enhanceYourCalm, () => goOn(16, 0)],
]

function goOnTwice(): void {
  const blocks = opened(1)
  blocks.goOn(flag.endHeaders, 1, Buffer.alloc(0))
  blocks.goOn(flag.endHeaders, 1, Buffer.alloc(0))
}

function goOn(times: number, bytes: number): void {
  const blocks = opened(1)
  for (let i = 0; i < times; i++) blocks.goOn(0, 1, Buffer.alloc(bytes))
}

for (const [what, code, act] of refused) {
  test(`refused: ${what}`, () => assert.throws(act, { code }))
}
