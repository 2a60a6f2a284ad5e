/**
 * The chain of filters for every request, in order. Each filter adds a field to the exchange or
 * throws an ApiError; none calls the next one. serve.ts handles all errors.
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
