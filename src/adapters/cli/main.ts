#!/usr/bin/env node
import { readFileSync } from 'node:fs'
import { text } from 'node:stream/consumers'
import { describeThrown } from '../../domain/kernel/describe-thrown.ts'
import { onOneLine } from '../../domain/kernel/safe-text.ts'
import { EXIT } from './exit-codes.ts'
import { outputsOn } from './outputs.ts'
import { runCli } from './run.ts'

const { version } = JSON.parse(readFileSync(new URL('../../../package.json', import.meta.url), 'utf8')) as {
  readonly version: string
}

// Whoever read our output may stop early, as `head` does: then there is nobody left to tell.
process.stdout.on('error', (problem: NodeJS.ErrnoException) => {
  if (problem.code === 'EPIPE') process.exit(0)
  if (problem.code === 'EIO') return // the terminal was closed
  throw problem
})

/** Listens only once a command asks for it: the others end at Ctrl-C as programs do. */
const interruption = (): AbortSignal => {
  const controller = new AbortController()
  const stop = (name: NodeJS.Signals): void => {
    if (controller.signal.aborted) process.exit(EXIT.cancelled)
    controller.abort(name === 'SIGINT' ? 'Ctrl-C' : name)
  }
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(name, stop)
  // A terminal that was closed takes no more words; what is to be put in order is put in order all the same.
  process.stderr.on('error', () => {})
  return controller.signal
}

const outputs = outputsOn(process.stdout, process.stderr, process.env)

// Node would print the words of the error as they are, and a stack that tells a person nothing.
process.on('uncaughtException', (problem) => {
  outputs.err.line(`baton: ${onOneLine(describeThrown(problem))}`)
  process.exit(EXIT.failure)
})

process.exitCode = await runCli(process.argv.slice(2), {
  ...outputs,
  version,
  environment: process.env,
  input: () => text(process.stdin),
  interruption,
})
