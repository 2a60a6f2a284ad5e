import { readFileSync } from 'node:fs'
export function interimAccess(settings: any, _c: any): any {
  const users = new Map<string, any>()
  if (settings.tokenAuthFile) for (const line of readFileSync(settings.tokenAuthFile, 'utf8').split('\n').filter(Boolean)) {
    const [t, name, uid, ...g] = line.split(',')
    users.set(t, { name, uid, groups: [...g.join(',').replaceAll('"', '').split(','), 'system:authenticated'], extra: {} })
  }
  return {
    authenticate: (c: any) => {
      if (c.token !== undefined) { const u = users.get(c.token); return u ? { user: u } : { refused: 'x' } }
      const cert = c.certificate?.()
      if (cert) return { user: { name: 'kubernetes-admin', uid: '', groups: ['system:masters', 'system:authenticated'], extra: {} } }
      return undefined
    },
    authorizer: { name: 'x', authorize: () => ({ decision: 'allow', reason: '' }) },
  }
}
