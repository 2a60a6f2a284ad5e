/** Documents that are read with GET and nothing else: not even HEAD, as in kube-apiserver. */
import { methodNotAllowed } from '#api/status-error.ts'
import type { Exchange } from '#http/exchange.ts'

export function requireGet({ wire }: Exchange): void {
  if (wire.method !== 'GET') throw methodNotAllowed()
}
