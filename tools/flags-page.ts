/**
 * Writes docs/flags.md and docs/commands.md from the tables of flags and commands. A test compares
 * them.
 */
import { writeFileSync } from 'node:fs'
import { commandsPage, flagsPage } from '#cli/help.ts'

writeFileSync(new URL('../docs/flags.md', import.meta.url), flagsPage())
writeFileSync(new URL('../docs/commands.md', import.meta.url), commandsPage())
