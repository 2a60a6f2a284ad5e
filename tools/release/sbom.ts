/**
 * The software bill of materials of a release: CycloneDX 1.6, from package-lock.json and the Node
 * that runs this.
 */
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'

const root = resolve(import.meta.dirname, '../..')

interface Locked {
  readonly version?: string
  readonly integrity?: string
  readonly license?: string
  readonly dev?: boolean
  readonly optional?: boolean
  readonly devOptional?: boolean
}

/** What the packages and the executable contain; tools that only build and test are left out. */
export function sbom(): object {
  const { name, version, license } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  const lock = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'))
  const components = Object.entries(lock.packages as Record<string, Locked>)
    .filter(([path, { dev, devOptional }]) => path !== '' && !dev && !devOptional)
    .map(([path, locked]) => componentOf(path, locked))
  const node = process.versions.node
  return {
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    serialNumber: `urn:uuid:${uuidOf(`${name}@${version} ${JSON.stringify(components)} ${node}`)}`,
    version: 1,
    metadata: {
      component: {
        type: 'application',
        'bom-ref': `pkg:npm/${name}@${version}`,
        name,
        version,
        licenses: [{ license: { id: license } }],
      },
    },
    components: [
      ...components,
      {
        type: 'platform',
        'bom-ref': `pkg:generic/node@${node}`,
        name: 'node',
        version: node,
        purl: `pkg:generic/node@${node}`,
        description: 'In the single executable and in the image.',
      },
    ],
  }
}

function componentOf(path: string, { version = '', integrity, license }: Locked): object {
  const name = path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length)
  const purl = `pkg:npm/${name.replace('@', '%40')}@${version}`
  const [algorithm, digest = ''] = integrity?.split('-', 2) ?? []
  return {
    type: 'library',
    'bom-ref': `${purl}#${path}`,
    name,
    version,
    purl,
    ...(license !== undefined && { licenses: [{ expression: license }] }),
    ...(algorithm === 'sha512' && {
      hashes: [{ alg: 'SHA-512', content: Buffer.from(digest, 'base64').toString('hex') }],
    }),
  }
}

/** The same contents have the same number. */
function uuidOf(text: string): string {
  const hex = createHash('sha256').update(text).digest('hex')
  return [
    hex.slice(0, 8),
    hex.slice(8, 12),
    `5${hex.slice(13, 16)}`,
    `8${hex.slice(17, 20)}`,
    hex.slice(20, 32),
  ].join('-')
}
