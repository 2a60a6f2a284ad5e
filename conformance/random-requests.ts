/**
 * Random requests about a few existing objects. Every family of requests draws from its own tables,
 * so that a request is some cell of a matrix that was never written down whole. Nothing here calls
 * a server; the same random choices make the same steps.
 */
import { finalizing, collectionDeletes } from './deletion-requests.ts'
import { accepts } from './media-type-requests.ts'
import { paths, subresources } from './path-requests.ts'
import { versions, selectors, gets, heads } from './read-requests.ts'
import { watches } from './watch-requests.ts'
import { writes, patches } from './write-requests.ts'
import type { RequestMaker } from './scene.ts'

export const families: Readonly<Record<string, RequestMaker>> = {
  versions,
  selectors,
  gets,
  watches,
  accepts,
  writes,
  patches,
  finalizing,
  collectionDeletes,
  paths,
  heads,
  subresources,
}
