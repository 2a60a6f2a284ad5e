/** The entry point `binnacle`. */
import { serverEntry } from './entries.js'

export const { createServer } = serverEntry()
