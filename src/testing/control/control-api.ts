/**
 * Serves the control API of a test server, for tests in any language: `POST
 * /testing/v1/clusters/NAME/fork` and similar requests. Every request needs the token that the
 * server printed at its start.
 */
import { timingSafeEqual } from 'node:crypto'
import type { Wire } from '#http/exchange.ts'
import type { ClusterHost } from '#testing/cluster-host.ts'
import type { Serve } from '#testing/in-process-call.ts'
import type { Snapshot } from '#testing/snapshot.ts'
import { requireValid } from '#testing/value-schema.ts'
import { ControlError } from './control-error.ts'
import { bodySchema, controlDocument, controlPrefix } from './openapi.ts'
import { type ControlOperation, operations } from './operations.ts'

/** The maximum size of a body. Rules and names are short, so a larger body is a mistake. */
const bodyBytesMax = 1024 * 1024

interface Route {
  readonly operation: ControlOperation
  readonly pattern: RegExp
}

const routes: readonly Route[] = operations.map((operation) => ({
  operation,
  pattern: new RegExp(`^${operation.path.replace(/\{(\w+)\}/g, '(?<$1>[^/]+)')}$`),
}))

export function controlApi(host: ClusterHost, token: string, version: string) {
  const snapshots = new Map<string, Snapshot>()
  const wanted = Buffer.from(`Bearer ${token}`)
  return (next: Serve): Serve =>
    (wire) => {
      if (!wire.url.startsWith(`${controlPrefix}/`)) return next(wire)
      const given = Buffer.from(String(wire.headers.authorization ?? ''))
      if (given.length !== wanted.length || !timingSafeEqual(given, wanted))
        return answer(wire, 401, { error: 'the token of the test server is missing or wrong' })
      void respond(wire, host, snapshots, version)
    }
}

async function respond(
  wire: Wire,
  host: ClusterHost,
  snapshots: Map<string, Snapshot>,
  version: string,
): Promise<void> {
  try {
    const [path = ''] = wire.url.slice(controlPrefix.length).split('?')
    if (path === '/openapi.json') return answer(wire, 200, controlDocument(version))
    const { operation, parameters } = find(wire.method, path)
    const body = await bodyOf(wire, operation)
    answer(wire, 200, await operation.run({ host, snapshots, parameters, body }))
  } catch (error) {
    // Every other error has a wrong value in the request as its cause.
    const status = error instanceof ControlError ? error.status : 400
    answer(wire, status, { error: (error as Error).message })
  }
}

function find(method: string, path: string) {
  const here = routes.filter(({ pattern }) => pattern.test(path))
  const route = here.find(({ operation }) => operation.method === method)
  if (route !== undefined)
    return {
      operation: route.operation,
      parameters: route.pattern.exec(path)?.groups ?? {},
    }
  if (here.length === 0) throw new ControlError(404, `there is no ${controlPrefix}${path}`)
  const known = here.map(({ operation }) => operation.method).join(', ')
  throw new ControlError(405, `${controlPrefix}${path} takes ${known}`)
}

async function bodyOf(wire: Wire, operation: ControlOperation): Promise<Record<string, unknown>> {
  const bytes = await wire.readBody(bodyBytesMax)
  const body: unknown = bytes.length === 0 ? {} : JSON.parse(bytes.toString('utf8'))
  requireValid(bodySchema(operation), body, 'body')
  return body as Record<string, unknown>
}

function answer(wire: Wire, status: number, body: unknown): void {
  const headers = { 'content-type': 'application/json' }
  wire.answer(status, headers, Buffer.from(`${JSON.stringify(body)}\n`))
}
