import { dirname } from 'node:path'
import { fileInside, fileText, mustLieIn } from './file-text.ts'
import type { FoundProblem } from './milestone-settings.ts'
import type { FileContent } from './schema.ts'

/** The keys that hold a template, each with the one that names a file of it. */
const TEMPLATES = { template: 'template_file', continuation: 'continuation_file' } as const

/** The texts of the templates that are named as files. */
export type TemplateTexts = Partial<Record<keyof typeof TEMPLATES, string>>

/** The texts of templates that are named as files, which lie in the configuration's folder or below it. */
export const templatesIn = async (
  content: FileContent,
  configurationFile: string | undefined,
): Promise<{ readonly texts: TemplateTexts; readonly problems: readonly FoundProblem[] }> => {
  const texts: TemplateTexts = {}
  const problems: FoundProblem[] = []
  for (const key of Object.keys(TEMPLATES) as (keyof typeof TEMPLATES)[]) {
    const found = await templateIn(content, key, configurationFile)
    if (typeof found === 'string') texts[key] = found
    else if (found !== undefined) problems.push(found)
  }
  return { texts, problems }
}

const templateIn = async (
  { restart }: FileContent,
  key: keyof typeof TEMPLATES,
  configurationFile: string | undefined,
): Promise<string | FoundProblem | undefined> => {
  const name = restart?.[TEMPLATES[key]]
  if (name == null) return undefined
  const wrong = (problem: string, advice: string) => ({ path: ['restart', TEMPLATES[key]], problem, advice })
  if (restart?.[key] != null)
    return wrong(`restart.${key} is there as well`, 'Keep one of the two: the text, or the file it stands in.')
  const folder = configurationFile === undefined ? '.' : dirname(configurationFile)
  const file = await fileInside(folder, name)
  if (typeof file !== 'string') return wrong(`${name}: ${file.problem}`, file.advice)
  const text = await fileText(file, 'text', mustLieIn(folder, file))
  if (typeof text !== 'string') return wrong(`${file}: ${text.problem}`, text.advice)
  return text.trim() === '' ? wrong(`${file} is empty`, 'Write the text in it, or leave the key out.') : text
}
