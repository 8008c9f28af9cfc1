// Captures the screens of the guides from real runs in a terminal: npm run screens. Words after it choose some of them.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { filled } from './docs.ts'
import { canPlay, SCENES } from './screens/scenes.ts'
import { hasTerminal } from './screens/terminal.ts'

const DOCS = 'docs'

/** The name of a screen's place in a guide. */
const placeOf = (screen: string): string => `screen ${screen}`

/** Every screen that can be captured. */
export const SCREENS: readonly string[] = SCENES.flatMap(({ screens }) => screens)

/** The screens that a guide has a place for. */
export const screensIn = (text: string): readonly string[] =>
  [...text.matchAll(/<!-- generated: screen ([\w-]+) -->/g)].map(([, name = '']) => name)

const blockOf = (screen: string, rows: readonly string[]): string =>
  `\`\`\`${screen.endsWith('dry-run') ? 'diff' : 'text'}\n${rows.join('\n')}\n\`\`\``

/** Writes screens into every guide that has a place for them. */
const write = (screens: Readonly<Record<string, readonly string[]>>): void => {
  for (const name of readdirSync(DOCS).filter((file) => file.endsWith('.md'))) {
    const file = join(DOCS, name)
    const text = readFileSync(file, 'utf8')
    const here = screensIn(text).flatMap((screen) => {
      const rows = screens[screen]
      return rows === undefined ? [] : [[placeOf(screen), blockOf(screen, rows)] as const]
    })
    if (here.length > 0) writeFileSync(file, filled(text, Object.fromEntries(here)))
  }
}

const captureAll = async (chosen: readonly string[]): Promise<void> => {
  if (!hasTerminal) throw new Error('Screens are captured in tmux, which is not installed.')
  const scenes = SCENES.filter(({ screens }) => chosen.length === 0 || screens.some((name) => chosen.includes(name)))
  for (const scene of scenes) {
    const names = scene.screens.join(', ')
    if (!canPlay(scene)) {
      console.log(`left as they are: ${names} (npm ci --prefix test/agents installs the agent)`)
      continue
    }
    const screens = await scene.play()
    for (const name of scene.screens)
      if ((screens[name] ?? []).length === 0) throw new Error(`The screen ${name} is empty.`)
    write(screens)
    console.log(`captured: ${names}`)
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await captureAll(process.argv.slice(2))
