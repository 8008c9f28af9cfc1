#!/usr/bin/env node
import { readFileSync } from 'node:fs'

const { version } = JSON.parse(readFileSync(new URL('../../../package.json', import.meta.url), 'utf8')) as {
  readonly version: string
}

// Whoever read our output may stop early, as `head` does: then there is nobody left to tell.
process.stdout.on('error', (problem: NodeJS.ErrnoException) => {
  if (problem.code === 'EPIPE') process.exit(0)
  if (problem.code === 'EIO') return // the terminal was closed
  throw problem
})

const [word = '', ...others] = process.argv.slice(2)

// Asked for by scripts at every start, so nothing else is loaded for it.
if (others.length === 0 && ['version', '--version', '-v'].includes(word)) process.stdout.write(`${version}\n`)
else process.exitCode = await (await import('./start.ts')).start(process.argv.slice(2), version)
