import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { DOCUMENT_TRANSITIONS } from '../src/domain/terminal/left-document.ts'
import { HANDOFF_TRANSITIONS, SESSION_TRANSITIONS, toMermaid } from '../src/entry/ports.ts'
import { LAYERS, type Layer, ROOMS } from '../test/support/import-table.ts'

/** Where the generated parts stand. */
export const DESIGN = 'docs/design.md'

const diagram = (text: string): string => `\`\`\`mermaid\n${text}\n\`\`\``

/** An import table as Markdown. Node's own modules are left out here; the test knows them. */
const tableOf = (heading: string, rows: readonly (readonly [string, Layer])[]): string => {
  const line = (name: string, { holds, mayImport }: Layer): string => {
    const others = mayImport
      .filter((other) => !other.startsWith('npm:node:'))
      .map((other) => `\`${other.replace(/^npm:/, '')}\``)
    return `| \`${name}\` | ${holds} | ${others.length === 0 ? 'nothing' : others.join(', ')} |`
  }
  return [
    `| ${heading} | holds | may import |`,
    '| --- | --- | --- |',
    ...rows.map(([name, row]) => line(name, row)),
  ].join('\n')
}

const PARTS: Readonly<Record<string, string>> = {
  layers: tableOf('layer', Object.entries(LAYERS)),
  rooms: tableOf(
    'room',
    ROOMS.map((room) => [room.name, room]),
  ),
  'session-lifecycle': diagram(toMermaid(SESSION_TRANSITIONS, 'active')),
  'handoff-lifecycle': diagram(toMermaid(HANDOFF_TRANSITIONS, 'initiated')),
  'document-lifecycle': diagram(toMermaid(DOCUMENT_TRANSITIONS, 'pending')),
}

const CLOSING = '<!-- /generated -->'

/** The text with every generated part as the code has it now. @throws Error when the place for a part is missing */
export const renderDocs = (text: string): string => filled(text, PARTS)

/** The text with these parts in their places. @throws Error when the place for a part is missing */
export const filled = (text: string, parts: Readonly<Record<string, string>>): string =>
  Object.entries(parts).reduce((rendered, [name, part]) => {
    const opening = `<!-- generated: ${name} -->`
    const place = new RegExp(`${opening}(?:(?!<!-- generated)[\\s\\S])*?${CLOSING}`)
    if (!place.test(rendered)) throw new Error(`There is no ${opening} … ${CLOSING} to write into`)
    return rendered.replace(place, () => `${opening}\n${part}\n${CLOSING}`)
  }, text)

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  writeFileSync(DESIGN, renderDocs(readFileSync(DESIGN, 'utf8')))
}
