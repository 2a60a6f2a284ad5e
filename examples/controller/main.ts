/** The controller as a program: on the cluster that KUBECONFIG names, until Ctrl-C. */
import { KubeConfig } from '@kubernetes/client-node'
import { startController } from './controller.ts'

const config = new KubeConfig()
config.loadFromDefault()
const controller = await startController(config)
console.log(`keeping greetings of ${config.getCurrentCluster()?.server}`)
process.once('SIGINT', () => void controller.stop())
