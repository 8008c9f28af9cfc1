import { resolve } from 'node:path'
import { defined } from '../../../domain/kernel/defined.ts'
import {
  type Agent,
  CLAUDE_SCOPES,
  type ClaudeScope,
  type FoundPart,
  homeStore,
  type Installation,
  type Installed,
  install,
  lookAtClaude,
  lookAtCodex,
  type Part,
  uninstall,
  wantedBy,
} from '../../../main/installer.ts'
import { parsedAs, wordFlag } from '../choose/flag-values.ts'
import { CommandNotCompleted, UsageError } from '../invocation/command-problems.ts'
import { EXIT } from '../invocation/exit-codes.ts'
import type { Invocation, Run } from '../invocation/invocation.ts'
import type { Span, Style } from '../invocation/output.ts'
import { plain, toJson } from '../render/text.ts'
import { writeSpans } from '../terminal/style.ts'

const scopeOf = ({ values: { scope = 'user' } }: Invocation): ClaudeScope =>
  parsedAs('--scope', String(scope), wordFlag(CLAUDE_SCOPES))

const LEFT_OUT: Readonly<Record<string, Part>> = {
  'no-status-line': 'statusLine',
  'no-mcp': 'mcp',
  'no-command': 'command',
}

/** The installation that flags and variables describe. @throws UsageError when it is not known how to start this program */
const installationFor = (invocation: Invocation, agent: Agent, fallback?: string): Installation => {
  const { values, environment } = invocation
  const given = values['data-dir']
  const dataDir = typeof given === 'string' ? resolve(given) : undefined
  const command = typeof values.command === 'string' ? values.command : undefined
  const without = Object.entries(LEFT_OUT).flatMap(([flag, part]) => (values[flag] === true ? [part] : []))
  const choices = { environment, without, ...defined({ dataDir }) }
  const wanted = wantedBy({ ...choices, ...defined({ command }) })
  // To take something out or to look, nobody needs to know how it is started.
  const meant = wanted.ok || fallback === undefined ? wanted : wantedBy({ ...choices, command: fallback })
  if (!meant.ok) throw new UsageError(meant.error)
  return {
    agent,
    place: { environment, workingFolder: process.cwd() },
    wanted: meant.value,
    folder: dataDir ?? homeStore(environment),
    isDryRun: values['dry-run'] === true,
  }
}

const USUAL = 'baton'

const show = ({ values, out, notes }: Invocation, { files, remarks }: Installed, agent: Agent): void => {
  const isDryRun = values['dry-run'] === true
  if (values.json === true) {
    out.line(toJson({ ...agent, isDryRun, files, remarks }))
    return
  }
  if (isDryRun) for (const line of files.flatMap(({ diff }) => diff)) out.line(line)
  for (const line of renderInstalled(files, isDryRun)) writeSpans(isDryRun ? notes : out, line)
  for (const remark of remarks) notes.line(remark)
}

const carryOut = async (invocation: Invocation, installation: Installation, change: typeof install): Promise<void> => {
  const done = await change(installation)
  if (!done.ok) {
    const { code, message } = done.error
    throw new CommandNotCompleted(`${message}. Nothing was changed. (${code})`, EXIT.refused)
  }
  show(invocation, done.value, installation.agent)
}

const claude = (invocation: Invocation): Agent => ({ name: 'claude', scope: scopeOf(invocation) })
const CODEX: Agent = { name: 'codex' }

/** Puts our entries into the settings of Claude Code. */
export const claudeInstall: Run = (invocation) =>
  carryOut(invocation, installationFor(invocation, claude(invocation)), install)

/** Takes them out again. */
export const claudeUninstall: Run = (invocation) =>
  carryOut(invocation, installationFor(invocation, claude(invocation), USUAL), uninstall)

/** Says what is in which settings of Claude Code. */
export const claudeStatus: Run = async (invocation) => {
  const { wanted, place, folder } = installationFor(invocation, claude(invocation), USUAL)
  const scopes = lookAtClaude(place, wanted, folder)
  const isNamed = ({ part, state }: FoundPart): boolean => part === 'hooks' && state !== 'absent' && state !== 'plugin'
  const named = scopes.filter(({ parts }) => parts.some(isNamed)).map(({ scope }) => scope)
  const isTwice = named.length > 0 && scopes.some(({ hasPlugin }) => hasPlugin)
  const { values, out, notes } = invocation
  if (values.json === true) return out.line(toJson({ name: 'claude', scopes, isTwice }))
  for (const { scope, parts, hasPlugin } of scopes) {
    writeSpans(out, [{ text: scope, style: 'title' }, { text: hasPlugin ? ' (the plugin is switched on here)' : '' }])
    for (const line of renderParts(parts)) writeSpans(out, line)
  }
  const takeOut = named.map((scope) => `"baton claude uninstall --scope ${scope}"`)
  if (isTwice)
    notes.line(`The plugin and the settings both name the hooks: run ${takeOut.join(' and ')}, or remove the plugin.`)
  else if (named.length > 1)
    notes.line(`The hooks are in the scopes ${named.join(' and ')}. Keep one: ${takeOut.join(' or ')} takes them out.`)
}

/** Puts our entries into the settings of Codex. */
export const codexInstall: Run = (invocation) => carryOut(invocation, installationFor(invocation, CODEX), install)

/** Takes them out again. */
export const codexUninstall: Run = (invocation) =>
  carryOut(invocation, installationFor(invocation, CODEX, USUAL), uninstall)

/** Says what is in the settings of Codex. */
export const codexStatus: Run = async (invocation) => {
  const { wanted, place } = installationFor(invocation, CODEX, USUAL)
  const parts = lookAtCodex(place, wanted)
  const { values, out } = invocation
  if (values.json === true) return out.line(toJson({ name: 'codex', parts }))
  for (const line of renderParts(parts)) writeSpans(out, line)
}

const NAMES: Readonly<Record<Part, string>> = {
  hooks: 'hooks',
  statusLine: 'status line',
  mcp: 'MCP server',
  command: '/baton:handoff',
}

const STYLES: Readonly<Record<FoundPart['state'], Style | undefined>> = {
  absent: undefined,
  installed: 'good',
  plugin: 'good',
  incomplete: 'waiting',
  outdated: 'waiting',
  foreign: undefined,
  unreadable: 'bad',
}

const [NAME_WIDTH, STATE_WIDTH] = [16, 12]

/** A line for each file: what was done to it, or would be. */
export const renderInstalled = (files: Installed['files'], isDryRun: boolean): readonly (readonly Span[])[] =>
  files.map(({ file, change }) => [
    { text: `${isDryRun && change !== 'unchanged' ? 'would be ' : ''}${change}`.padEnd(isDryRun ? 18 : 10) },
    { text: plain(file) },
  ])

/** A line for each part of an installation. */
export const renderParts = (parts: readonly FoundPart[]): readonly (readonly Span[])[] =>
  parts.map(({ part, state, file, detail }) => [
    { text: `  ${NAMES[part].padEnd(NAME_WIDTH)}` },
    { text: state.padEnd(STATE_WIDTH), style: STYLES[state] },
    { text: plain(detail === undefined ? file : `${file}: ${detail}`) },
  ])
