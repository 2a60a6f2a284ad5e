/** Every defaulter by the OpenAPI name of its type. */
import type { Defaulters } from './defaulter.ts'

export const defaults: Defaulters = {}
