/** The entry point `binnacle/testing`. */
import { testingEntry } from './entries.js'

export const { startCluster, forkPerTest, explore } = testingEntry()
