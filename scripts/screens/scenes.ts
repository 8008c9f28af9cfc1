import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { startMessagesApi } from '../../test/agents/messages-api.ts'
import { newPerson, type Person, withOwnSettings } from './person.ts'
import { COLUMNS, openTerminal, type Surroundings, shownBy } from './terminal.ts'

/** The screens of one scene, by their names in the guides. */
export type Screens = Readonly<Record<string, readonly string[]>>

/** A scene: somebody does something in a terminal, and what is shown is kept. */
export interface Scene {
  /** The names of its screens. */
  readonly screens: readonly string[]
  /** A program that must be there for it. */
  readonly needs?: string
  play(): Promise<Screens>
}

const inAgents = (path: string): string =>
  fileURLToPath(new URL(`../../test/agents/node_modules/${path}`, import.meta.url))
const CLAUDE = inAgents(`@anthropic-ai/claude-agent-sdk-${process.platform}-${process.arch}/claude`)
const CODEX = inAgents('@openai/codex/bin/codex.js')
const AGENT = fileURLToPath(new URL('../../test/cli/scripted-agent.mjs', import.meta.url))

/** The rows from the first that matches to the last that does. */
const between = (rows: readonly string[], from: RegExp, to: RegExp): readonly string[] => {
  const first = rows.findIndex((row) => from.test(row))
  const last = rows.findLastIndex((row) => to.test(row))
  return rows.slice(Math.max(0, first), last === -1 ? undefined : last + 1)
}

/** Without the empty rows by which a program fills the terminal, and the line that says how long it took and when. */
const closed = (rows: readonly string[]): readonly string[] =>
  rows.filter((row) => !row.startsWith('✻ ')).filter((row, at, all) => row !== '' || all[at - 1] !== '')

const cut = (row: string): string => (row.length <= COLUMNS ? row : `${row.slice(0, COLUMNS - 1)}…`)

const claudeInstalled: Scene = {
  screens: ['claude-install', 'claude-dry-run', 'claude-status'],
  play: async () => {
    await using person = newPerson()
    withOwnSettings(person)
    // Claude Code has been started before, so its own file is there.
    writeFileSync(join(person.home, '.claude.json'), '{\n  "numStartups": 7\n}\n')
    const dry = await shownBy('baton claude install --dry-run 2>/dev/null', person.around)
    const installed = await shownBy('baton claude install', person.around)
    const status = await shownBy('baton claude status', person.around)
    return {
      'claude-install': person.normalised(installed),
      'claude-dry-run': person.normalised(dry).slice(0, 12).map(cut),
      'claude-status': between(person.normalised(status), /^user/, /^ {2}\/baton:handoff +installed/),
    }
  },
}

const KEY = 'sk-ant-none-of-your-business-0123456789'

/** Everything that claude asks at its first start in a home, answered. */
const answerQuestions = ({ home, project }: Person): void => {
  const answered = {
    hasCompletedOnboarding: true,
    theme: 'dark',
    customApiKeyResponses: { approved: [KEY.slice(-20)], rejected: [] },
    projects: { [project]: { hasTrustDialogAccepted: true, hasCompletedProjectOnboarding: true } },
  }
  writeFileSync(join(home, '.claude.json'), JSON.stringify(answered))
}

/** `baton status` once it shows this: the service takes a moment to begin. */
const statusWith = async (wanted: RegExp, { around }: Person): Promise<readonly string[]> => {
  for (let tries = 1; ; tries += 1) {
    const rows = await shownBy('baton status', around)
    if (wanted.test(rows.join('\n'))) return rows
    if (tries === 30) throw new Error(`The status never showed ${wanted}:\n${rows.join('\n')}`)
  }
}

const claudeAtWork: Scene = {
  screens: ['claude-work', 'claude-handoff', 'status'],
  needs: CLAUDE,
  play: async () => {
    const usage = {
      input_tokens: 10,
      cache_creation_input_tokens: 1_000,
      cache_read_input_tokens: 101_000,
      output_tokens: 60,
    }
    const text = 'The checkout test compares floats. I would compare cents.'
    await using api = await startMessagesApi({ turns: [{ text, usage }] })
    await using person = newPerson()
    withOwnSettings(person)
    answerQuestions(person)
    await shownBy('baton claude install', person.around)
    const environment = {
      ...person.around.environment,
      ANTHROPIC_BASE_URL: api.url,
      ANTHROPIC_API_KEY: KEY,
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
      IS_SANDBOX: '1',
    }
    await using terminal = openTerminal(`exec '${CLAUDE}' --model claude-sonnet-4-5`, { ...person.around, environment })
    await terminal.until(/shop on main · window/)
    terminal.type('Why does the checkout test fail?', 'Enter')
    const worked = await terminal.until(/window \d+%/)
    terminal.type('/baton')
    const typed = await terminal.until(/\/baton:handoff +\w/)
    const status = await statusWith(/\d ?%/, person)
    return {
      'claude-work': closed(between(person.normalised(worked), /^❯ Why/, /window \d/)),
      'claude-handoff': between(person.normalised(typed), /\/baton:handoff /, /window \d/),
      status: person.normalised(status),
    }
  },
}

const codexInstalled: Scene = {
  screens: ['codex-install'],
  play: async () => {
    await using person = newPerson()
    return { 'codex-install': person.normalised(await shownBy('baton codex install', person.around)) }
  },
}

const codexTrust: Scene = {
  screens: ['codex-review', 'codex-hooks'],
  needs: CODEX,
  play: async () => {
    await using person = newPerson()
    await shownBy('baton codex install', person.around)
    const environment = { ...person.around.environment, NO_KEY: 'none' }
    const settings = [
      'model="gpt-5.5"',
      'model_provider="loopback"',
      'model_providers.loopback={name="loopback",base_url="http://127.0.0.1:9/v1",env_key="NO_KEY",wire_api="responses"}',
      'check_for_update_on_startup=false',
      'analytics.enabled=false',
      `projects={"${person.project}"={trust_level="trusted"}}`,
    ]
    const flags = settings.map((setting) => `-c '${setting}'`).join(' ')
    const line = `exec '${process.execPath}' '${CODEX}' ${flags}`
    await using terminal = openTerminal(line, { ...person.around, environment })
    const review = await terminal.until(/Hooks need review[\s\S]*esc skip/)
    terminal.type('Escape')
    // Codex may praise a model first.
    const next = await terminal.until(/Use existing model|^› (?!\d)/m)
    if (next.some((row) => row.includes('Use existing model'))) terminal.type('Escape')
    await terminal.until(/^› (?!\d)/m)
    terminal.type('/hooks')
    await terminal.until(/› \/hooks/)
    terminal.type('Enter')
    const hooks = await terminal.until(/Event +Installed[\s\S]*UserPromptSubmit/)
    return {
      'codex-review': between(person.normalised(review), /Hooks need review/, /esc skip/),
      'codex-hooks': between(person.normalised(hooks), /Event +Installed/, /UserPromptSubmit/),
    }
  },
}

const TYPED = 'baton run --command my-agent --agent coder --conversation issue-7 "Fix the flaky test"'

/** Somebody with an agent of their own, which does what a script says: each word is a turn with so many tokens. */
const withAgent = (person: Person, script: string): Surroundings => {
  const agent = join(person.home, 'bin', 'my-agent')
  writeFileSync(agent, `#!/bin/sh\nexec '${process.execPath}' '${AGENT}'\n`, { mode: 0o755 })
  const variables = { SCRIPT: script, SCRIPT_LATER: 'turn:14000 say:15000' }
  return { ...person.around, environment: { ...person.around.environment, ...variables } }
}

const run: Scene = {
  screens: ['run-progress', 'run-end'],
  play: async () => {
    await using first = newPerson()
    await using terminal = openTerminal(TYPED, withAgent(first, 'turn:18000 turn:60000 turn:122000 wait'))
    const progress = await terminal.until(/61 %/)
    terminal.type('C-c')
    await using second = newPerson()
    const ended = await shownBy(TYPED, withAgent(second, 'turn:18000 turn:60000 turn:181000 wait'))
    return {
      'run-progress': first
        .normalised(progress)
        .filter((row) => /\d %/.test(row))
        .slice(-1),
      'run-end': [`$ ${TYPED}`, ...second.normalised(ended)],
    }
  },
}

/** Every scene there is. */
export const SCENES: readonly Scene[] = [claudeInstalled, claudeAtWork, codexInstalled, codexTrust, run]

/** Whether all that a scene needs is installed. */
export const canPlay = ({ needs }: Scene): boolean => needs === undefined || existsSync(needs)
