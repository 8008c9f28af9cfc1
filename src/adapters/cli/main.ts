#!/usr/bin/env node
import { readFileSync } from 'node:fs'
import { runCli } from './run.ts'

const { version } = JSON.parse(readFileSync(new URL('../../../package.json', import.meta.url), 'utf8')) as {
  readonly version: string
}

// Whoever read our output may stop early, as `head` does: then there is nobody left to tell.
process.stdout.on('error', (problem: NodeJS.ErrnoException) => {
  if (problem.code === 'EPIPE') process.exit(0)
  throw problem
})

process.exitCode = await runCli(process.argv.slice(2), {
  out: { line: (text) => void process.stdout.write(`${text}\n`) },
  err: { line: (text) => void process.stderr.write(`${text}\n`) },
  version,
  environment: process.env,
})
