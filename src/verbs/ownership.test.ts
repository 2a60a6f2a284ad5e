import { checkBoundaries } from '#api/releases/boundary.suite.ts'
import { startVerbs } from './fixture.suite.ts'

/** The managers of a config map that was created and never applied. */
async function managersIn(release: number): Promise<(string | undefined)[]> {
  const verbs = await startVerbs(undefined, undefined, release)
  try {
    const made = await verbs.create('configmaps', { metadata: { name: 'a' }, data: { b: 'c' } })
    return (made.metadata.managedFields ?? []).map(({ manager }) => manager)
  } finally {
    await verbs.stop()
  }
}

checkBoundaries<string, (string | undefined)[]>(managersIn, [
  ['managers of a new object', [17, 18], '', [], ['test']],
])
