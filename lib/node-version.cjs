/** Ends an import on a Node that is too old, before the code fails in a way that does not show the cause. */
'use strict'

const nodeMajorMin = 24
const { node } = process.versions
if (Number(node.split('.')[0]) < nodeMajorMin)
  throw new Error(
    `binnacle needs Node ${nodeMajorMin} or later, and this is ${node}: install a newer Node (https://nodejs.org)`,
  )
