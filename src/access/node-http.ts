/**
 * Node's HTTP, taken without `import`: an import of `node:http` names everything it exports, and one of those names is
 * a second HTTP client (fetch and its kin) that is loaded for being named: a tenth of a second and 16 MB at each start.
 */
export const nodeHttp = process.getBuiltinModule('node:http')
