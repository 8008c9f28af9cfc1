import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { HANDOFF_TRANSITIONS, SESSION_TRANSITIONS, toMermaid } from '../src/index.ts'

/** Where the generated parts stand. */
export const DESIGN = 'docs/design.md'

const PARTS: Readonly<Record<string, string>> = {
  'session-lifecycle': toMermaid(SESSION_TRANSITIONS, 'active'),
  'handoff-lifecycle': toMermaid(HANDOFF_TRANSITIONS, 'initiated'),
}

const CLOSING = '<!-- /generated -->'

/** The text with every generated part as the code has it now. @throws Error when the place for a part is missing */
export const renderDocs = (text: string): string =>
  Object.entries(PARTS).reduce((rendered, [name, diagram]) => {
    const opening = `<!-- generated: ${name} -->`
    const place = new RegExp(`${opening}(?:(?!<!-- generated)[\\s\\S])*?${CLOSING}`)
    if (!place.test(rendered)) throw new Error(`There is no ${opening} … ${CLOSING} to write into`)
    return rendered.replace(place, () => `${opening}\n\`\`\`mermaid\n${diagram}\n\`\`\`\n${CLOSING}`)
  }, text)

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  writeFileSync(DESIGN, renderDocs(readFileSync(DESIGN, 'utf8')))
}
