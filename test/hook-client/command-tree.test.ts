import { describe, expect, it } from 'vitest'
import { CLI_COMMANDS } from '../../src/adapters/cli/tree/index.ts'
import { readArguments } from '../../src/adapters/hook-client/hook-arguments.ts'
import { TERMINAL_AGENTS } from '../../src/main/runtimes.ts'
import { TERMINAL_HOOKS } from '../../src/ports/terminal/wire.ts'

const DESCRIBED = Object.entries(CLI_COMMANDS).filter(([name]) => name.startsWith('hook '))

describe('the command tree and the hook client', () => {
  it('know the same hooks', () => {
    expect(DESCRIBED.map(([name]) => name.slice('hook '.length))).toEqual([...TERMINAL_HOOKS])
  })

  it.each(DESCRIBED)('know the same flags of "%s"', (name, { flags }) => {
    for (const [flag, { value }] of Object.entries(flags)) {
      const words = value === undefined ? [`--${flag}`] : [`--${flag}`, 'codex']
      const read = readArguments([name.slice('hook '.length), ...words], TERMINAL_AGENTS)
      expect(read).toMatchObject({ problems: [], flags: { [flag]: value === undefined ? '' : 'codex' } })
      const joined = readArguments([name.slice('hook '.length), `--${flag}=codex`], TERMINAL_AGENTS)
      expect(joined?.problems).toEqual([])
    }
  })
})
