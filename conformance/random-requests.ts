/**
 * Random requests about a few objects that are there: every family of questions draws from its own tables, so that what one asks
 * is some cell of a matrix that nobody wrote down whole. Nothing here asks a server; the same random choices make the same steps.
 */
import { finalizing, collectionDeletes } from './asked-deletions.ts'
import { accepts } from './asked-media.ts'
import { paths, subresources } from './asked-paths.ts'
import { versions, selectors, gets, heads } from './asked-reads.ts'
import { watches } from './asked-watches.ts'
import { writes, patches } from './asked-writes.ts'
import type { Question } from './scene.ts'

export const families: Readonly<Record<string, Question>> = {
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
