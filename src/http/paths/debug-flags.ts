/**
 * /debug/flags: settings that an administrator may change while the server runs. The only one is
 * the verbosity of the log.
 */
import type { Exchange } from '#http/exchange.ts'
import type { PathHandler } from '#http/parts.ts'
import { send } from '#http/response/respond.ts'
import type { Log } from '#observe/log.ts'

const prefix = '/debug/flags'
const text = { contentType: 'text/plain' }
const page = { contentType: 'text/html; charset=utf-8' }
/** kube-apiserver rejects verbosities beyond int64 as invalid numbers. */
const largest = 2n ** 63n
/** The body is a number; the limit leaves space for invalid ones. */
const bodyBytesMax = 4096

const list = `<html>
<head>
<title>${prefix}/</title>
</head>
<body>
${prefix}/<br>
<br>
flags:<br>
<table>

<tr>v<br>

</table>
<br>
full flags configurable<br>
</body>
</html>
`

export function debugFlagsPaths(log: Log): PathHandler {
  return {
    matches: (path) => path === prefix || path.startsWith(`${prefix}/`),
    handle(exchange) {
      if (exchange.target.path !== `${prefix}/v`)
        return send(exchange, 200, page, Buffer.from(list))
      return setVerbosity(exchange, log)
    },
  }
}

async function setVerbosity(exchange: Exchange, log: Log): Promise<void> {
  const { wire } = exchange
  if (wire.method !== 'PUT') return say(exchange, 406, 'unsupported http method')
  const given = (await wire.readBody(bodyBytesMax)).toString('utf8')
  const problem = problemOf(given)
  if (problem !== undefined) {
    const parsing = `strconv.ParseInt: parsing ${JSON.stringify(given)}: ${problem}`
    return say(exchange, 400, `failed set klog.logging.verbosity ${given}: ${parsing}`)
  }
  log.verbosity = Number(given)
  return say(exchange, 200, `successfully set klog.logging.verbosity to ${given}`)
}

function problemOf(given: string): string | undefined {
  if (!/^[-+]?[0-9]+$/.test(given)) return 'invalid syntax'
  const value = BigInt(given.replace('+', ''))
  return value >= largest || value < -largest ? 'value out of range' : undefined
}

const say = (exchange: Exchange, status: number, line: string) =>
  send(exchange, status, text, Buffer.from(`${line}\n`))
