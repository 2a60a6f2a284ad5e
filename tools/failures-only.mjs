/**
 * A reporter for Node's test runner that prints each failure with its file and one line at the end.
 * Thousands of passed tests print nothing. In a terminal a count shows that the run goes on.
 */
import { relative } from 'node:path'
import { inspect } from 'node:util'

const inTerminal = process.stdout.isTTY
const countEvery = 100

// biome-ignore lint/style/noDefaultExport: the test runner loads the default export of a reporter
export default async function* failuresOnly(events) {
  const startedAt = performance.now()
  let passed = 0
  const failed = []
  for await (const { type, data } of events) {
    if (type === 'test:stdout' || type === 'test:stderr') yield data.message
    const isSuite = data.details?.type === 'suite'
    if (type === 'test:pass' && !isSuite) {
      passed++
      if (inTerminal && passed % countEvery === 0) yield `\r${passed} tests passed`
    }
    if (type !== 'test:fail') continue
    const { error } = data.details
    // A suite that fails only because one of its tests did adds nothing.
    if (error.failureType === 'subtestsFailed') continue
    failed.push(data.name)
    const place = data.file === undefined ? '' : ` (${relative('', data.file)}:${data.line})`
    yield `✖ ${data.name}${place}\n${inspect(error.cause ?? error).replace(/^/gm, '  ')}\n`
  }
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(1)
  yield `${inTerminal ? '\r' : ''}${passed} tests passed, ${failed.length} failed, in ${seconds} s\n`
}
