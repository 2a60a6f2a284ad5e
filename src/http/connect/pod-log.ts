/** The subresource pods/log: reads the output of a container from its kubelet, as text. */
import { type FieldError, forbidden, invalid } from '#api/field-error.ts'
import { ApiError, badRequest, internalError, invalidObject, notFound } from '#api/status-error.ts'
import { timeFault } from '#codec/go-json/time-fault.ts'
import type { Exchange } from '#http/exchange.ts'
import { answerHeaders } from '#http/response/answer-headers.ts'
import { BackendUnreachable, callBackend } from './call-backend.ts'
import { encodeQuery, numberOf, switchOf } from './connect-options.ts'
import type { ConnectParts } from './connect-parts.ts'
import { placeOf } from './backend.ts'
import { kubeletOf } from './kubelet.ts'
import { clientWords } from './network-words.ts'
import { openLogSocket } from './log-socket.ts'
import { forwardResponse } from './forward-response.ts'
import { containerFor } from './pod-container.ts'
import { encodePath } from './proxy-path.ts'
import { serverResponse } from './server-response.ts'
import { wantsWebSocket } from './websocket.ts'

interface LogOptions {
  readonly container: string
  readonly follow: boolean
  readonly previous: boolean
  readonly timestamps: boolean
  readonly blind: boolean
  readonly sinceSeconds: bigint | undefined
  readonly sinceTime: string | undefined
  readonly tailLines: bigint | undefined
  readonly limitBytes: bigint | undefined
}

/** How many bytes of a kubelet's error are forwarded. */
const refusalBytesMax = 50_000

export async function podLog(exchange: Exchange, parts: ConnectParts): Promise<void> {
  const { namespace, name } = exchange.target
  const options = logOptions(exchange.query)
  const problems = check(options)
  if (problems.length > 0) throw invalidObject({ group: '', kind: 'PodLogOptions' }, name, problems)
  const pod = await parts.reader.get('', 'pods', namespace, name)
  if (pod === undefined) throw notFound({ group: '', plural: 'pods' }, name)
  const container = containerFor(pod, options.container)
  const nodeName: string = pod.spec?.nodeName ?? ''
  if (nodeName === '') {
    const { 'content-type': _none, ...headers } = answerHeaders(exchange, '')
    exchange.status = 204
    return exchange.wire.answer(204, headers, undefined)
  }
  const kubelet = await kubeletOf(parts, nodeName, 'pods')
  const backend = options.blind ? { ...kubelet, trust: parts.kubelet.blindTrust } : kubelet
  const query = logQuery(options)
  const path = `${encodePath(`/containerLogs/${namespace}/${name}/${container}`)}${query && `?${query}`}`
  const place = placeOf(backend)
  const url = `https://${place}${path}`
  const failed = (words: string, at = url) => new ApiError(500, '', `Get "${at}": ${words}`)
  const answer = await callBackend({
    backend,
    method: 'GET',
    path,
    headers: { host: place, 'user-agent': parts.userAgent },
    signal: exchange.wire.signal,
  }).catch((error) => {
    throw error instanceof BackendUnreachable ? failed(clientWords(error.message)) : error
  })
  const status = answer.statusCode ?? 0
  if (status >= 300 && status < 400 && answer.headers.location !== undefined) {
    answer.destroy()
    const elsewhere = URL.parse(answer.headers.location, url)?.href
    throw failed('redirects forbidden', elsewhere)
  }
  if (status < 200 || status > 206) throw refusal(status, await beginningOf(answer), name)
  const socket = wantsWebSocket(exchange) ? openLogSocket(exchange) : undefined
  // The request was rejected with a response.
  if (socket === undefined && wantsWebSocket(exchange)) return void answer.destroy()
  const headers = answerHeaders(exchange, 'text/plain')
  await forwardResponse(exchange, 200, headers, answer, parts.stopping, {
    given: socket,
    endsWhenCut: true,
  })
}

function logOptions(query: URLSearchParams): LogOptions {
  return {
    container: query.get('container') ?? '',
    follow: switchOf(query, 'follow'),
    previous: switchOf(query, 'previous'),
    timestamps: switchOf(query, 'timestamps'),
    blind: switchOf(query, 'insecureSkipTLSVerifyBackend'),
    sinceSeconds: numberOf(query, 'sinceSeconds'),
    sinceTime: timeOf(query.get('sinceTime')),
    tailLines: numberOf(query, 'tailLines'),
    limitBytes: numberOf(query, 'limitBytes'),
  }
}

/** Formats a time in UTC, in whole seconds. */
function timeOf(text: string | null): string | undefined {
  if (text === null) return undefined
  if (text === '' || text === 'null') return '0001-01-01T00:00:00Z'
  const fault = timeFault(text, 'time')
  if (fault !== undefined) throw badRequest(fault)
  const moment = new Date(text.replace(',', '.').replace(/T(\d:)/, 'T0$1'))
  return `${moment.toISOString().slice(0, 19)}Z`
}

function check(options: LogOptions): FieldError[] {
  const { tailLines, limitBytes, sinceSeconds, sinceTime } = options
  const errors: FieldError[] = []
  if (tailLines !== undefined && tailLines < 0n) {
    errors.push(invalid('tailLines', Number(tailLines), 'must be greater than or equal to 0'))
  }
  if (limitBytes !== undefined && limitBytes < 1n) {
    errors.push(invalid('limitBytes', Number(limitBytes), 'must be greater than 0'))
  }
  if (sinceSeconds !== undefined && sinceTime !== undefined) {
    errors.push(forbidden('[]', 'at most one of `sinceTime` or `sinceSeconds` may be specified'))
  } else if (sinceSeconds !== undefined && sinceSeconds < 1n) {
    errors.push(invalid('sinceSeconds', Number(sinceSeconds), 'must be greater than 0'))
  }
  return errors
}

function logQuery(options: LogOptions): string {
  const pairs: [string, string][] = []
  for (const name of ['follow', 'previous', 'timestamps'] as const) {
    if (options[name]) pairs.push([name, 'true'])
  }
  for (const name of ['sinceSeconds', 'sinceTime', 'tailLines', 'limitBytes'] as const) {
    const value = options[name]
    if (value !== undefined) pairs.push([name, String(value)])
  }
  return encodeQuery(pairs)
}

async function beginningOf(answer: NodeJS.ReadableStream): Promise<string> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of answer) {
    chunks.push(chunk as Buffer)
    size += (chunk as Buffer).length
    if (size >= refusalBytesMax) break
  }
  return Buffer.concat(chunks).subarray(0, refusalBytesMax).toString('utf8')
}

function refusal(status: number, text: string, name: string): ApiError {
  if (status === 500) return internalError(text)
  if (status === 400) return badRequest(text)
  return serverResponse(status, 'pods/log', name, text)
}
