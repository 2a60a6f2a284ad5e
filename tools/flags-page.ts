/** Writes docs/flags.md from the flag table. A test compares the two. */
import { writeFileSync } from 'node:fs'
import { flagsPage } from '#cli/help.ts'

writeFileSync(new URL('../docs/flags.md', import.meta.url), flagsPage())
