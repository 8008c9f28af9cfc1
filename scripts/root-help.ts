import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { runCli } from '../src/adapters/cli/tree/run-command.ts'

/** The file that holds the text of `baton --help`. */
export const ROOT_HELP_FILE = 'src/adapters/cli/tree/root-help-text.ts'

/** Wider than any line of help, so that nothing is wrapped. */
const WIDE = 10_000

const escaped = (line: string): string => line.replaceAll(/[\\`]|\$\{/g, '\\$&')

/** The text of `baton --help` as the command tree has it now, without line breaks inside a sentence. */
const helpText = async (): Promise<string> => {
  const lines: string[] = []
  const out = { line: (text: string) => void lines.push(text), columns: WIDE }
  await runCli(['--help'], { out, err: out, version: '', environment: {} })
  return lines.join('\n')
}

/** The source of the file, made from the command tree. */
export const renderRootHelp = async (): Promise<string> =>
  [
    '/** The text of `baton --help`, which `npm run docs` makes from the command tree. A test compares the two. */',
    `export const ROOT_HELP = \`${escaped(await helpText())}\`\n`,
  ].join('\n')

/** The source of the file as it is. */
export const rootHelpSource = (): string => readFileSync(ROOT_HELP_FILE, 'utf8')

if (process.argv[1] === fileURLToPath(import.meta.url)) writeFileSync(ROOT_HELP_FILE, await renderRootHelp())
