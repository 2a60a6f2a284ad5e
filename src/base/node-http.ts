/**
 * Node's HTTP module. Code that runs at start takes it from here. An `import` of it also loads
 * Node's client for WebSockets, which costs 40 ms and 3 MiB of heap.
 */
export const http = process.getBuiltinModule('node:http')
