/**
 * Routes requests of one listener to several clusters. A request to `/clusters/NAME/api/v1/…`
 * reaches the cluster NAME as `/api/v1/…`. Every other request reaches the first cluster. kubectl
 * and client libraries accept a path in the URL of a server.
 */
import type { Wire } from '#http/exchange.ts'
import type { Serve } from './in-process-call.ts'

const prefix = '/clusters/'

export type FindCluster = (name: string) => Serve | undefined

export function routeClusters(find: FindCluster, first: Serve): Serve {
  return (wire) => {
    if (!wire.url.startsWith(prefix)) return first(wire)
    const end = wire.url.slice(prefix.length).search(/[/?]|$/) + prefix.length
    const name = wire.url.slice(prefix.length, end)
    const serve = find(name)
    if (serve === undefined) return refuse(wire, name)
    wire.url = wire.url.slice(end) || '/'
    serve(wire)
  }
}

function refuse(wire: Wire, name: string): void {
  const status = {
    kind: 'Status',
    apiVersion: 'v1',
    status: 'Failure',
    message: `there is no cluster ${JSON.stringify(name)}: it was closed, or never created`,
    reason: 'NotFound',
    code: 404,
  }
  const body = Buffer.from(`${JSON.stringify(status)}\n`)
  wire.answer(404, { 'content-type': 'application/json' }, body)
}
