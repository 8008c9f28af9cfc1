#!/usr/bin/env node
import { readFileSync } from 'node:fs'

const [word, ...others] = process.argv.slice(2)

// Asked for at every turn of somebody's agent, so nothing else is loaded for it, and no failure shows.
if (word === 'hook' && !others.some((other) => other === '--help' || other === '-h')) {
  await import('../../main/hook.ts').then(({ runHook }) => runHook(others)).catch(() => {})
  process.exit(0)
}

const { version } = JSON.parse(readFileSync(new URL('../../../package.json', import.meta.url), 'utf8')) as {
  readonly version: string
}

// The reader of our output may stop early, as `head` does. Then there is nobody to report to.
process.stdout.on('error', (problem: NodeJS.ErrnoException) => {
  if (problem.code === 'EPIPE') process.exit(0)
  if (problem.code === 'EIO') return // the terminal was closed
  throw problem
})

/** Whether the command line is one of these words and nothing else. */
const isOnly = (...words: readonly (string | undefined)[]): boolean => others.length === 0 && words.includes(word)

// A person who types nothing but the name is shown what happened; a program gets the help.
const isFirstLook = isOnly(undefined) && process.stdout.isTTY

// Scripts and people ask these two at every start, so neither loads the command tree.
if (isOnly('version', '--version', '-v')) process.stdout.write(`${version}\n`)
else if (!isFirstLook && isOnly('help', '--help', '-h', undefined)) {
  const [{ outputsOn }, { showRootHelp }] = await Promise.all([
    import('./terminal/outputs.ts'),
    import('./tree/root-help.ts'),
  ])
  showRootHelp(outputsOn(process.stdout, process.stderr, process.env).out)
} else process.exitCode = await (await import('./start.ts')).start(process.argv.slice(2), version)
