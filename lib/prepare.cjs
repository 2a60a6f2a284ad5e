/**
 * Before the code loads: ends an import on a Node that is too old, whose error would not show the cause, and makes Node
 * keep compiled code for the next import. NODE_DISABLE_COMPILE_CACHE=1 turns that off.
 */
'use strict'

const nodeMajorMin = 24
const { node } = process.versions
if (Number(node.split('.')[0]) < nodeMajorMin)
  throw new Error(
    `binnacle needs Node ${nodeMajorMin} or later, and this is ${node}: install a newer Node (https://nodejs.org)`,
  )
require('node:module').enableCompileCache()
