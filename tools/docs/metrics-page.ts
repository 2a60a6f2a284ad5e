/**
 * Writes docs/metrics.md from the page of metrics of a server of the newest release, after a few
 * requests. Metrics that appear only once something fails are listed by hand in kube-apiserver's
 * documentation.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { systemClock } from '#base/clock.ts'
import { systemRandom } from '#base/random.ts'
import { createLog } from '#observe/log.ts'
import { createServer } from '#server/create-server.ts'
import { releases } from '#settings/flag-table.ts'
import { settingsOf } from '#settings/settings-of.ts'
import { caller } from '#access/https-call.ts'

const root = resolve(import.meta.dirname, '../..')

async function metricsText(): Promise<string> {
  const dataDir = mkdtempSync(join(tmpdir(), 'binnacle-metrics-'))
  const emulatedVersion = releases.at(-1)!
  const log = createLog(0, () => {}, Date.now)
  const settings = settingsOf({ dataDir, emulatedVersion, securePort: 0 })
  const server = await createServer(settings, { log, clock: systemClock, random: systemRandom })
  try {
    const { admin, trustPem } = server.certificates
    const call = caller({ ca: trustPem })
    const identity = { cert: admin.certificatePem, key: admin.keyPem }
    const get = (path: string) =>
      call({
        method: 'GET',
        url: new URL(path, server.url),
        identity,
        timeoutMs: 10_000,
        answerBytesMax: 1e7,
      })
    for (const path of ['/api/v1/namespaces', '/api/v1/pods?watch=1&timeoutSeconds=1'])
      await get(path)
    return (await get('/metrics')).body
  } finally {
    await server.close()
    rmSync(dataDir, { recursive: true })
  }
}

function metricsPage(text: string): string {
  const types = new Map([...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)].map((m) => [m[1]!, m[2]!]))
  const labelsOf = (name: string) => {
    const sample = new RegExp(`^${name}(?:_bucket)?\\{(.*?)\\} `, 'm').exec(text)?.[1] ?? ''
    const names = [...sample.matchAll(/(\w+)="/g)].map((m) => m[1]!).filter((one) => one !== 'le')
    return names.map((one) => `\`${one}\``).join(', ')
  }
  const rows = [...text.matchAll(/^# HELP (\S+) (.*)$/gm)]
    .map(([, name = '', help = '']) => ({ name, help: help.replace(/^\[\w+\] /, '') }))
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .map(
      ({ name, help }) =>
        `| \`${name}\` | ${types.get(name)} | ${labelsOf(name)} | ${help.replaceAll('|', '\\|')} |`,
    )
  const own = rows.filter((row) => row.startsWith('| `binnacle_'))
  const table = ['| metric | type | labels | meaning |', '| --- | --- | --- | --- |']
  return [
    '# Metrics',
    '',
    `\`GET /metrics\` in the text form of Prometheus, as release ${releases.at(-1)}. Older releases have the names that kube-apiserver had then.`,
    '`deploy/monitoring/` has a Grafana dashboard and alert rules.',
    '',
    'This page is made from a running server: `node tools/run.mjs file tools/docs/metrics-page.ts`.',
    '',
    '## Of Binnacle',
    '',
    ...table,
    ...own,
    '',
    '## Of kube-apiserver, Node and the process',
    '',
    ...table,
    ...rows.filter((row) => !own.includes(row)),
    '',
  ].join('\n')
}

writeFileSync(join(root, 'docs/metrics.md'), metricsPage(await metricsText()))
