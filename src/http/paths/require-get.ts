/** Rejects all methods except GET, even HEAD, as kube-apiserver does for some documents. */
import { methodNotAllowed } from '#api/status-error.ts'
import type { Exchange } from '#http/exchange.ts'

export function requireGet({ wire }: Exchange): void {
  if (wire.method !== 'GET') throw methodNotAllowed()
}
