/**
 * The recordings of real servers that are kept here, one file for each release: rows of JSON, one a
 * line. A recording that is not there yet is empty.
 */
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { readExpectedFailures } from './expected-failures.ts'

export type Recording = 'rules' | 'fresh'

const fileOf = (recording: Recording, release: string): string =>
  resolve(import.meta.dirname, `${recording}-${release}.jsonl`)

/** `1.22`, `1.37`: in the order of the releases. */
export function recordedReleases(recording: Recording): string[] {
  const named = new RegExp(`^${recording}-(.*)\\.jsonl$`)
  const releases = readdirSync(import.meta.dirname).flatMap((file) => named.exec(file)?.[1] ?? [])
  return releases.sort((a, b) => minorOf(a) - minorOf(b))
}

export const minorOf = (release: string): number => Number(release.split('.')[1])

export function readRecording<Row>(recording: Recording, release: string): Row[] {
  const file = fileOf(recording, release)
  if (!existsSync(file)) return []
  const lines = readFileSync(file, 'utf8').split('\n')
  return lines.filter((line) => line !== '').map((line) => JSON.parse(line) as Row)
}

export function writeRecording(
  recording: Recording,
  release: string,
  rows: readonly unknown[],
  written: (line: string) => string = (line) => line,
): void {
  const lines = rows.map((row) => `${written(JSON.stringify(row))}\n`)
  writeFileSync(fileOf(recording, release), lines.join(''))
}

/** The titles of the rows of a recording that are listed as different. */
export function listedDifferences(recording: Recording, release: string): Set<string> {
  const file = resolve(import.meta.dirname, 'recorded-differences.txt')
  const { reasons } = readExpectedFailures(readFileSync(file, 'utf8'))
  const prefix = `${release} ${recording} `
  const titles = [...reasons.keys()].filter((name) => name.startsWith(prefix))
  return new Set(titles.map((name) => name.slice(prefix.length)))
}
