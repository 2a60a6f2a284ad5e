/** Loads what a command needs and runs it. A start loads none of this. */
import type { GivenCommand } from './command.ts'

export async function runCommand(given: GivenCommand): Promise<void> {
  switch (given.name) {
    case 'kubeconfig': {
      const { writeUserKubeconfig } = await import('./user-kubeconfig.ts')
      return writeUserKubeconfig(given)
    }
    case 'backup': {
      const { backupTo } = await import('./backup.ts')
      return backupTo(given)
    }
    case 'restore': {
      const { restoreFrom } = await import('./restore.ts')
      return restoreFrom(given)
    }
    case 'verify': {
      const { verify } = await import('./verify.ts')
      return verify(given)
    }
    case 'migrate': {
      const { migrate } = await import('./migrate.ts')
      return migrate(given)
    }
    case 'doctor': {
      const { doctor } = await import('./doctor.ts')
      return doctor(given)
    }
    case 'test-server': {
      const { testServer } = await import('./test-server.ts')
      return testServer(given)
    }
    case 'health': {
      const { checkHealth } = await import('./health.ts')
      return checkHealth(given)
    }
    case 'check': {
      const { check } = await import('./check.ts')
      return check(given)
    }
  }
}
