/**
 * The files that the commands of a page write into the checkout of a user: kubeconfigs, tokens,
 * archives and data directories. A test compares them with .gitignore.
 */
import { consoleCommands } from './console-blocks.ts'

/** What a data directory holds that only its owner may read. */
const secretsOfServer = ['pki/ca.key', 'admin.kubeconfig', 'state.db', 'state.db-wal', 'lock']

const written: readonly [pattern: RegExp, paths: (name: string) => string[]][] = [
  [/--output[= ](\S*\.\w+)/g, (name) => [name]],
  [/(?<![\d-])> ?([\w.-]+)/g, (name) => [name]],
  [/\bbackup ([\w.-]+\.tar)/g, (name) => [name]],
  [/--(?:backup-dir|audit-log-path)=([\w.-]+)/g, (name) => [name, `${name}/any`]],
  [/\betcd\b.*--data-dir=([\w.-]+)/g, (name) => [`${name}/member/snap/db`]],
  [
    /^(?!etcd)[\s\S]*--data-dir=([\w.-]+)/g,
    (name) => secretsOfServer.map((file) => `${name}/${file}`),
  ],
]

export function writtenFiles(page: string): string[] {
  const found = consoleCommands(page).flatMap(({ command }) =>
    written.flatMap(([pattern, paths]) =>
      [...command.matchAll(pattern)].flatMap(([, name = '']) => paths(name)),
    ),
  )
  return [...new Set(found)]
}
