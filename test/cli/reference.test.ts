import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { REFERENCE, renderReference } from '../../scripts/command-line.ts'
import { EXIT } from '../../src/adapters/cli/invocation/exit-codes.ts'
import { CLI_COMMANDS } from '../../src/adapters/cli/tree/index.ts'

const page = readFileSync(REFERENCE, 'utf8')

describe('the reference of the command line', () => {
  it('is what the command tree says; otherwise run "npm run docs"', () => {
    expect(renderReference(page)).toBe(page)
  })

  it.each(Object.entries(CLI_COMMANDS))('has "baton %s" with every flag', (name, { flags }) => {
    expect(page).toMatch(new RegExp(`^### \`baton ${name}[ \`]`, 'm'))
    for (const flag of Object.keys(flags)) expect(page).toMatch(new RegExp(`\`--${flag}[ \`]`))
  })

  it('has every exit status', () => {
    for (const status of Object.values(EXIT)) expect(page).toMatch(new RegExp(`^\\| ${status} \\|`, 'm'))
  })
})
