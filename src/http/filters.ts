/**
 * The chain every request passes, in reading order. Each filter adds one thing to the exchange or
 * ends it by throwing an ApiError; none calls the next one. What goes wrong anywhere is answered in
 * one place, serve.ts.
 */
import type { Exchange } from './exchange.ts'
import { authenticate } from './filters/authenticate.ts'
import { authorize } from './filters/authorize.ts'
import { impersonate } from './filters/impersonate.ts'
import { observe } from './filters/observe.ts'
import type { HttpParts } from './parts.ts'

export type Filter = (exchange: Exchange, parts: HttpParts) => void | Promise<void>

export const filters: readonly { readonly name: string; readonly run: Filter }[] = [
  { name: 'authenticate', run: authenticate },
  { name: 'impersonate', run: impersonate },
  { name: 'observe', run: observe },
  { name: 'authorize', run: authorize },
]
