/**
 * kubectl as people use it, whichever one is on PATH: every command a row, with what it must
 * answer.
 */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { generateKeyPairSync } from 'node:crypto'
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test, { after, before } from 'node:test'
import { Pkcs10CertificateRequestGenerator } from '@peculiar/x509'
import { sampleFor, samples } from '../../conformance/sample-objects.ts'
import { type RunningServer, startServer } from '../running-server.ts'

const commandTimeoutMs = 180_000
const folder = mkdtempSync(join(tmpdir(), 'binnacle-kubectl-'))
let server: RunningServer
let clientMinor = 0

interface Said {
  readonly code: number
  readonly out: string
  readonly err: string
}

function kubectl(args: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<Said> {
  const options = {
    timeout: commandTimeoutMs,
    env: {
      ...process.env,
      HOME: folder,
      KUBECONFIG: join(server.dataDir, 'admin.kubeconfig'),
      ...env,
    },
  }
  return new Promise((resolve) => {
    execFile('kubectl', args, options, (error, out, err) => {
      resolve({
        code: error === null ? 0 : typeof error.code === 'number' ? error.code : -1,
        out,
        err,
      })
    })
  })
}

/** The client's minor version; undefined where there is no kubectl. */
function installed(): Promise<number | undefined> {
  return new Promise((resolve) => {
    execFile(
      'kubectl',
      ['version', '--client', '-o', 'json'],
      { timeout: commandTimeoutMs },
      (error, out) => {
        if (error !== null) return resolve(undefined)
        resolve(Number.parseInt(JSON.parse(out).clientVersion.minor, 10))
      },
    )
  })
}

const found = await installed()
const skip = found === undefined ? 'there is no kubectl on PATH: NOTHING of it is tried' : false
if (skip) process.stderr.write(`# ${skip}\n`)

before(async () => {
  if (skip) return
  clientMinor = found as number
  server = await startServer()
})
after(async () => {
  await server?.stop()
  rmSync(folder, { recursive: true, force: true })
})

/** Words as in a shell, without quotes; a word with spaces is a list of its own. */
type Row = [
  command: string | string[],
  says: RegExp | string,
  options?: { fails?: true; since?: number; env?: NodeJS.ProcessEnv },
]

const words = (command: string | string[]) =>
  Array.isArray(command) ? command : command.split(' ')

async function check([command, says, options = {}]: Row): Promise<void> {
  if (options.since !== undefined && clientMinor < options.since) return
  const { code, out, err } = await kubectl(words(command), options.env)
  const shown = `kubectl ${words(command).join(' ')}\n${out}\n${err}`
  assert.equal(code !== 0, options.fails === true, shown)
  const text = options.fails ? out + err : out
  if (typeof says === 'string') assert.equal(text.trim(), says, shown)
  else assert.match(text.trim(), says, shown)
}

/**
 * Rows that need nothing of each other run side by side; a list of them waits for the one before.
 */
async function inOrder(rows: Row[]): Promise<void> {
  for (const row of rows) await check(row)
}

function file(name: string, text: string): string {
  const path = join(folder, name)
  writeFileSync(path, text)
  return path
}

function editor(program: string): NodeJS.ProcessEnv {
  const path = file('editor.sh', `#!/bin/sh\n${program} "$1"\n`)
  chmodSync(path, 0o755)
  return { KUBE_EDITOR: path, EDITOR: path }
}

async function freshNamespace(name: string): Promise<string> {
  assert.equal((await server.ask('POST', '/api/v1/namespaces', { metadata: { name } })).status, 201)
  return `-n ${name}`
}

const pod = (name: string, labels: object = {}) => ({
  metadata: { name, labels },
  spec: { containers: [{ name: 'c', image: 'nginx' }] },
})

test('creates what it has words for', { skip }, async () => {
  const ns = await freshNamespace('creates')
  const rows: Row[] = [
    [`${ns} create configmap a --from-literal=k=v`, 'configmap/a created'],
    [`${ns} create secret generic a --from-literal=k=v`, 'secret/a created'],
    [`${ns} create deployment a --image=nginx`, 'deployment.apps/a created'],
    [`${ns} create serviceaccount a`, 'serviceaccount/a created'],
    [`${ns} create role a --verb=get --resource=pods`, 'role.rbac.authorization.k8s.io/a created'],
    [
      `${ns} create rolebinding a --role=a --user=u`,
      'rolebinding.rbac.authorization.k8s.io/a created',
    ],
    [`${ns} create job a --image=busybox -- true`, 'job.batch/a created'],
    [`${ns} create quota a --hard=pods=1k`, 'resourcequota/a created'],
    [`${ns} create ingress a --rule=a.b/c=d:80`, 'ingress.networking.k8s.io/a created'],
    [`${ns} create service clusterip a --tcp=80`, 'service/a created'],
    [`${ns} create pdb a --selector=a=b --min-available=1`, 'poddisruptionbudget.policy/a created'],
    [
      [...ns.split(' '), 'create', 'cronjob', 'a', '--image=busybox', '--schedule=* * * * *'],
      'cronjob.batch/a created',
    ],
    ['create namespace creates', /AlreadyExists/, { fails: true }],
  ]
  for (let i = 0; i < rows.length; i += 4) await Promise.all(rows.slice(i, i + 4).map(check))
})

test('gets in every form, describes, and shows all', { skip }, async () => {
  const ns = await freshNamespace('gets')
  for (const name of ['one', 'two']) {
    await server.ask('POST', '/api/v1/namespaces/gets/pods', pod(name, { app: name }))
  }
  const rows: Row[] = [
    [`${ns} get pods`, /^NAME +READY +STATUS +RESTARTS +AGE\none +0\/1 +Pending +0 .*\ntwo .*$/],
    [`${ns} get pods -o wide`, /NOMINATED NODE +READINESS GATES/],
    [`${ns} get pod one -o name`, 'pod/one'],
    [`${ns} get pod one -o json`, /"kind": "Pod"/],
    [`${ns} get pods -o yaml`, /^apiVersion: v1\nitems:\n[\s\S]*\nkind: List/],
    [`${ns} get pods -o jsonpath={.items[*].metadata.name}`, 'one two'],
    [
      `${ns} get pods -o custom-columns=N:.metadata.name,P:.status.phase`,
      /^N +P\none +Pending\ntwo +Pending/,
    ],
    [`${ns} get pod one -o go-template={{.metadata.name}}`, 'one'],
    [`${ns} get pods --show-labels -L app`, /APP +LABELS\none .* one +app=one/],
    [`${ns} get pods -l app=two -o name`, 'pod/two'],
    [`${ns} get pods --field-selector=metadata.name!=two -o name`, 'pod/one'],
    [`${ns} get pods --sort-by=.metadata.name --chunk-size=1 -o name`, 'pod/one\npod/two'],
    [`${ns} get pods,serviceaccounts -o name`, 'pod/one\npod/two\nserviceaccount/default'],
    [`${ns} get all`, /pod\/one [\s\S]*pod\/two/],
    ['get pods -A -o name', /pod\/one/],
    [`${ns} get pod three`, /NotFound/, { fails: true }],
    [`${ns} get nonsense`, /doesn't have a resource type/, { fails: true }],
    [`${ns} describe pod one`, /Name: +one\n[\s\S]*Status: +Pending\n[\s\S]*Image: +nginx\n/],
    ['describe namespace gets', /Name: +gets\n[\s\S]*Status: +Active/],
    ['get --raw /readyz', 'ok'],
    ['get --raw /api/v1/namespaces/gets', /^\{"kind":"Namespace"/],
    ['api-resources', /^deployments +deploy +apps\/v1 +true +Deployment$/m],
    ['api-versions', /^apps\/v1$/m],
    ['cluster-info', /is running at/],
    ['version -o json', /"serverVersion"/],
    ['explain pod.spec.nodeName', /nodeName <string>/],
    ['explain deployment --recursive', /progressDeadlineSeconds\s+<integer>/],
  ]
  for (let i = 0; i < rows.length; i += 4) await Promise.all(rows.slice(i, i + 4).map(check))
})

test('labels, annotates, edits, patches, sets and scales', { skip }, async () => {
  const ns = await freshNamespace('changes')
  await server.ask('POST', '/api/v1/namespaces/changes/pods', pod('one'))
  await check([`${ns} create deployment web --image=nginx`, 'deployment.apps/web created'])
  const at = (path: string) => `${ns} get deployment web -o jsonpath={${path}}`
  await Promise.all([
    inOrder([
      [`${ns} label pod one tier=a`, 'pod/one labeled'],
      [`${ns} label pod one tier=b`, /already has a value/, { fails: true }],
      [`${ns} label pod one tier=b --overwrite`, 'pod/one labeled'],
      [`${ns} annotate pod one note=hello`, /^pod\/one annotated?$/],
      [`${ns} edit pod one`, 'pod/one edited', { env: editor("sed -i 's/hello/good-bye/'") }],
      [
        `${ns} get pod one -o jsonpath={.metadata.labels.tier}-{.metadata.annotations.note}`,
        'b-good-bye',
      ],
      [`${ns} label pod one tier-`, /^pod\/one (unlabeled|labeled)$/],
    ]),
    inOrder([
      [`${ns} patch deployment web -p {"spec":{"replicas":3}}`, 'deployment.apps/web patched'],
      [
        `${ns} patch deployment web --type=merge -p {"spec":{"replicas":4}}`,
        'deployment.apps/web patched',
      ],
      [
        `${ns} patch deployment web --type=json -p [{"op":"replace","path":"/spec/replicas","value":5}]`,
        'deployment.apps/web patched',
      ],
      [at('.spec.replicas'), '5'],
      [`${ns} scale deployment web --replicas=2`, 'deployment.apps/web scaled'],
      [
        `${ns} scale deployment web --current-replicas=7 --replicas=1`,
        /[Ee]xpected replicas to be 7/,
        { fails: true },
      ],
      [`${ns} set image deployment/web nginx=nginx:2`, 'deployment.apps/web image updated'],
      [`${ns} set env deployment/web A=B`, 'deployment.apps/web env updated'],
      [at('.spec.replicas}-{.spec.template.spec.containers[0].image'), '2-nginx:2'],
      [`${ns} rollout restart deployment web`, 'deployment.apps/web restarted'],
      [`${ns} rollout pause deployment web`, 'deployment.apps/web paused'],
      [
        // The older flag fails with newer clients, whichever the server.
        `${ns} autoscale deployment web --max=3 ${clientMinor >= 37 ? '--cpu=50%' : '--cpu-percent=50'}`,
        'horizontalpodautoscaler.autoscaling/web autoscaled',
      ],
      [`${ns} expose deployment web --port=80`, 'service/web exposed'],
      [`${ns} get service web -o jsonpath={.spec.selector.app}`, 'web'],
    ]),
  ])
})

const manifest = (value: string) => `
apiVersion: v1
kind: ConfigMap
metadata: {name: kept, namespace: applies, labels: {set: one}}
data: {k: ${value}}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: other, namespace: applies, labels: {set: one}}
data: {a: b}
`

test('applies, shows differences, prunes, and applies on the server', { skip }, async () => {
  const ns = await freshNamespace('applies')
  const first = file('first.yaml', manifest('v'))
  const second = file('second.yaml', manifest('w'))
  const alone = file('alone.yaml', manifest('w').split('---')[0])
  const stranger = file('stranger.yaml', manifest('z').split('---')[0])
  const value = `${ns} get configmap kept -o jsonpath={.data.k}`
  // Older ones look for kinds to prune that release 1.22 no longer has, unless a flag lists the
  // kinds.
  const prune = clientMinor < 22 ? '--prune --prune-whitelist=core/v1/ConfigMap' : '--prune'
  await inOrder([
    [`apply -f ${first}`, 'configmap/kept created\nconfigmap/other created'],
    [`apply -f ${first}`, 'configmap/kept unchanged\nconfigmap/other unchanged'],
    [`diff -f ${second}`, /^- {2}k: v\n\+ {2}k: w$/m, { fails: true }],
    [`apply -f ${second} --dry-run=server`, /configmap\/kept configured \(server dry run\)/],
    [value, 'v'],
    [`apply -f ${second}`, /configmap\/kept configured/],
    [value, 'w'],
    [`apply -f ${alone} ${prune} -l set=one ${ns}`, /configmap\/other pruned/],
    [`apply --server-side --force-conflicts -f ${second}`, /configmap\/kept serverside-applied/],
    // What a person reads when two of them want the same field.
    [
      `apply --server-side --field-manager=stranger -f ${stranger}`,
      /Apply failed with [12] conflicts?: conflicts? with "kubectl":[- \n]*\.data\.k[\s\S]*--force-conflicts/,
      { fails: true },
    ],
    [
      `diff --server-side --field-manager=stranger --force-conflicts -f ${stranger}`,
      /^- {2}k: w\n\+ {2}k: z$/m,
      { fails: true },
    ],
    [value, 'w'],
    [
      `apply --server-side --field-manager=stranger --force-conflicts -f ${stranger}`,
      /serverside-applied/,
    ],
    [value, 'z'],
    [
      `${ns} get configmap kept -o jsonpath={.metadata.managedFields[?(@.manager=="stranger")].operation}`,
      'Apply',
    ],
    [`replace -f ${alone}`, 'configmap/kept replaced'],
    [`delete -f ${second}`, /configmap "kept" deleted/],
  ])
})

test('reviews its rights, requests certificates and tokens', { skip }, async () => {
  const ns = await freshNamespace('access')
  const keys = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' }
  const pair = {
    privateKey: keys.privateKey.toCryptoKey(algorithm, true, ['sign']),
    publicKey: keys.publicKey.toCryptoKey(algorithm, true, ['verify']),
  }
  const request = await Pkcs10CertificateRequestGenerator.create({
    name: 'CN=bob',
    keys: pair as never,
    signingAlgorithm: algorithm,
  })
  const path = file(
    'request.json',
    JSON.stringify({
      apiVersion: 'certificates.k8s.io/v1',
      kind: 'CertificateSigningRequest',
      metadata: { name: 'bob' },
      spec: {
        request: Buffer.from(request.toString('pem')).toString('base64'),
        signerName: 'kubernetes.io/kube-apiserver-client',
        usages: ['client auth'],
      },
    }),
  )
  const role = file(
    'role.json',
    JSON.stringify({
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'Role',
      metadata: { name: 'r', namespace: 'access' },
      rules: [{ apiGroups: [''], resources: ['pods'], verbs: ['list'] }],
    }),
  )
  await Promise.all([
    inOrder([
      ['auth can-i create pods', 'yes'],
      ['auth can-i create pods --as=stranger', 'no', { fails: true }],
      ['auth can-i --list', /^\*\.\* +\[\] +\[\] +\[\*\]$/m],
      [`${ns} create role r --verb=get --resource=pods`, /created/],
      [`${ns} create rolebinding r --role=r --serviceaccount=access:default`, /created/],
      [`${ns} auth can-i get pods --as=system:serviceaccount:access:default`, 'yes'],
      [`${ns} auth reconcile -f ${role}`, 'role.rbac.authorization.k8s.io/r reconciled'],
      [`${ns} auth can-i list pods --as=system:serviceaccount:access:default`, 'yes'],
      [`${ns} create token default`, /^ey[\w-]+\.[\w-]+\.[\w-]+\s*$/, { since: 24 }],
    ]),
    inOrder([
      [`create -f ${path}`, 'certificatesigningrequest.certificates.k8s.io/bob created'],
      ['certificate approve bob', 'certificatesigningrequest.certificates.k8s.io/bob approved'],
      ['get csr bob', /Approved/],
      ['delete csr bob', /deleted/],
    ]),
  ])
})

test('deletes, waits, and watches', { skip }, async () => {
  const ns = await freshNamespace('leaves')
  for (const name of ['one', 'two', 'three']) {
    await server.ask('POST', '/api/v1/namespaces/leaves/pods', pod(name, { app: 'x' }))
  }
  const watching = kubectl(words(`${ns} get pods -w -o name --request-timeout=8s`))
  await Promise.all([
    inOrder([
      [
        `${ns} wait --for=jsonpath={.status.phase}=Pending pod/one --timeout=5s`,
        'pod/one condition met',
        { since: 23 },
      ],
      [`${ns} wait --for=condition=Ready pod/one --timeout=1s`, /timed out/, { fails: true }],
      [`${ns} delete pod two --grace-period=0 --force`, /deleted/],
      [`${ns} delete pods -l app=x --now`, /pod "one" .*deleted[\s\S]*pod "three"/],
      [`${ns} get pods -o name`, ''],
      ['delete namespace leaves --wait=false', /deleted/],
      ['wait --for=delete namespace/leaves --timeout=20s', /./],
    ]).catch((error) => {
      // Waiting for what is gone already says nothing at all.
      if (!/wait --for=delete/.test(error.message)) throw error
    }),
    watching.then(({ out }) => assert.match(out, /^(pod\/(one|three|two)\n){4,}/)),
  ])
  assert.equal((await server.ask('GET', '/api/v1/namespaces/leaves')).status, 404)
})

test('walks through one object of every kind', { skip }, async () => {
  const ns = await freshNamespace('walk')
  const items = samples.map((sample) => sampleFor(sample, 'walk').object)
  const path = file('every-kind.json', JSON.stringify({ apiVersion: 'v1', kind: 'List', items }))
  const lines = async (command: string, each: RegExp, count = items.length) => {
    const { code, out, err } = await kubectl(words(command))
    assert.equal(code, 0, `kubectl ${command}\n${out}\n${err}`)
    const found = out.split('\n').filter((line) => each.test(line))
    assert.equal(found.length, count, `kubectl ${command}\n${out}`)
  }
  await lines(`${ns} create -f ${path}`, / created$/)
  await lines(`${ns} get -f ${path} -o name`, /^[a-z.0-9]+\/(walk-)?x$/)
  await lines(`${ns} get -f ${path} -o wide`, /^[a-z.0-9]+\/(walk-)?x /)
  await lines(`${ns} get -f ${path} -o yaml`, /^ {4}resourceVersion: /)
  await lines(
    `${ns} get -f ${path} -o custom-columns=K:.kind,N:.metadata.name`,
    /^[A-Z]\w+ +(walk-)?x$/,
  )
  await lines(`${ns} describe -f ${path}`, /^Name: +(walk-)?x$/)
  await lines(`${ns} apply -f ${path}`, / (configured|unchanged)$/)
  await lines(`${ns} apply --server-side --force-conflicts -f ${path}`, / serverside-applied$/)
  await lines(`${ns} label -f ${path} tier=a`, / labeled$/)
  // The endpoints go with their service.
  const leaving = `${ns} delete -f ${path} --wait=false --now --ignore-not-found`
  await lines(leaving, / deleted/, items.length - 1)
})
