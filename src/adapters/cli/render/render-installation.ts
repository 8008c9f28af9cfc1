import type { FoundPart, Installed, Part } from '../../../main/installer.ts'
import type { Span, Style } from '../terminal/style.ts'
import { plain } from './render-text.ts'

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
