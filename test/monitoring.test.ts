/**
 * The dashboard and the alert rules use metrics, labels and label values that a server really has.
 */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { after, before, test } from 'node:test'
import { parse } from 'yaml'
import { until } from '#base/until.fixture.ts'
import { type RunningServer, startServer } from './running-server.ts'

const folder = resolve(import.meta.dirname, '../deploy/monitoring')
const read = (name: string) => readFileSync(join(folder, name), 'utf8')

/** Labels that Prometheus adds to what it scrapes. */
const scraped = new Set(['job', 'instance'])
const keywords = new Set(['by', 'without', 'and', 'or', 'unless', 'on', 'ignoring'])

interface Use {
  readonly where: string
  readonly metric: string
  readonly labels: readonly string[]
}

/** The metrics of an expression with the labels they are selected by; `by (…)` names labels too. */
function usesOf(where: string, expression: string): Use[] {
  const plain = expression.replaceAll(/\b(by|without|on|ignoring) \([^)]*\)/g, '')
  return [...plain.matchAll(/([a-z_:][\w:]*)\s*(\{[^}]*\})?(?!\w*\s*\()/gi)]
    .map(([, metric = '', selector = '']) => ({
      where,
      metric,
      labels: [...selector.matchAll(/(\w+)\s*(?:=~|!~|!=|=)/g)].map(([, label = '']) => label),
    }))
    .filter(
      ({ metric }) => metric.includes('_') && !metric.startsWith('$') && !keywords.has(metric),
    )
    .filter(({ metric }) => !['histogram_quantile', '__rate_interval'].includes(metric))
}

const dashboard = JSON.parse(read('grafana-dashboard.json'))
const rules: { alert: string; expr: string; annotations: Record<string, string> }[] = parse(
  read('alerts.yaml'),
).groups.flatMap((group: { rules: object[] }) => group.rules)
const uses: Use[] = [
  ...rules.flatMap(({ alert, expr }) => usesOf(alert, expr)),
  ...dashboard.panels.flatMap(
    ({ title, targets }: { title: string; targets: { expr: string }[] }) =>
      targets.flatMap(({ expr }) => usesOf(title, expr)),
  ),
]

/** Metrics of later releases than the server has. The same expression uses the older metric too. */
const later = new Set(['apiserver_resource_objects'])

let server: RunningServer
before(async () => {
  server = await startServer(['--storage-backend=sqlite'])
})
after(() => server?.stop())

/** A webhook that cannot be called: its metric is on the page from the first failure on. */
async function failAtWebhook(): Promise<void> {
  const rule = {
    apiGroups: [''],
    apiVersions: ['v1'],
    resources: ['configmaps'],
    operations: ['*'],
  }
  const webhook = {
    name: 'absent.example.com',
    clientConfig: { url: 'https://127.0.0.1:1/' },
    rules: [rule],
    sideEffects: 'None',
    admissionReviewVersions: ['v1'],
  }
  const configurations = '/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations'
  await server.ask('POST', configurations, { metadata: { name: 'absent' }, webhooks: [webhook] })
  let count = 0
  const post = () =>
    server.ask('POST', '/api/v1/namespaces/default/configmaps', {
      metadata: { name: `map-${count++}` },
    })
  await until('the webhook to fail', async () => (await post()).status === 500)
}

test('every metric and every label is on the page of metrics', async () => {
  await failAtWebhook()
  const page = (await server.ask('GET', '/metrics')).text
  const labelsOf = new Map<string, Set<string>>()
  for (const [, name = '', labels = ''] of page.matchAll(/^(\w+)(\{.*\})? \S+$/gm)) {
    const known = labelsOf.get(name) ?? new Set<string>()
    for (const [, label = ''] of labels.matchAll(/(\w+)="/g)) known.add(label)
    labelsOf.set(name, known)
  }
  assert.ok(uses.length > 20)
  const missing = uses.flatMap(({ where, metric, labels }) => {
    const known = labelsOf.get(metric)
    if (later.has(metric)) return []
    if (known === undefined) return [`${where}: ${metric}`]
    return labels
      .filter((label) => !known.has(label) && !scraped.has(label))
      .map((label) => `${where}: ${metric} has no label ${label}`)
  })
  assert.deepEqual(missing, [])
})

test('every alert says what to do', () => {
  for (const { alert, annotations } of rules) {
    assert.match(annotations['summary'] ?? '', /^[A-Z].*\.$/, alert)
    assert.match(annotations['action'] ?? '', /\.$/, alert)
  }
})
