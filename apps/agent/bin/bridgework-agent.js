#!/usr/bin/env node
// Plain JavaScript that an old Node understands, so that it can say what is wrong instead of failing on node:sqlite.
const [major, minor] = process.versions.node.split('.').map(Number)
if (major < 22 || (major === 22 && minor < 13)) {
  console.error(
    `bridgework-agent needs Node.js 22.13 or newer; this is ${process.versions.node}. Install a current one from https://nodejs.org/`,
  )
  process.exitCode = 2
} else {
  await import('../dist/bridgework-agent.js')
}
